import MynahCore
import MynahSupport

// Advertising as the host asks for it (Core Specification, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.60).
extension VirtualController {
    private static let slot: Int64 = 625

    // MARK: - Legacy

    mutating func setAdvertisingParameters(_ reader: inout ByteReader) -> Answer? {
        guard let minimum = reader.readUInt16(), let maximum = reader.readUInt16(),
            let type = reader.readUInt8(), type <= 4, let own = reader.readUInt8(), own <= 3,
            let peerKind = reader.readUInt8(), peerKind <= 1, let peer = reader.readAddress(kind: peerKind),
            let channels = reader.readUInt8(), (1...7).contains(channels), let policy = reader.readUInt8(),
            policy <= 3
        else { return nil }
        // For directed advertising of high duty they mean nothing.
        guard
            type == 1
                || ((0x20...0x4000).contains(minimum) && (0x20...0x4000).contains(maximum)
                    && minimum <= maximum)
        else { return nil }
        var set = sets[0] ?? AdvertisingSet()
        guard !set.isOn else { return .disallowed }
        let directed: AirAdvertisement.Properties = [.connectable, .directed, .legacy]
        set.parameters = AdvertisingSet.Parameters(
            properties: type == 0
                ? [.connectable, .scannable, .legacy]
                : type == 2 ? [.scannable, .legacy] : type == 3 ? [.legacy] : directed,
            interval: type == 1 ? 3750 : Int64(minimum) * Self.slot, isHighDuty: type == 1, ownKind: own,
            peer: peer, policy: policy)
        sets[0] = set
        return .done
    }

    mutating func setLegacyData(_ reader: inout ByteReader, isResponse: Bool) -> Answer? {
        guard let length = reader.readUInt8(), length <= 31, let bytes = reader.readBytes(Int(length))
        else { return nil }
        if isResponse {
            sets[0, default: AdvertisingSet()].response = bytes
        } else {
            sets[0, default: AdvertisingSet()].data = bytes
        }
        return .done
    }

    mutating func enableAdvertising(_ reader: inout ByteReader) -> Answer? {
        guard let on = reader.readUInt8(), on <= 1 else { return nil }
        guard on == 1 else {
            sets[0]?.stop()
            return .done
        }
        var set = sets[0] ?? AdvertisingSet()
        set.randomAddress = randomAddress
        if let refusal = start(&set, duration: 0, limit: 0) { return .now(refusal) }
        sets[0] = set
        return .done
    }

    // MARK: - Sets

    mutating func setRandomAddressOfSet(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt8(), let address = reader.readAddress(kind: 1) else { return nil }
        guard let set = sets[handle] else { return .now(.unknownAdvertisingIdentifier) }
        guard !(set.isOn && set.parameters.properties.contains(.connectable)) else { return .disallowed }
        sets[handle]?.randomAddress = address
        return .done
    }

    mutating func setExtendedParameters(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt8(), handle <= 0xEF, let bits = reader.readUInt16(),
            let minimum = reader.readUInt24(), let maximum = reader.readUInt24(), minimum >= 0x20,
            minimum <= maximum, let channels = reader.readUInt8(), (1...7).contains(channels),
            let own = reader.readUInt8(), own <= 3, let peerKind = reader.readUInt8(), peerKind <= 1,
            let peer = reader.readAddress(kind: peerKind), let policy = reader.readUInt8(), policy <= 3,
            let power = reader.readUInt8(), let primary = reader.readUInt8(), primary == 1 || primary == 3,
            reader.readUInt8() != nil, let secondary = reader.readUInt8(),
            let identifier = reader.readUInt8(),
            let tells = reader.readUInt8(), tells <= 1
        else { return nil }
        let isLegacy = bits & 0x10 != 0
        var properties = AirAdvertisement.Properties(rawValue: UInt8(bits & 0x07))
        if isLegacy {
            guard [0x13, 0x15, 0x1D, 0x12, 0x10].contains(bits), primary == 1 else { return nil }
            properties.insert(.legacy)
        } else {
            guard bits & 0x03 != 3, bits & 0x08 == 0, bits < 0x80, (1...3).contains(secondary),
                identifier <= 0x0F
            else { return nil }
        }
        var set: AdvertisingSet
        if let known = sets[handle] {
            guard !known.isOn else { return .disallowed }
            set = known
        } else {
            guard sets.count < configuration.setCount else { return .now(.memoryCapacityExceeded, [0]) }
            set = AdvertisingSet()
        }
        // What is set already must fit the new PDUs (7.8.53).
        guard !isLegacy || max(set.data.count, set.response.count) <= 31 else { return nil }
        let isHighDuty = bits & 0x08 != 0
        let selected = power == 127 ? 0 : min(max(Int8(bitPattern: power), -20), 8)
        set.parameters = AdvertisingSet.Parameters(
            properties: properties, interval: isHighDuty ? 3750 : Int64(minimum) * Self.slot,
            isHighDuty: isHighDuty, ownKind: own, peer: peer, policy: policy,
            identifier: isLegacy ? nil : identifier, secondaryPHY: isLegacy ? 0 : secondary,
            power: selected, tellsScanRequests: tells == 1)
        sets[handle] = set
        return .now(.success, [UInt8(bitPattern: selected)])
    }

    mutating func setExtendedData(_ reader: inout ByteReader, isResponse: Bool) -> Answer? {
        guard let handle = reader.readUInt8(), let operation = reader.readUInt8(), operation <= 4,
            reader.readUInt8() != nil, let length = reader.readUInt8(), length <= 251,
            let bytes = reader.readBytes(Int(length)), reader.isAtEnd
        else { return nil }
        guard var set = sets[handle] else { return .now(.unknownAdvertisingIdentifier) }
        let isWhole = operation == 3
        guard isWhole || operation == 4 || !set.isOn else { return .disallowed }
        if operation == 4 {
            guard set.isOn, length == 0, !isResponse, !set.data.isEmpty else { return nil }
            return .done
        }
        let properties = set.parameters.properties
        // Whoever is directed by a legacy PDU, or cannot be asked, has nothing to say there.
        let mayHave =
            isResponse
            ? properties.contains(.scannable)
            : properties.contains(.legacy)
                ? !properties.contains(.directed) : !properties.contains(.scannable)
        guard mayHave || bytes.isEmpty else { return nil }
        var partial = (isResponse ? set.partialResponse : set.partialData) ?? []
        switch operation {
        case 1, 3: partial = bytes
        case 0, 2:
            guard (isResponse ? set.partialResponse : set.partialData) != nil else { return .disallowed }
            partial += bytes
        default: break
        }
        guard !properties.contains(.legacy) || (isWhole && partial.count <= 31) else { return nil }
        guard partial.count <= AirPDU.longestData else {
            if isResponse { sets[handle]?.partialResponse = nil } else { sets[handle]?.partialData = nil }
            return .now(.memoryCapacityExceeded)
        }
        let isDone = operation >= 2
        if isResponse {
            set.partialResponse = isDone ? nil : partial
            if isDone { set.response = partial }
        } else {
            set.partialData = isDone ? nil : partial
            if isDone { set.data = partial }
        }
        sets[handle] = set
        return .done
    }

    mutating func enableSets(_ reader: inout ByteReader) -> Answer? {
        guard let on = reader.readUInt8(), on <= 1, let count = reader.readUInt8(),
            reader.remaining == Int(count) * 4
        else { return nil }
        guard on == 1 || count > 0 else {
            for handle in sets.keys { sets[handle]?.stop() }
            return .done
        }
        guard count > 0 else { return nil }
        var changed: [UInt8: AdvertisingSet] = [:]
        for _ in 0..<count {
            guard let handle = reader.readUInt8(), let duration = reader.readUInt16(),
                let limit = reader.readUInt8(), changed[handle] == nil
            else { return nil }
            guard var set = sets[handle] else { return .now(.unknownAdvertisingIdentifier) }
            if on == 1 {
                if let refusal = start(&set, duration: duration, limit: limit) { return .now(refusal) }
            } else {
                set.stop()
            }
            changed[handle] = set
        }
        // All or none (7.8.56).
        for (handle, set) in changed { sets[handle] = set }
        return .done
    }

    mutating func removeSet(_ reader: inout ByteReader) -> Answer? {
        guard let handle = reader.readUInt8() else { return nil }
        guard let set = sets[handle] else { return .now(.unknownAdvertisingIdentifier) }
        guard !set.isOn else { return .disallowed }
        sets[handle] = nil
        return .done
    }

    mutating func clearSets() -> Answer {
        guard !sets.values.contains(where: \.isOn) else { return .disallowed }
        sets = SortedMap()
        return .done
    }

    // MARK: - Starting

    /// Starts a set; what stands against it, otherwise.
    private mutating func start(_ set: inout AdvertisingSet, duration: UInt16, limit: UInt8) -> HCIStatus? {
        let parameters = set.parameters
        guard set.partialData == nil, set.partialResponse == nil else { return .commandDisallowed }
        if !parameters.properties.contains(.legacy), parameters.properties.contains(.scannable),
            set.response.isEmpty
        {
            return .commandDisallowed
        }
        guard
            let address = ownAddress(
                parameters.ownKind, peer: parameters.peer, randomAddress: set.randomAddress)
        else { return .invalidCommandParameters }
        if parameters.properties.contains(.connectable), links.count >= configuration.linkCount {
            return .connectionLimitExceeded
        }
        let wasOn = set.isOn
        set.isOn = true
        set.onAir = address
        set.events = 0
        set.eventLimit = limit == 0 ? nil : Int(limit)
        set.end = duration == 0 ? nil : now + Int64(duration) * 10_000
        if parameters.isHighDuty { set.end = min(set.end ?? now + 1_280_000, now + 1_280_000) }
        // A set that goes on keeps its rhythm.
        if !wasOn || set.next == nil { set.next = now + delay() }
        return nil
    }

    /// advDelay (Vol 6, Part B, 4.4.2.2.1).
    mutating func delay() -> Int64 { Int64.random(in: 0...10_000, using: &random) }
}

extension ByteReader {
    mutating func readUInt24() -> UInt32? {
        guard let low = readUInt16(), let high = readUInt8() else { return nil }
        return UInt32(low) | UInt32(high) << 16
    }
}
