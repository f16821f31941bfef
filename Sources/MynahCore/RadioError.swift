/// Why a radio cannot do what it was asked: a code to act on, a sentence, and what to do about it.
public struct RadioError: Error, Hashable, Sendable {
    /// The kind of a radio error.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// Its name.
        public let rawValue: String

        /// The code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The bus, the daemon or the controller's socket cannot be reached.
        public static let unreachable = Code(rawValue: "unreachable")
        /// There is no adapter, or not the one that was named.
        public static let noAdapter = Code(rawValue: "noAdapter")
        /// The adapter is blocked by rfkill.
        public static let blocked = Code(rawValue: "blocked")
        /// This user may not.
        public static let notPermitted = Code(rawValue: "notPermitted")
        /// The adapter is off.
        public static let poweredOff = Code(rawValue: "poweredOff")
        /// The services were refused.
        public static let servicesRefused = Code(rawValue: "servicesRefused")
        /// The advertisement was refused.
        public static let advertisementRefused = Code(rawValue: "advertisementRefused")
        /// No advertising set is free.
        public static let noAdvertisingSet = Code(rawValue: "noAdvertisingSet")
        /// A value is longer than the link or the attribute takes.
        public static let valueTooLong = Code(rawValue: "valueTooLong")
        /// The attribute is not published, or does not send.
        public static let unknownAttribute = Code(rawValue: "unknownAttribute")
        /// The radio does not do this at all.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The radio went away.
        public static let lost = Code(rawValue: "lost")
        /// The link to the other device ended.
        public static let disconnected = Code(rawValue: "disconnected")
        /// The controller has no room for a further link.
        public static let connectionLimit = Code(rawValue: "connectionLimit")
        /// It answered, but not as it should.
        public static let protocolViolation = Code(rawValue: "protocolViolation")
        /// It did not answer in time.
        public static let timedOut = Code(rawValue: "timedOut")
        /// Its own state forbids it: not started, started twice.
        public static let invalidState = Code(rawValue: "invalidState")
        /// The peer has other keys, asks for other security, or shows another number.
        public static let pairingFailed = Code(rawValue: "pairingFailed")
        /// The other side opens no channel.
        public static let channelRefused = Code(rawValue: "channelRefused")
        /// The other side wants the link encrypted, or to be paired with, first.
        public static let insufficientSecurity = Code(rawValue: "insufficientSecurity")
        /// The directory for preserved state cannot be used.
        public static let stateDirectory = Code(rawValue: "stateDirectory")
        /// The capture file cannot be opened or written.
        public static let captureFailed = Code(rawValue: "captureFailed")
    }

    /// The kind of error.
    public var code: Code
    /// A sentence that says what happened, without its full stop.
    public var message: String
    /// A sentence or a command that says what to do, or `nil` if no remedy is known.
    public var remedy: String?
    /// The controller's error code (Core Specification, Vol 1, Part F, 1.3); `nil` if none led to it.
    public var reason: UInt8?

    /// An error.
    public init(_ code: Code, _ message: String, remedy: String? = nil, reason: UInt8? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.reason = reason
    }
}

extension RadioError: CustomStringConvertible {
    /// The message, and the remedy after it.
    public var description: String { remedy.map { "\(message); \($0)" } ?? message }
}
