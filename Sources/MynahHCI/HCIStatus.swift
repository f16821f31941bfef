/// The reason that a controller refused a command, or that a link ended (Core Specification, Vol 1, Part F).
package struct HCIStatus: Error, Hashable, Sendable {
    /// The error code.
    package let code: UInt8

    /// Makes a status with this error code.
    package init(_ code: UInt8) {
        self.code = code
    }

    package static let success = HCIStatus(0x00)
    package static let unknownCommand = HCIStatus(0x01)
    package static let unknownConnectionIdentifier = HCIStatus(0x02)
    package static let authenticationFailure = HCIStatus(0x05)
    package static let pinOrKeyMissing = HCIStatus(0x06)
    package static let memoryCapacityExceeded = HCIStatus(0x07)
    package static let connectionTimeout = HCIStatus(0x08)
    package static let connectionLimitExceeded = HCIStatus(0x09)
    package static let connectionAlreadyExists = HCIStatus(0x0B)
    package static let commandDisallowed = HCIStatus(0x0C)
    /// Connection Rejected Due To Limited Resources.
    package static let limitedResources = HCIStatus(0x0D)
    package static let invalidCommandParameters = HCIStatus(0x12)
    package static let remoteUserTerminatedConnection = HCIStatus(0x13)
    package static let connectionTerminatedByLocalHost = HCIStatus(0x16)
    package static let unspecifiedError = HCIStatus(0x1F)
    /// Unsupported LMP Parameter Value Or Unsupported LL Parameter Value.
    package static let unsupportedLLParameterValue = HCIStatus(0x20)
    package static let llResponseTimeout = HCIStatus(0x22)
    /// Connection Terminated Due To MIC Failure.
    package static let micFailure = HCIStatus(0x3D)
    package static let unsupportedRemoteFeature = HCIStatus(0x1A)
    package static let unacceptableConnectionParameters = HCIStatus(0x3B)
    package static let advertisingTimeout = HCIStatus(0x3C)
    package static let connectionFailedToBeEstablished = HCIStatus(0x3E)
    package static let unknownAdvertisingIdentifier = HCIStatus(0x42)
    package static let limitReached = HCIStatus(0x43)
}
