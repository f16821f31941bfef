import MynahCore
import MynahSupport

/// The addresses of a controller, and the known addresses of other devices (Core Specification, Vol 6, Part
/// B, 1.3 and 6).
struct ControllerAddresses: Sendable {
    let publicAddress: DeviceAddress
    /// The random address that legacy advertising, scanning and initiating use, or `nil` before the host sets
    /// one.
    private(set) var randomAddress: DeviceAddress?
    var resolving: ResolvingList

    /// Begins without a random address and with an empty resolving list.
    init(_ configuration: ControllerConfiguration) {
        publicAddress = configuration.address
        resolving = ResolvingList(capacity: configuration.listLength, cipher: configuration.cipher)
    }

    /// Performs LE Set Random Address (Vol 4, Part E, 7.8.4).
    mutating func setRandomAddress(_ reader: inout ByteReader, isInUse: Bool) -> CommandAnswer? {
        guard let address = reader.readAddress(kind: 1) else { return nil }
        guard !isInUse else { return .disallowed }
        randomAddress = address
        return .success
    }

    /// Returns the address for an own address type (Vol 4, Part E, 7.8.5), or `nil` if the controller has no
    /// such address.
    ///
    /// `randomAddress` is that of the advertising set, or that of the controller. For types 2 and 3, `peer`
    /// selects the entry of the resolving list whose local IRK generates the address.
    mutating func own(
        _ type: UInt8, peer: DeviceAddress?, randomAddress: DeviceAddress?, at now: AirTime,
        _ random: inout SeededRandom
    ) -> DeviceAddress? {
        if type >= 2, let peer, let made = resolving.localAddress(for: peer, at: now, &random) { return made }
        return type & 1 == 0 ? publicAddress : randomAddress
    }
}

extension DeviceAddress {
    /// Makes an address of these 48 bits, or `nil` if there are more.
    init?(value: UInt64, kind: Kind) {
        self.init(
            littleEndian: (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }, kind: kind)
    }

    /// `true` for a resolvable private address (Core Specification, Vol 6, Part B, 1.3.2.2).
    var isResolvable: Bool { kind == .random && value >> 46 == 0b01 }
}
