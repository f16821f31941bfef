import MynahCore
import MynahSupport

/// The periodic advertising of a set (Core Specification, Vol 6, Part B, 4.4.2.12).
///
/// The train starts when both the set and its periodic advertising are enabled. It continues after the set is
/// disabled, until periodic advertising is disabled.
struct PeriodicTrain: Sendable {
    /// The advertising interval, in units of 1.25 ms, or `nil` if the host has set no parameters.
    var interval: UInt16?
    /// The periodic advertising data.
    var data = AdvertisingSet.Payload()
    /// Whether the host has enabled periodic advertising.
    private(set) var isEnabled = false
    /// The synchronization information while the train runs.
    private(set) var information: AirSyncInfo?
    /// The time of the next periodic advertising event while the train runs.
    private(set) var next: AirTime?
    /// The number of the next event, paEventCounter.
    private var counter: UInt16 = 0

    /// Enables periodic advertising; the train starts with the next advertising event of the set.
    mutating func enable() { isEnabled = true }

    /// Disables periodic advertising, which stops the train.
    mutating func disable() {
        isEnabled = false
        (information, next) = (nil, nil)
    }

    /// Starts the train if periodic advertising is enabled and the train does not run yet.
    mutating func startIfEnabled(at now: AirTime, _ random: inout SeededRandom) {
        guard isEnabled, information == nil, let interval else { return }
        let access = UInt32.random(in: 1..<UInt32.max, using: &random)
        information = AirSyncInfo(access: access, interval: interval)
        counter = 0
        next = now + Self.microseconds(interval)
    }

    /// Counts the event that is due, and returns its PDU, or `nil` if the train does not run.
    ///
    /// Events have a fixed interval; events that were missed are left out.
    mutating func event(at now: AirTime, phy: UInt8, power: Int8) -> AirPeriodic? {
        guard let information, let due = next else { return nil }
        let length = Self.microseconds(information.interval)
        let missed = max(0, (now - due) / length)
        counter &+= UInt16(truncatingIfNeeded: missed)
        defer { counter &+= 1 }
        next = due + (missed + 1) * length
        return AirPeriodic(
            access: information.access, counter: counter, phy: phy, power: power, data: data.bytes)
    }

    /// Converts an interval from units of 1.25 ms to microseconds.
    static func microseconds(_ interval: UInt16) -> Int64 { Int64(interval) * 1250 }
}

// The commands for periodic advertising (Core Specification, Vol 4, Part E, 7.8.61 to 7.8.63).
extension Advertiser {
    /// Performs LE Set Periodic Advertising Parameters.
    mutating func setPeriodicParameters(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let handle = reader.readUInt8(), handle <= 0xEF, let minimum = reader.readUInt16(),
            let maximum = reader.readUInt16(), reader.readUInt16() != nil,
            minimum >= AirSyncInfo.shortestInterval, minimum <= maximum
        else { return nil }
        guard let index = sets.index(of: handle) else { return .complete(.unknownAdvertisingIdentifier) }
        guard sets[at: index].parameters.allowsPeriodic else { return nil }
        guard !sets[at: index].periodic.isEnabled else { return .disallowed }
        sets[at: index].periodic.interval = minimum
        return .success
    }

    /// Performs LE Set Periodic Advertising Data.
    mutating func setPeriodicData(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let handle = reader.readUInt8(), let code = reader.readUInt8(),
            let operation = DataOperation(rawValue: code), let length = reader.readUInt8(), length <= 252,
            let bytes = reader.readBytes(Int(length)), reader.isAtEnd
        else { return nil }
        guard let index = sets.index(of: handle) else { return .complete(.unknownAdvertisingIdentifier) }
        let train = sets[at: index].periodic
        guard train.interval != nil else { return .disallowed }
        guard operation == .complete || operation == .unchanged || !train.isEnabled else {
            return .disallowed
        }
        if operation == .unchanged {
            return train.isEnabled && length == 0 && !train.data.bytes.isEmpty ? .success : nil
        }
        return sets[at: index].periodic.data.setData(operation, bytes, isLegacy: false)
    }

    /// Performs LE Set Periodic Advertising Enable.
    mutating func enablePeriodic(
        _ reader: inout ByteReader, at now: AirTime, _ random: inout SeededRandom
    ) -> CommandAnswer? {
        // Bit 1 asks for the AdvDataInfo field in the PDUs, which a sync of this air does not need.
        guard let on = reader.readUInt8(), on <= 3, let handle = reader.readUInt8() else { return nil }
        guard let index = sets.index(of: handle) else { return .complete(.unknownAdvertisingIdentifier) }
        guard on & 1 == 1 else {
            sets[at: index].periodic.disable()
            return .success
        }
        let train = sets[at: index].periodic
        guard train.interval != nil, train.data.fragments == nil, sets[at: index].parameters.allowsPeriodic
        else { return .disallowed }
        sets[at: index].periodic.enable()
        if sets[at: index].isOn { sets[at: index].periodic.startIfEnabled(at: now, &random) }
        return .success
    }
}

extension AdvertisingSet.Parameters {
    /// Whether the set can have periodic advertising: it is extended, and neither connectable nor scannable.
    var allowsPeriodic: Bool { properties.isDisjoint(with: [.legacy, .connectable, .scannable]) }
}
