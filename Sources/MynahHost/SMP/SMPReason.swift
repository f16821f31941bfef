/// The reason in a Pairing Failed PDU (Core Specification, Vol 3, Part H, 3.5.5).
struct SMPReason: RawRepresentable, Hashable, Sendable, Error {
    let rawValue: UInt8

    /// The user did not enter the passkey.
    static let passkeyEntryFailed = SMPReason(rawValue: 0x01)
    /// There is no out-of-band data.
    static let oobNotAvailable = SMPReason(rawValue: 0x02)
    /// The capabilities do not allow the required security.
    static let authenticationRequirements = SMPReason(rawValue: 0x03)
    /// The confirm value does not match the random value.
    static let confirmValueFailed = SMPReason(rawValue: 0x04)
    static let pairingNotSupported = SMPReason(rawValue: 0x05)
    /// The key is too short.
    static let encryptionKeySize = SMPReason(rawValue: 0x06)
    static let commandNotSupported = SMPReason(rawValue: 0x07)
    static let unspecifiedReason = SMPReason(rawValue: 0x08)
    /// Too little time has passed since the last failure.
    static let repeatedAttempts = SMPReason(rawValue: 0x09)
    /// A PDU's length or one of its values is wrong.
    static let invalidParameters = SMPReason(rawValue: 0x0A)
    static let dhKeyCheckFailed = SMPReason(rawValue: 0x0B)
    /// The user reports that the numbers differ.
    static let numericComparisonFailed = SMPReason(rawValue: 0x0C)
    static let brEDRPairingInProgress = SMPReason(rawValue: 0x0D)
    static let crossTransportNotAllowed = SMPReason(rawValue: 0x0E)
    static let keyRejected = SMPReason(rawValue: 0x0F)
    static let busy = SMPReason(rawValue: 0x10)
}

extension SMPReason: CustomStringConvertible {
    var description: String {
        switch self {
        case .passkeyEntryFailed: "Passkey Entry Failed"
        case .oobNotAvailable: "OOB Not Available"
        case .authenticationRequirements: "Authentication Requirements"
        case .confirmValueFailed: "Confirm Value Failed"
        case .pairingNotSupported: "Pairing Not Supported"
        case .encryptionKeySize: "Encryption Key Size"
        case .commandNotSupported: "Command Not Supported"
        case .unspecifiedReason: "Unspecified Reason"
        case .repeatedAttempts: "Repeated Attempts"
        case .invalidParameters: "Invalid Parameters"
        case .dhKeyCheckFailed: "DHKey Check Failed"
        case .numericComparisonFailed: "Numeric Comparison Failed"
        case .brEDRPairingInProgress: "BR/EDR Pairing In Progress"
        case .crossTransportNotAllowed: "Cross-transport Key Derivation/Generation Not Allowed"
        case .keyRejected: "Key Rejected"
        case .busy: "Busy"
        default: "reason \(rawValue)"
        }
    }
}
