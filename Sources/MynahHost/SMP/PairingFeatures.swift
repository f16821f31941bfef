package import MynahCore
import MynahSupport

extension IOCapability {
    /// The value of the IO Capability field (Core Specification, Vol 3, Part H, 3.5.1, Table 3.4).
    var code: UInt8 {
        switch self {
        case .displayOnly: 0
        case .displayYesNo: 1
        case .keyboardOnly: 2
        case .noInputNoOutput: 3
        case .keyboardDisplay: 4
        }
    }

    /// Makes the capability with a value of the field, or `nil` if the value is reserved.
    package init?(code: UInt8) {
        guard let capability = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = capability
    }
}

/// The AuthReq field, with reserved bits kept as received (Core Specification, Vol 3, Part H, 3.5.1).
struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let bonding = AuthenticationRequirements(rawValue: 0x01)
    /// Protection against man-in-the-middle attacks.
    static let mitm = AuthenticationRequirements(rawValue: 0x04)
    static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
    static let keypress = AuthenticationRequirements(rawValue: 0x10)

    /// `true` if the two bonding bits are 01; other values mean no bonding.
    var isBonding: Bool { rawValue & 0x03 == 0x01 }
}

/// The keys that one side distributes, with reserved bits kept as received (Core Specification, Vol 3, Part
/// H, 3.6.1).
struct KeyDistribution: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    /// The LTK, EDIV and Rand.
    static let encryption = KeyDistribution(rawValue: 0x01)
    /// The IRK and the identity address.
    static let identity = KeyDistribution(rawValue: 0x02)
    /// The CSRK.
    static let signing = KeyDistribution(rawValue: 0x04)
    /// The link key of BR/EDR, which is never requested here.
    static let linkKey = KeyDistribution(rawValue: 0x08)

    static let all: KeyDistribution = [.encryption, .identity, .signing]
}

/// The parameters of a Pairing Request or a Pairing Response (Core Specification, Vol 3, Part H, 3.5.1,
/// 3.5.2).
struct PairingFeatures: Hashable, Sendable {
    var ioCapability: IOCapability
    var hasOOBData = false
    var authentication: AuthenticationRequirements
    var maximumKeySize: UInt8 = 16
    var initiatorKeys: KeyDistribution
    var responderKeys: KeyDistribution

    /// The parameters in a PDU, six bytes after the code.
    var bytes: [UInt8] {
        [
            ioCapability.code, hasOOBData ? 1 : 0, authentication.rawValue, maximumKeySize,
            initiatorKeys.rawValue, responderKeys.rawValue,
        ]
    }

    /// The three bytes that the DHKey Check includes (2.2.8).
    var checked: [UInt8] { [ioCapability.code, hasOOBData ? 1 : 0, authentication.rawValue] }

    init(
        ioCapability: IOCapability, hasOOBData: Bool = false, authentication: AuthenticationRequirements,
        maximumKeySize: UInt8 = 16, initiatorKeys: KeyDistribution, responderKeys: KeyDistribution
    ) {
        self.ioCapability = ioCapability
        self.hasOOBData = hasOOBData
        self.authentication = authentication
        self.maximumKeySize = maximumKeySize
        self.initiatorKeys = initiatorKeys
        self.responderKeys = responderKeys
    }

    init(reading reader: inout ByteReader) throws(SMPReason) {
        guard let io = reader.readUInt8(), let oob = reader.readUInt8(), let auth = reader.readUInt8(),
            let size = reader.readUInt8(), let initiator = reader.readUInt8(),
            let responder = reader.readUInt8(), let capability = IOCapability(code: io), oob <= 1,
            (7...16).contains(size)
        else { throw .invalidParameters }
        self.init(
            ioCapability: capability, hasOOBData: oob == 1,
            authentication: AuthenticationRequirements(rawValue: auth), maximumKeySize: size,
            initiatorKeys: KeyDistribution(rawValue: initiator),
            responderKeys: KeyDistribution(rawValue: responder))
    }
}
