/// A read of an attribute whose value the radio does not store.
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
    /// `true` if the central waits for a response.
    ///
    /// The value is `false` for a write command, and if the radio cannot refuse the write.
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

/// A warning for the user about a problem that does not stop the radio; each is reported once.
public struct RadioWarning: Hashable, Sendable {
    /// A short name for programs, such as `intervalIgnored`.
    public var code: String
    /// A sentence about what happened, without its full stop.
    public var message: String

    package init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// An event of a radio; events are reported to the sink in the order in which they happened.
public enum RadioEvent: Sendable {
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// The radio's capabilities changed, for example because another version of the daemon started.
    case capabilitiesChanged(RadioCapabilities)
    /// The daemon or the controller disappeared and may come back.
    case lost(RadioError)
    /// The radio works again; services and advertising are restored.
    case recovered
    /// A central connected.
    case connected(Peer)
    /// A central's name, address or bond changed.
    case peerChanged(Peer)
    /// The link of a central was lost, because the supervision timeout elapsed; `disconnected` follows.
    case linkLost(Peer.ID)
    /// A central was disconnected.
    case disconnected(Peer.ID)
    /// The ATT_MTU of a link became known or changed, in bytes.
    case mtuChanged(Peer.ID, Int)
    /// The connection parameters of a link changed, or other parameters were requested.
    case parameters(Peer.ID, ConnectionParameterReport)
    /// A central paired.
    case paired(Peer.ID)
    /// Pairing requires an action of the device.
    case pairing(Peer.ID, PairingStep)
    /// A read that needs an answer.
    case read(ReadRequest)
    /// A read that the radio answered with these bytes.
    case answeredRead(ReadRequest, [UInt8])
    /// A request that the radio answered with an error.
    case refused(RefusedRequest)
    /// A write that needs an answer if `wantsResponse` is true.
    case write(WriteRequest)
    /// A central subscribed; the central and the delivery are `nil` if the radio does not report them.
    case subscribed(AttributeKey, Peer.ID?, Delivery?)
    /// A central unsubscribed; the central is `nil` if all have, or if the radio does not identify it.
    case unsubscribed(AttributeKey, Peer.ID?)
    /// An indication was confirmed; the central is `nil` if the radio does not identify it.
    case confirmed(AttributeKey, Peer.ID?)
    /// Values can be sent again after `.full`.
    case readyToSend
    /// A central opened a channel to a published PSM.
    case channelOpened(any L2CAPChannel)
    /// The radio changed its advertising without a request.
    case advertisingChanged(AdvertisingReport)
    /// The radio has a warning.
    case warning(RadioWarning)
}

/// The sink's answer to an event.
public enum RadioAnswer: Sendable {
    /// No answer, because the event needs none.
    case none
    /// The answer to a request.
    ///
    /// The answer to a read has the bytes from the request's offset on, and the answer to a write has no
    /// bytes.
    case answer(PendingReply.Outcome)
    /// The answer to a request is given later.
    case later(PendingAnswer)
    /// The answer to a step of a pairing.
    case pairing(PairingAnswer)
    /// The answer to a pairing step is given later.
    case pairingLater(PendingPairingAnswer)
}
