import MynahCore
import MynahSupport

/// The resolving list: the devices whose resolvable private addresses a controller resolves and generates
/// (Core Specification, Vol 6, Part B, 4.7 and 6).
struct ResolvingList: Sendable {
    private struct Entry: Sendable {
        var peer: DeviceAddress
        var peerKey: [UInt8]
        var localKey: [UInt8]
        /// `true` in device privacy mode, in which the peer is also accepted under its identity address.
        var allowsIdentity = false
        /// The address that the controller uses toward this peer.
        var local: MadeAddress?
        /// The peer's address in directed advertising.
        var target: MadeAddress?
        /// The last address of the peer that was resolved.
        var lastSeen: DeviceAddress?
    }

    private struct MadeAddress: Sendable {
        var address: DeviceAddress
        var made: AirTime
    }

    private static let noKey = [UInt8](repeating: 0, count: 16)
    /// The largest number of addresses whose resolution is remembered.
    private static let knownLimit = 1024

    private let capacity: Int
    private let cipher: ControllerConfiguration.Cipher?
    private var entries: [Entry] = []
    private var isOn = false
    /// The time for which a generated address is used, in microseconds.
    private var timeout: Int64 = 900_000_000
    /// The peers of addresses that were resolved before, so that each address is tried with all keys only
    /// once.
    private var known: [DeviceAddress: DeviceAddress?] = [:]

    init(capacity: Int, cipher: ControllerConfiguration.Cipher?) {
        self.capacity = capacity
        self.cipher = cipher
    }

    /// The peer in the first entry, or `nil` if the list is empty.
    ///
    /// A scanner has no single peer, so the local IRK of the first entry generates its address.
    var firstPeer: DeviceAddress? { entries.first?.peer }

    // MARK: Commands (Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77)

    /// Performs LE Add Device To Resolving List.
    ///
    /// `isBusy` is `true` if the controller advertises, scans or initiates.
    mutating func add(_ reader: inout ByteReader, isBusy: Bool) -> CommandAnswer? {
        guard let kind = reader.readUInt8(), kind <= 1, let peer = reader.readAddress(kind: kind),
            let peerKey = reader.readBytes(16), let localKey = reader.readBytes(16)
        else { return nil }
        guard !(isOn && isBusy) else { return .disallowed }
        guard !entries.contains(where: { $0.peer == peer }) else { return nil }
        guard entries.count < capacity else { return .complete(.memoryCapacityExceeded) }
        entries.append(Entry(peer: peer, peerKey: peerKey.reversed(), localKey: localKey.reversed()))
        return changed()
    }

    /// Performs LE Remove Device From Resolving List.
    mutating func remove(_ reader: inout ByteReader, isBusy: Bool) -> CommandAnswer {
        guard let index = entry(&reader) else { return .complete(.unknownConnectionIdentifier) }
        guard !(isOn && isBusy) else { return .disallowed }
        entries.remove(at: index)
        return changed()
    }

    /// Performs LE Clear Resolving List.
    mutating func clear(isBusy: Bool) -> CommandAnswer {
        guard !(isOn && isBusy) else { return .disallowed }
        entries = []
        return changed()
    }

    /// Performs LE Read Peer Resolvable Address.
    func readPeerAddress(_ reader: inout ByteReader) -> CommandAnswer {
        Self.answer(entry(&reader).flatMap { entries[$0].lastSeen })
    }

    /// Performs LE Read Local Resolvable Address.
    func readLocalAddress(_ reader: inout ByteReader) -> CommandAnswer {
        Self.answer(entry(&reader).flatMap { entries[$0].local?.address })
    }

    /// Performs LE Set Address Resolution Enable.
    mutating func enable(_ reader: inout ByteReader, isBusy: Bool) -> CommandAnswer? {
        guard let on = reader.readUInt8(), on <= 1 else { return nil }
        guard !isBusy else { return .disallowed }
        isOn = on == 1
        return changed()
    }

    /// Performs LE Set Resolvable Private Address Timeout.
    mutating func setTimeout(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let seconds = reader.readUInt16(), (1...0x0E10).contains(seconds) else { return nil }
        timeout = Int64(seconds) * 1_000_000
        return changed()
    }

    /// Performs LE Set Privacy Mode.
    mutating func setPrivacyMode(_ reader: inout ByteReader, isBusy: Bool) -> CommandAnswer? {
        guard let index = entry(&reader) else { return .complete(.unknownConnectionIdentifier) }
        guard let mode = reader.readUInt8(), mode <= 1 else { return nil }
        guard !(isOn && isBusy) else { return .disallowed }
        entries[index].allowsIdentity = mode == 1
        return changed()
    }

    private mutating func changed() -> CommandAnswer {
        known = [:]
        return .success
    }

    private func entry(_ reader: inout ByteReader) -> Int? {
        guard let kind = reader.readUInt8(), kind <= 1, let address = reader.readAddress(kind: kind)
        else { return nil }
        return entries.firstIndex { $0.peer == address }
    }

    private static func answer(_ address: DeviceAddress?) -> CommandAnswer {
        guard let address else { return .complete(.unknownConnectionIdentifier, [0, 0, 0, 0, 0, 0]) }
        return .values { $0.write(address) }
    }

    // MARK: Resolving

    /// Returns the device that uses an address on the air, as far as the list can resolve it.
    mutating func resolve(_ address: DeviceAddress) -> Identity {
        if let entry = entries.first(where: { $0.peer == address }) {
            // In network privacy mode, a peer with a key is not accepted by its identity address, also
            // without address resolution (Vol 6, Part B, 4.7).
            return Identity(address: address, isAllowed: entry.allowsIdentity || entry.peerKey == Self.noKey)
        }
        guard isOn, !entries.isEmpty, address.isResolvable else { return Identity(address: address) }
        if let peer = known[address] { return Self.identity(of: peer, onAir: address) }
        let peer = search(address)
        if known.count >= Self.knownLimit { known = [:] }
        known[address] = .some(peer)
        return Self.identity(of: peer, onAir: address)
    }

    private static func identity(of peer: DeviceAddress?, onAir address: DeviceAddress) -> Identity {
        peer.map { Identity(address: $0, onAir: address) } ?? Identity(address: address)
    }

    private mutating func search(_ address: DeviceAddress) -> DeviceAddress? {
        guard let index = entries.firstIndex(where: { matches(address, $0.peerKey) }) else { return nil }
        entries[index].lastSeen = address
        return entries[index].peer
    }

    /// Whether `target` is an address of this controller.
    ///
    /// That is `own`, the address in use, or any address that one of the local IRKs generated.
    func isLocal(_ target: DeviceAddress, own: DeviceAddress) -> Bool {
        if target == own { return true }
        guard isOn, target.isResolvable else { return false }
        return entries.contains { matches(target, $0.localKey) }
    }

    /// Whether the controller generated an address for itself and still uses it.
    func hasMade(_ address: DeviceAddress) -> Bool {
        entries.contains { $0.local?.address == address }
    }

    private func matches(_ address: DeviceAddress, _ key: [UInt8]) -> Bool {
        key != Self.noKey && hash(key, address.value >> 24) == address.value & 0xFF_FFFF
    }

    // MARK: Making addresses

    /// Returns the resolvable private address that the controller uses toward a peer, or `nil` without a
    /// local IRK.
    mutating func localAddress(
        for peer: DeviceAddress, at now: AirTime, _ random: inout SeededRandom
    ) -> DeviceAddress? {
        guard let index = entries.firstIndex(where: { $0.peer == peer }) else { return nil }
        if let last = entries[index].local, now - last.made < timeout { return last.address }
        guard let made = makeAddress(entries[index].localKey, &random) else { return nil }
        entries[index].local = MadeAddress(address: made, made: now)
        return made
    }

    /// Returns a resolvable private address of a peer, generated with its IRK, or `nil` without one.
    mutating func targetAddress(
        of peer: DeviceAddress, at now: AirTime, _ random: inout SeededRandom
    ) -> DeviceAddress? {
        guard let index = entries.firstIndex(where: { $0.peer == peer }) else { return nil }
        if let last = entries[index].target, now - last.made < timeout { return last.address }
        guard let made = makeAddress(entries[index].peerKey, &random) else { return nil }
        entries[index].target = MadeAddress(address: made, made: now)
        return made
    }

    private func makeAddress(_ key: [UInt8], _ random: inout SeededRandom) -> DeviceAddress? {
        guard key != Self.noKey else { return nil }
        // Two bits give the type; the others must be neither all 0 nor all 1 (Vol 6, Part B, 1.3.2.2).
        let prand = 0x40_0000 | UInt64.random(in: 1..<0x3F_FFFF, using: &random)
        return hash(key, prand).flatMap { DeviceAddress(value: prand << 24 | $0, kind: .random) }
    }

    /// The random address hash function ah (Vol 3, Part H, 2.2.2), which computes an address's lower half
    /// from its upper half.
    private func hash(_ key: [UInt8], _ prand: UInt64) -> UInt64? {
        var block = [UInt8](repeating: 0, count: 16)
        for offset in 0..<3 { block[15 - offset] = UInt8(truncatingIfNeeded: prand >> (8 * UInt64(offset))) }
        guard let found = cipher?(key, block), found.count == 16 else { return nil }
        return found[13...].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A device, identified by its identity address if the controller knows that.
struct Identity: Hashable, Sendable {
    /// The identity address if the resolving list knows it, or else the address on the air.
    var address: DeviceAddress
    /// The address on the air that `address` was resolved from, or `nil` if `address` itself is on the air.
    var onAir: DeviceAddress?
    /// `false` if the device uses its identity address, and network privacy mode does not allow that.
    var isAllowed = true

    /// Whether an address is one of the known addresses of the device.
    func has(_ other: DeviceAddress) -> Bool { address == other || onAir == other }

    /// The address type in events, which is 2 or 3 for a resolved address.
    var kindCode: UInt8 { address.kindCode + (onAir == nil ? 0 : 2) }
}
