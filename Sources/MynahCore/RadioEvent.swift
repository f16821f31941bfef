/// A read of an attribute whose value the radio does not have.
public struct ReadRequest: Hashable, Sendable {
    /// The central that reads.
    public var central: Peer.ID
    /// The attribute that the central reads.
    public var attribute: AttributeKey
    /// The offset in bytes at which the answer must begin.
    public var offset: Int

    /// Makes a request.
    public init(central: Peer.ID, attribute: AttributeKey, offset: Int = 0) {
        self.central = central
        self.attribute = attribute
        self.offset = offset
    }
}

/// A write: one part, or several prepared parts that are executed together.
public struct WriteRequest: Hashable, Sendable {
    /// One part of a write.
    public struct Part: Hashable, Sendable {
        /// The attribute that the part is written to.
        public var attribute: AttributeKey
        /// The offset in bytes.
        public var offset: Int
        /// The bytes to write.
        public var value: [UInt8]

        /// Makes a part of a write.
        public init(attribute: AttributeKey, offset: Int = 0, value: [UInt8]) {
            self.attribute = attribute
            self.offset = offset
            self.value = value
        }
    }

    /// The central that writes.
    public var central: Peer.ID
    /// The parts, all or none of which are executed.
    public var parts: [Part]
    /// Whether the central waits for a response; `false` for a command, or if the radio cannot refuse the
    /// write.
    public var wantsResponse: Bool

    /// Makes a request.
    public init(central: Peer.ID, parts: [Part], wantsResponse: Bool) {
        self.central = central
        self.parts = parts
        self.wantsResponse = wantsResponse
    }
}

/// The way to send a value to a subscriber.
public enum Delivery: String, Hashable, Sendable {
    /// A notification, which is not confirmed.
    case notification
    /// An indication, which the central confirms.
    case indication
    /// Notifications or indications, as each central has subscribed.
    case asSubscribed
}

/// The Bluetooth state, with the names of CBManagerState.
public enum RadioState: String, Hashable, Sendable {
    /// The radio is not started.
    case unknown
    /// The daemon or the controller disappeared and may come back.
    case resetting
    /// There is no adapter.
    case unsupported
    /// The user has no permission.
    case unauthorized
    /// The adapter is off.
    case poweredOff
    /// The radio works.
    case poweredOn
}

/// A warning for the user that does not stop the radio, and that is reported once.
public struct RadioWarning: Hashable, Sendable {
    /// A short name for programs, such as `intervalIgnored`.
    public var code: String
    /// A sentence that says what happened, without its full stop.
    public var message: String

    /// Makes a warning.
    package init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// An event that a radio reports to its sink, in the order in which events happened.
public enum RadioEvent: Sendable {
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// The radio's capabilities changed, for example because another daemon started.
    case capabilitiesChanged(RadioCapabilities)
    /// The daemon or the controller disappeared and may come back.
    case lost(RadioError)
    /// The radio is back; services and advertising are restored.
    case recovered
    /// A central connected.
    case connected(Peer)
    /// A central's name, address or bond changed.
    case peerChanged(Peer)
    /// The link of a central was lost: nothing was heard of it for the supervision timeout. `disconnected`
    /// follows.
    case linkLost(Peer.ID)
    /// A central was disconnected.
    case disconnected(Peer.ID)
    /// The ATT_MTU of a link became known or changed, in bytes.
    case mtuChanged(Peer.ID, Int)
    /// The connection parameters of a link changed, or other parameters were requested.
    case parameters(Peer.ID, ConnectionParameterReport)
    /// A central paired.
    case paired(Peer.ID)
    /// Pairing has a question for the device.
    case pairing(Peer.ID, PairingStep)
    /// A read that needs an answer.
    case read(ReadRequest)
    /// A read that the radio answered with these bytes.
    case answeredRead(ReadRequest, [UInt8])
    /// A request that the radio answered with an error.
    case refused(RefusedRequest)
    /// A write that needs an answer if `wantsResponse` is true.
    case write(WriteRequest)
    /// A central subscribed; central and delivery are `nil` if the radio does not report them.
    case subscribed(AttributeKey, Peer.ID?, Delivery?)
    /// A central unsubscribed; `nil` if all have, or if the radio does not report which one.
    case unsubscribed(AttributeKey, Peer.ID?)
    /// An indication was confirmed; the central is `nil` if the radio does not report it.
    case confirmed(AttributeKey, Peer.ID?)
    /// There is room again after `.full`.
    case readyToSend
    /// A central opened a channel to a published PSM.
    case channelOpened(any L2CAPChannel)
    /// The advertising changed without a request.
    case advertisingChanged(AdvertisingReport)
    /// The radio has a warning.
    case warning(RadioWarning)
}

/// The sink's answer to an event.
public enum RadioAnswer: Sendable {
    /// No answer, because the event needs none.
    case none
    /// The answer to a read, with the bytes from the request's offset on, or the answer to a write, without
    /// bytes.
    case answer(PendingReply.Outcome)
    /// The answer to a request is given later, once.
    case later(PendingAnswer)
    /// The answer to a step of a pairing.
    case pairing(PairingAnswer)
    /// The answer to a step of a pairing is given later, once.
    case pairingLater(PendingPairingAnswer)
}
