/// An error of a radio: a code for programs, a message, and a remedy.
public struct RadioError: Error, Hashable, Sendable {
    /// The kind of a radio error.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String

        /// Makes a code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The bus, the daemon or the controller's socket cannot be reached.
        public static let unreachable = Code(rawValue: "unreachable")
        /// There is no adapter, or no adapter with that name.
        public static let noAdapter = Code(rawValue: "noAdapter")
        /// The adapter is blocked by rfkill.
        public static let blocked = Code(rawValue: "blocked")
        /// The user has no permission to use the radio.
        public static let notPermitted = Code(rawValue: "notPermitted")
        /// The adapter is off.
        public static let poweredOff = Code(rawValue: "poweredOff")
        /// bluetoothd or the host refused the services.
        public static let servicesRefused = Code(rawValue: "servicesRefused")
        /// The service's UUID is reserved, so an app may not publish it (CBError 8).
        package static let uuidNotAllowed = Code(rawValue: "uuidNotAllowed")
        /// The radio refused the advertisement.
        public static let advertisementRefused = Code(rawValue: "advertisementRefused")
        /// All advertising sets are in use.
        public static let noAdvertisingSet = Code(rawValue: "noAdvertisingSet")
        /// The value is longer than the link or the attribute allows.
        public static let valueTooLong = Code(rawValue: "valueTooLong")
        /// The attribute is not published, or has neither of the properties `notify` and `indicate`.
        public static let unknownAttribute = Code(rawValue: "unknownAttribute")
        /// The radio does not support the request.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The radio's daemon or controller disappeared.
        public static let lost = Code(rawValue: "lost")
        /// The link to the other device ended.
        public static let disconnected = Code(rawValue: "disconnected")
        /// The controller cannot hold another link.
        public static let connectionLimit = Code(rawValue: "connectionLimit")
        /// The peer or controller violated the protocol.
        public static let protocolViolation = Code(rawValue: "protocolViolation")
        /// The peer or controller did not answer in time.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The call is not possible in the radio's state, for example before it was started.
        public static let invalidState = Code(rawValue: "invalidState")
        /// Pairing failed: the keys or numbers do not match, or the security requirements are not met.
        public static let pairingFailed = Code(rawValue: "pairingFailed")
        /// The peer refused the L2CAP channel.
        public static let channelRefused = Code(rawValue: "channelRefused")
        /// The peer requires encryption or pairing first.
        public static let insufficientSecurity = Code(rawValue: "insufficientSecurity")
        /// The directory for preserved state cannot be used.
        public static let stateDirectory = Code(rawValue: "stateDirectory")
        /// The capture file cannot be opened or written.
        public static let captureFailed = Code(rawValue: "captureFailed")
    }

    /// The kind of error.
    public var code: Code
    /// A sentence about what happened, without its full stop.
    public var message: String
    /// A sentence or command with advice, or `nil` if no remedy is known.
    public var remedy: String?
    /// The controller's error code (Core Specification, Vol 1, Part F, 1.3), or `nil` if the controller
    /// reported none.
    public var reason: UInt8?

    /// Makes an error.
    public init(_ code: Code, _ message: String, remedy: String? = nil, reason: UInt8? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.reason = reason
    }
}

extension RadioError: CustomStringConvertible {
    /// The message, followed by the remedy.
    public var description: String { remedy.map { "\(message); \($0)" } ?? message }
}
