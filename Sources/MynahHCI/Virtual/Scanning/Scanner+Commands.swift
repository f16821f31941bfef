import MynahCore
import MynahSupport

// Scanning commands (Core Specification, Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64 and 7.8.65).
extension Scanner {
    /// Performs LE Set Scan Parameters.
    mutating func setParameters(_ reader: inout ByteReader) -> CommandAnswer? {
        guard var wanted = Parameters(&reader, shortest: 4, longest: 0x4000), let own = reader.readUInt8(),
            own <= 3, let policy = reader.readUInt8(), policy <= 3
        else { return nil }
        guard !isOn else { return .disallowed }
        wanted.ownType = own
        wanted.policy = policy
        parameters = wanted
        return .success
    }

    /// Performs LE Set Extended Scan Parameters.
    mutating func setExtendedParameters(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let own = reader.readUInt8(), own <= 3, let policy = reader.readUInt8(), policy <= 3,
            let phys = reader.readUInt8(), phys & 0b101 != 0, phys & 0b101 == phys,
            reader.remaining == 5 * phys.nonzeroBitCount
        else { return nil }
        guard !isOn else { return .disallowed }
        var found: Parameters?
        for _ in 0..<phys.nonzeroBitCount {
            guard let wanted = Parameters(&reader, shortest: 4, longest: .max) else { return nil }
            // The air has one channel for both PHYs: the parameters of the first one apply.
            found = found ?? wanted
        }
        guard var found else { return nil }
        found.ownType = own
        found.policy = policy
        parameters = found
        return .success
    }

    /// Performs LE Set Scan Enable.
    mutating func enable(
        _ reader: inout ByteReader, at now: AirTime, _ addresses: inout ControllerAddresses,
        _ random: inout SeededRandom
    ) -> CommandAnswer? {
        guard let on = reader.readUInt8(), on <= 1, let filter = reader.readUInt8(), on == 0 || filter <= 1
        else { return nil }
        return change(on == 1, filter: filter, duration: 0, period: 0, at: now, &addresses, &random)
    }

    /// Performs LE Set Extended Scan Enable.
    mutating func enableExtended(
        _ reader: inout ByteReader, at now: AirTime, _ addresses: inout ControllerAddresses,
        _ random: inout SeededRandom
    ) -> CommandAnswer? {
        guard let on = reader.readUInt8(), on <= 1, let filter = reader.readUInt8(),
            let duration = reader.readUInt16(), let period = reader.readUInt16(), on == 0 || filter <= 2
        else { return nil }
        // In units of 10 ms and of 1.28 s.
        let (lasts, repeats) = (Int64(duration) * 10_000, Int64(period) * 1_280_000)
        guard on == 0 || duration == 0 || period == 0 || lasts < repeats else { return nil }
        guard on == 0 || filter != 2 || period != 0 else { return nil }
        return change(on == 1, filter: filter, duration: lasts, period: repeats, at: now, &addresses, &random)
    }

    /// Enables the scanner, or disables it; `duration` and `period` are in microseconds, or 0 for none.
    private mutating func change(
        _ isOn: Bool, filter: UInt8, duration: Int64, period: Int64, at now: AirTime,
        _ addresses: inout ControllerAddresses, _ random: inout SeededRandom
    ) -> CommandAnswer? {
        guard isOn else {
            stop()
            return .success
        }
        let own = addresses.own(
            parameters.ownType, peer: addresses.resolving.firstPeer, randomAddress: addresses.randomAddress,
            at: now, &random)
        guard let own else { return nil }
        begin(
            Scan(
                begun: scan?.begun ?? now, onAir: own, filtersDuplicates: filter != 0,
                end: duration == 0 ? nil : now + (period == 0 ? duration : period),
                period: duration == 0 || period == 0 ? nil : (duration, period)))
        return .success
    }
}

extension Scanner.Parameters {
    /// Reads the type, interval and window of a scan from a command.
    fileprivate init?(_ reader: inout ByteReader, shortest: UInt16, longest: UInt16) {
        guard let type = reader.readUInt8(), type <= 1, let interval = reader.readUInt16(),
            let window = reader.readUInt16(), (shortest...longest).contains(interval),
            (shortest...interval).contains(window)
        else { return nil }
        isActive = type == 1
        self.interval = Int64(interval) * 625
        self.window = Int64(window) * 625
    }
}
