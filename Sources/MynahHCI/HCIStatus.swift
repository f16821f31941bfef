/// Why a controller refused, or why a link ended (Core Specification, Vol 1, Part F).
public struct HCIStatus: Error, Hashable, Sendable {
    /// The number.
    public let code: UInt8

    /// The status with this number.
    public init(_ code: UInt8) {
        self.code = code
    }

    /// Success.
    public static let success = HCIStatus(0x00)
    /// Unknown Command.
    public static let unknownCommand = HCIStatus(0x01)
    /// Unknown Connection Identifier.
    public static let unknownConnectionIdentifier = HCIStatus(0x02)
    /// Authentication Failure.
    public static let authenticationFailure = HCIStatus(0x05)
    /// Pin Or Key Missing.
    public static let pinOrKeyMissing = HCIStatus(0x06)
    /// Memory Capacity Exceeded.
    public static let memoryCapacityExceeded = HCIStatus(0x07)
    /// Connection Timeout.
    public static let connectionTimeout = HCIStatus(0x08)
    /// Connection Limit Exceeded.
    public static let connectionLimitExceeded = HCIStatus(0x09)
    /// Connection Already Exists.
    public static let connectionAlreadyExists = HCIStatus(0x0B)
    /// Command Disallowed.
    public static let commandDisallowed = HCIStatus(0x0C)
    /// Connection Rejected Due To Limited Resources.
    public static let limitedResources = HCIStatus(0x0D)
    /// Unsupported Feature Or Parameter Value.
    public static let unsupportedFeatureOrParameterValue = HCIStatus(0x11)
    /// Invalid Command Parameters.
    public static let invalidCommandParameters = HCIStatus(0x12)
    /// Remote User Terminated Connection.
    public static let remoteUserTerminatedConnection = HCIStatus(0x13)
    /// Connection Terminated By Local Host.
    public static let connectionTerminatedByLocalHost = HCIStatus(0x16)
    /// Unspecified Error.
    public static let unspecifiedError = HCIStatus(0x1F)
    /// Unsupported LMP Parameter Value Or Unsupported LL Parameter Value.
    public static let unsupportedLLParameterValue = HCIStatus(0x20)
    /// LL Response Timeout.
    public static let llResponseTimeout = HCIStatus(0x22)
    /// Connection Terminated Due To MIC Failure.
    public static let micFailure = HCIStatus(0x3D)
    /// Unsupported Remote Feature.
    public static let unsupportedRemoteFeature = HCIStatus(0x1A)
    /// Unacceptable Connection Parameters.
    public static let unacceptableConnectionParameters = HCIStatus(0x3B)
    /// Advertising Timeout.
    public static let advertisingTimeout = HCIStatus(0x3C)
    /// Connection Failed To Be Established.
    public static let connectionFailedToBeEstablished = HCIStatus(0x3E)
    /// Unknown Advertising Identifier.
    public static let unknownAdvertisingIdentifier = HCIStatus(0x42)
    /// Limit Reached.
    public static let limitReached = HCIStatus(0x43)
}
