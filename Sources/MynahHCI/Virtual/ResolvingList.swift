import MynahCore

/// Whose resolvable addresses a controller knows, and makes (Core Specification, Vol 6, Part B, 4.7).
struct ResolvingList: Sendable {
    struct Entry: Sendable {
        var peer: DeviceAddress
        var peerKey: [UInt8]
        var localKey: [UInt8]
        /// Device privacy: its identity address is heard too.
        var allowsIdentity = false
        var local: DeviceAddress?
        var localMade = AirTime.zero
        var lastSeen: DeviceAddress?
        /// How the peer is called when it is sought.
        var peerMade: DeviceAddress?
        var peerMadeAt = AirTime.zero
    }

    var entries: [Entry] = []
    var isOn = false
    /// In microseconds.
    var timeout: Int64 = 900_000_000
    /// What was worked out already, so that each address costs its ciphers once.
    var known: [DeviceAddress: DeviceAddress?] = [:]

    static let noKey = [UInt8](repeating: 0, count: 16)
    static let knownLimit = 1024
}

/// A device by the best of its names.
struct Identity: Hashable, Sendable {
    /// The identity address where it is known, and the address on the air otherwise.
    var address: DeviceAddress
    /// The address on the air, where another stands above.
    var onAir: DeviceAddress?
    /// Whether privacy lets it in at all.
    var isAllowed = true

    /// Its kind in events: 2 and 3 for one that was resolved.
    var kindCode: UInt8 { address.kindCode + (onAir == nil ? 0 : 2) }
}
