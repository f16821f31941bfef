import MynahCore
import MynahSupport

// Advertising commands (Core Specification, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.60).
extension Advertiser {
    // MARK: Legacy

    /// Performs LE Set Advertising Parameters.
    mutating func setParameters(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let parameters = AdvertisingSet.Parameters(legacy: &reader) else { return nil }
        var set = sets[0] ?? AdvertisingSet()
        guard !set.isOn else { return .disallowed }
        set.parameters = parameters
        sets[0] = set
        return .success
    }

    /// Performs LE Set Advertising Data, or LE Set Scan Response Data.
    mutating func setData(_ reader: inout ByteReader, isResponse: Bool) -> CommandAnswer? {
        guard let length = reader.readUInt8(), length <= Self.longestLegacyData,
            let bytes = reader.readBytes(Int(length))
        else { return nil }
        if isResponse {
            sets[0, default: AdvertisingSet()].response.bytes = bytes
        } else {
            sets[0, default: AdvertisingSet()].data.bytes = bytes
        }
        return .success
    }

    /// Performs LE Set Advertising Enable.
    mutating func enable(
        _ reader: inout ByteReader, hasRoom: Bool, at now: AirTime, _ addresses: inout ControllerAddresses,
        _ random: inout SeededRandom
    ) -> CommandAnswer? {
        guard let on = reader.readUInt8(), on <= 1 else { return nil }
        guard on == 1 else {
            sets[0]?.stop()
            return .success
        }
        var set = sets[0] ?? AdvertisingSet()
        set.randomAddress = addresses.randomAddress
        let refusal = set.start(duration: 0, limit: 0, hasRoom: hasRoom, at: now, &addresses, &random)
        if let refusal { return .complete(refusal) }
        sets[0] = set
        return .success
    }

    // MARK: Sets

    /// Performs LE Set Advertising Set Random Address.
    mutating func setRandomAddress(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let handle = reader.readUInt8(), let address = reader.readAddress(kind: 1) else { return nil }
        guard let index = sets.index(of: handle) else { return .complete(.unknownAdvertisingIdentifier) }
        guard !(sets[at: index].isOn && sets[at: index].parameters.properties.contains(.connectable))
        else { return .disallowed }
        sets[at: index].randomAddress = address
        return .success
    }

    /// Performs LE Set Extended Advertising Parameters.
    mutating func setExtendedParameters(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let handle = reader.readUInt8(), handle <= 0xEF,
            let parameters = AdvertisingSet.Parameters(extended: &reader)
        else { return nil }
        if let known = sets[handle] {
            guard !known.isOn else { return .disallowed }
            // Data that the set has must fit its new PDUs (7.8.53).
            guard
                !parameters.properties.contains(.legacy)
                    || max(known.data.bytes.count, known.response.bytes.count) <= Self.longestLegacyData
            else { return nil }
            // Periodic advertising needs a set that is neither connectable nor scannable (7.8.53).
            guard !known.periodic.isEnabled || parameters.allowsPeriodic else { return nil }
            var changed = known
            changed.parameters = parameters
            guard known.data.bytes.isEmpty || changed.hasData else { return nil }
        } else if sets.count >= capacity {
            return .complete(.memoryCapacityExceeded, [0])
        }
        sets[handle, default: AdvertisingSet()].parameters = parameters
        return .complete(.success, [UInt8(bitPattern: parameters.power)])
    }

    /// Performs LE Set Extended Advertising Data, or LE Set Extended Scan Response Data.
    mutating func setExtendedData(_ reader: inout ByteReader, isResponse: Bool) -> CommandAnswer? {
        guard let handle = reader.readUInt8(), let code = reader.readUInt8(),
            let operation = DataOperation(rawValue: code), reader.readUInt8() != nil,
            let length = reader.readUInt8(), length <= 251, let bytes = reader.readBytes(Int(length)),
            reader.isAtEnd
        else { return nil }
        guard let index = sets.index(of: handle) else { return .complete(.unknownAdvertisingIdentifier) }
        let set = sets[at: index]
        guard operation == .complete || operation == .unchanged || !set.isOn else { return .disallowed }
        if operation == .unchanged {
            guard set.isOn, length == 0, !isResponse, !set.data.bytes.isEmpty else { return nil }
            return .success
        }
        // A set that is not scannable can only discard its scan response (7.8.55); one without advertising
        // data takes none, not even an empty one (7.8.54).
        guard isResponse ? set.parameters.properties.contains(.scannable) || bytes.isEmpty : set.hasData
        else { return nil }
        let isLegacy = set.parameters.properties.contains(.legacy)
        if isResponse {
            return sets[at: index].response.setData(operation, bytes, isLegacy: isLegacy)
        }
        return sets[at: index].data.setData(operation, bytes, isLegacy: isLegacy)
    }

    /// Performs LE Set Extended Advertising Enable, for all sets in the command or for none (7.8.56).
    mutating func enableSets(
        _ reader: inout ByteReader, hasRoom: Bool, at now: AirTime, _ addresses: inout ControllerAddresses,
        _ random: inout SeededRandom
    ) -> CommandAnswer? {
        guard let on = reader.readUInt8(), on <= 1, let count = reader.readUInt8(),
            reader.remaining == Int(count) * 4
        else { return nil }
        guard on == 1 || count > 0 else {
            for index in sets.indices { sets[at: index].stop() }
            return .success
        }
        guard count > 0 else { return nil }
        var changed = SortedMap<UInt8, AdvertisingSet>()
        for _ in 0..<count {
            guard let handle = reader.readUInt8(), let duration = reader.readUInt16(),
                let limit = reader.readUInt8(), changed[handle] == nil
            else { return nil }
            guard var set = sets[handle] else { return .complete(.unknownAdvertisingIdentifier) }
            if on == 1 {
                let refusal = set.start(
                    duration: duration, limit: limit, hasRoom: hasRoom, at: now, &addresses, &random)
                if let refusal { return .complete(refusal) }
            } else {
                set.stop()
            }
            changed[handle] = set
        }
        for index in changed.indices { sets[changed.keys[index]] = changed[at: index] }
        return .success
    }

    /// Performs LE Remove Advertising Set.
    mutating func remove(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let handle = reader.readUInt8() else { return nil }
        guard let set = sets[handle] else { return .complete(.unknownAdvertisingIdentifier) }
        guard !set.isOn, !set.periodic.isEnabled else { return .disallowed }
        sets[handle] = nil
        return .success
    }

    /// Performs LE Clear Advertising Sets.
    mutating func clear() -> CommandAnswer {
        guard !isOn, !sets.indices.contains(where: { sets[at: $0].periodic.isEnabled }) else {
            return .disallowed
        }
        sets = SortedMap()
        return .success
    }
}

/// The Operation of an extended data command (7.8.54).
enum DataOperation: UInt8 {
    case intermediate, first, last, complete, unchanged
}

extension AdvertisingSet.Payload {
    mutating func setData(
        _ operation: DataOperation, _ bytes: [UInt8], isLegacy: Bool
    ) -> CommandAnswer? {
        let whole: [UInt8]
        switch operation {
        case .first, .complete: whole = bytes
        case .intermediate, .last:
            guard let fragments else { return .disallowed }
            whole = fragments + bytes
        case .unchanged: return .success
        }
        guard !isLegacy || (operation == .complete && whole.count <= Advertiser.longestLegacyData) else {
            return nil
        }
        guard whole.count <= AirPDU.longestData else {
            fragments = nil
            return .complete(.memoryCapacityExceeded)
        }
        if operation == .last || operation == .complete {
            fragments = nil
            self.bytes = whole
        } else {
            fragments = whole
        }
        return .success
    }
}
