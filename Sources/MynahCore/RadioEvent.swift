/// A read of one attribute that the radio does not answer by itself.
public struct ReadRequest: Hashable, Sendable {
    /// The central that reads.
    public var central: Peer.ID
    /// The attribute that it reads.
    public var attribute: AttributeKey
    /// From where on, in bytes; the answer starts there.
    public var offset: Int

    /// A request.
    public init(central: Peer.ID, attribute: AttributeKey, offset: Int = 0) {
        self.central = central
        self.attribute = attribute
        self.offset = offset
    }
}

/// A write, of one attribute or of several that were prepared and are carried out together.
public struct WriteRequest: Hashable, Sendable {
    /// One piece.
    public struct Part: Hashable, Sendable {
        /// The attribute that it writes.
        public var attribute: AttributeKey
        /// From where on, in bytes.
        public var offset: Int
        /// The bytes.
        public var value: [UInt8]

        /// A piece of a write.
        public init(attribute: AttributeKey, offset: Int = 0, value: [UInt8]) {
            self.attribute = attribute
            self.offset = offset
            self.value = value
        }
    }

    /// The central that writes.
    public var central: Peer.ID
    /// All or none of them are carried out.
    public var parts: [Part]
    /// Whether an answer reaches the central; `false` for a command, or if the radio cannot refuse.
    public var wantsResponse: Bool

    /// A request.
    public init(central: Peer.ID, parts: [Part], wantsResponse: Bool) {
        self.central = central
        self.parts = parts
        self.wantsResponse = wantsResponse
    }
}

/// How a value reaches a subscriber.
public enum Delivery: String, Hashable, Sendable {
    /// Without confirmation.
    case notification
    /// With a confirmation by the central.
    case indication
    /// As each central subscribed.
    case asSubscribed
}

/// The Bluetooth state, in Apple's words (CBManagerState).
public enum RadioState: String, Hashable, Sendable {
    /// Not started.
    case unknown
    /// The daemon or the controller disappeared and may come back.
    case resetting
    /// There is no adapter.
    case unsupported
    /// This user may not.
    case unauthorized
    /// The adapter is off.
    case poweredOff
    /// It works.
    case poweredOn
}

/// Something that does not stop the radio but that the user should know; reported once.
public struct RadioWarning: Hashable, Sendable {
    /// A short name for programs, such as `intervalIgnored`.
    public var code: String
    /// A sentence that says what happened, without its full stop.
    public var message: String

    /// A warning.
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
    /// The radio is gone, and will be back by itself if it can.
    case lost(RadioError)
    /// It is back; what was published and advertised is again.
    case recovered
    /// A central connected.
    case connected(Peer)
    /// A central's name, address or bond changed.
    case peerChanged(Peer)
    /// A central is gone.
    case disconnected(Peer.ID)
    /// The ATT_MTU of a link became known or changed, in bytes.
    case mtuChanged(Peer.ID, Int)
    /// A central paired.
    case paired(Peer.ID)
    /// Pairing wants something of the device.
    case pairing(Peer.ID, PairingStep)
    /// A read that wants an answer.
    case read(ReadRequest)
    /// A read that the radio answered by itself with these bytes.
    case answeredRead(ReadRequest, [UInt8])
    /// A request that the radio answered with an error by itself.
    case refused(RefusedRequest)
    /// A write, to be answered if it wants a response.
    case write(WriteRequest)
    /// A central subscribed; central and delivery are `nil` if the radio does not report them.
    case subscribed(AttributeKey, Peer.ID?, Delivery?)
    /// A central unsubscribed; `nil` if all have, or the radio does not report which.
    case unsubscribed(AttributeKey, Peer.ID?)
    /// An indication was confirmed; the central is `nil` if the radio does not report it.
    case confirmed(AttributeKey, Peer.ID?)
    /// After `.full`: there is room again.
    case readyToSend
    /// A central opened a channel to a number that is published.
    case channelOpened(any L2CAPChannel)
    /// The advertising changed without a request.
    case advertisingChanged(AdvertisingReport)
    /// A warning.
    case warning(RadioWarning)
}

/// The sink's answer to an event.
public enum RadioAnswer: Sendable {
    /// Nothing: the event wanted no answer.
    case none
    /// The answer to a read: bytes from the request's offset on. To a write: no bytes.
    case answer(PendingReply.Outcome)
    /// It comes later, once.
    case later(PendingAnswer)
    /// The answer to a step of a pairing.
    case pairing(PairingAnswer)
    /// The answer to a step of a pairing comes later, once.
    case pairingLater(PendingPairingAnswer)
}
