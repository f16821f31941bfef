/// The reason for refusing a credit-based channel (Core Specification, Vol 3, Part A, 4.23).
struct ChannelRefusal: RawRepresentable, Hashable, Sendable {
    var rawValue: UInt16

    static let unknownNumber = ChannelRefusal(rawValue: 0x0002)
    static let noResources = ChannelRefusal(rawValue: 0x0004)
    static let insufficientAuthentication = ChannelRefusal(rawValue: 0x0005)
    static let insufficientAuthorization = ChannelRefusal(rawValue: 0x0006)
    static let insufficientKeySize = ChannelRefusal(rawValue: 0x0007)
    static let insufficientEncryption = ChannelRefusal(rawValue: 0x0008)
    static let invalidSource = ChannelRefusal(rawValue: 0x0009)
    static let sourceInUse = ChannelRefusal(rawValue: 0x000A)
    static let unacceptableParameters = ChannelRefusal(rawValue: 0x000B)

    /// Whether the channel may be accepted after pairing or encryption.
    var wantsSecurity: Bool { self == .insufficientAuthentication || self == .insufficientEncryption }

    /// The reason in words, as in "the peer refused the channel: it requires pairing".
    var reason: String {
        switch self {
        case .unknownNumber: "the PSM is not published"
        case .noResources: "it has no resources"
        case .insufficientAuthentication: "it requires pairing"
        case .insufficientAuthorization: "it is not authorized"
        case .insufficientKeySize: "the key is too short"
        case .insufficientEncryption: "it requires encryption"
        default: "result \(rawValue)"
        }
    }
}

extension L2CAPSignal {
    /// The response that refuses a channel.
    static func refusal(_ reason: ChannelRefusal) -> L2CAPSignal {
        .creditConnectionResponse(destination: 0, mtu: 0, mps: 0, credits: 0, result: reason.rawValue)
    }
}
