import MynahCore
import MynahSupport

// The resolving list (Core Specification, Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77).
extension VirtualController {
    mutating func performOfResolving(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Answer? {
        switch opcode {
        case .leAddDeviceToResolvingList: return addToResolving(&reader)
        case .leRemoveDeviceFromResolvingList:
            guard let index = entry(&reader) else { return .now(.unknownConnectionIdentifier) }
            guard !resolvingIsInUse else { return .disallowed }
            resolving.entries.remove(at: index)
        case .leClearResolvingList:
            guard !resolvingIsInUse else { return .disallowed }
            resolving.entries = []
        case .leReadPeerResolvableAddress, .leReadLocalResolvableAddress:
            guard let index = entry(&reader) else {
                return .now(.unknownConnectionIdentifier, [0, 0, 0, 0, 0, 0])
            }
            let found =
                opcode == .leReadPeerResolvableAddress
                ? resolving.entries[index].lastSeen : resolving.entries[index].local
            var writer = ByteWriter()
            if let found { writer.write(found) }
            return found == nil
                ? .now(.unknownConnectionIdentifier, [0, 0, 0, 0, 0, 0]) : .now(.success, writer.bytes)
        case .leSetAddressResolutionEnable:
            guard let on = reader.readUInt8(), on <= 1 else { return nil }
            guard !isBusy else { return .disallowed }
            resolving.isOn = on == 1
        case .leSetResolvablePrivateAddressTimeout:
            guard let seconds = reader.readUInt16(), (1...0x0E10).contains(seconds) else { return nil }
            resolving.timeout = Int64(seconds) * 1_000_000
        case .leSetPrivacyMode:
            guard let index = entry(&reader) else { return .now(.unknownConnectionIdentifier) }
            guard let mode = reader.readUInt8(), mode <= 1 else { return nil }
            guard !resolvingIsInUse else { return .disallowed }
            resolving.entries[index].allowsIdentity = mode == 1
        default: return nil
        }
        resolving.known = [:]
        return .done
    }

    private var isBusy: Bool { isListening || sets.values.contains(where: \.isOn) }
    private var resolvingIsInUse: Bool { resolving.isOn && isBusy }

    private func entry(_ reader: inout ByteReader) -> Int? {
        guard let kind = reader.readUInt8(), kind <= 1, let address = reader.readAddress(kind: kind)
        else { return nil }
        return resolving.entries.firstIndex { $0.peer == address }
    }

    private mutating func addToResolving(_ reader: inout ByteReader) -> Answer? {
        guard let kind = reader.readUInt8(), kind <= 1, let peer = reader.readAddress(kind: kind),
            let peerKey = reader.readBytes(16), let localKey = reader.readBytes(16)
        else { return nil }
        guard !resolvingIsInUse else { return .disallowed }
        guard !resolving.entries.contains(where: { $0.peer == peer }) else { return nil }
        guard resolving.entries.count < configuration.listLength else { return .now(.memoryCapacityExceeded) }
        resolving.entries.append(
            ResolvingList.Entry(peer: peer, peerKey: peerKey.reversed(), localKey: localKey.reversed()))
        resolving.known = [:]
        return .done
    }

    // MARK: - Addresses

    /// The random address hash function ah (Vol 3, Part H, 2.2.2): the upper half made from the lower.
    private func hash(_ key: [UInt8], _ prand: UInt64) -> UInt64? {
        var block = [UInt8](repeating: 0, count: 16)
        for offset in 0..<3 { block[15 - offset] = UInt8(truncatingIfNeeded: prand >> (8 * UInt64(offset))) }
        guard let found = configuration.cipher?(key, block), found.count == 16 else { return nil }
        return found[13...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func makeAddress(_ key: [UInt8]) -> DeviceAddress? {
        // Two bits say what it is; the others must be neither all 0 nor all 1 (Vol 6, Part B, 1.3.2.2).
        let prand = 0x40_0000 | UInt64.random(in: 1..<0x3F_FFFF, using: &random)
        return hash(key, prand).flatMap { DeviceAddress(value: prand << 24 | $0, kind: .random) }
    }

    /// Who that is, as far as the resolving list knows.
    mutating func resolve(_ address: DeviceAddress) -> Identity {
        guard resolving.isOn, !resolving.entries.isEmpty else { return Identity(address: address) }
        if let entry = resolving.entries.first(where: { $0.peer == address }) {
            // In network privacy, who has a key is not heard without using it (Vol 6, Part B, 4.7).
            return Identity(
                address: address, isAllowed: entry.allowsIdentity || entry.peerKey == ResolvingList.noKey)
        }
        guard address.kind == .random, address.value >> 46 == 0b01 else { return Identity(address: address) }
        if let known = resolving.known[address] {
            return known.map { Identity(address: $0, onAir: address) } ?? Identity(address: address)
        }
        var found: DeviceAddress?
        for index in resolving.entries.indices {
            let key = resolving.entries[index].peerKey
            guard key != ResolvingList.noKey, hash(key, address.value >> 24) == address.value & 0xFF_FFFF
            else { continue }
            resolving.entries[index].lastSeen = address
            found = resolving.entries[index].peer
            break
        }
        if resolving.known.count >= ResolvingList.knownLimit { resolving.known = [:] }
        resolving.known[address] = .some(found)
        return found.map { Identity(address: $0, onAir: address) } ?? Identity(address: address)
    }

    /// What this controller calls itself; nil: it has no such address.
    mutating func ownAddress(
        _ kind: UInt8, peer: DeviceAddress?, randomAddress: DeviceAddress?
    ) -> DeviceAddress? {
        if kind >= 2, resolving.isOn || configuration.cipher != nil, let peer,
            let index = resolving.entries.firstIndex(where: { $0.peer == peer }),
            resolving.entries[index].localKey != ResolvingList.noKey
        {
            let entry = resolving.entries[index]
            if let local = entry.local, now - entry.localMade < resolving.timeout { return local }
            if let made = makeAddress(entry.localKey) {
                resolving.entries[index].local = made
                resolving.entries[index].localMade = now
                return made
            }
        }
        return kind & 1 == 0 ? configuration.address : randomAddress
    }

    /// An address that a device of the list knows for its own.
    mutating func peerAddress(of peer: DeviceAddress) -> DeviceAddress? {
        guard let index = resolving.entries.firstIndex(where: { $0.peer == peer }),
            resolving.entries[index].peerKey != ResolvingList.noKey
        else { return nil }
        let entry = resolving.entries[index]
        if let made = entry.peerMade, now - entry.peerMadeAt < resolving.timeout { return made }
        guard let made = makeAddress(entry.peerKey) else { return nil }
        resolving.entries[index].peerMade = made
        resolving.entries[index].peerMadeAt = now
        return made
    }

    /// Whether an address is this device, by a name that another made for it.
    func isOwn(_ target: DeviceAddress, _ own: DeviceAddress) -> Bool {
        if target == own { return true }
        guard resolving.isOn, target.kind == .random, target.value >> 46 == 0b01 else { return false }
        return resolving.entries.contains { entry in
            entry.localKey != ResolvingList.noKey
                && hash(entry.localKey, target.value >> 24) == target.value & 0xFF_FFFF
        }
    }
}

extension DeviceAddress {
    init?(value: UInt64, kind: Kind) {
        self.init(
            littleEndian: (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }, kind: kind)
    }
}
