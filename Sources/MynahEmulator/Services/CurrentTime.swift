import MynahCore

/// Current Time Service 1.1: a write sets the clock, and subscribers are notified of the change.
struct CurrentTime: ServiceBehavior {
    static let time: BluetoothUUID = "2A2B"
    /// The length of the value: Date Time, day of the week, fractions of a second, and Adjust Reason.
    static let octets = 10

    let handled = [time]
    let changed = [time]

    func begin(_ service: some ServiceState) -> [ServiceEffect] {
        [.change(.clock(nil), of: Self.time)]
    }

    /// Sets the clock; an invalid or unknown date gets the error 0x80 (Data field ignored).
    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard value.count == Self.octets else { throw .invalidAttributeValueLength }
        guard let date = OctetDate(value.prefix(OctetDate.octets)), value[7] <= 7 else {
            throw ATTError(code: 0x80)
        }
        let tick = service.tick(of: Self.time)
        let clock = SetClock(
            date: date, fractions: value[8],
            // Bit 0 is a manual time update.
            reason: value[9] == 0 ? 1 : value[9], since: tick, interval: service.interval(of: Self.time))
        return [
            .change(.clock(clock), of: Self.time),
            .send(SetClock.value(value, clock, at: tick), of: Self.time, to: nil),
        ]
    }
}

/// A date and time that a central has written, with the tick number of the write.
struct SetClock: Hashable, Sendable {
    var date: OctetDate
    /// The fractions of the second, in units of 1/256 s.
    var fractions: UInt8
    /// The bits of Adjust Reason.
    var reason: UInt8
    var since: UInt64
    var interval: Duration

    /// Returns a Current Time with its day of the week, advanced to the tick.
    ///
    /// The time is that of `clock`, or that of the profile if no clock was set.
    static func value(_ original: [UInt8], _ clock: SetClock?, at tick: UInt64) -> [UInt8] {
        guard original.count == CurrentTime.octets else { return original }
        guard let clock else {
            guard let date = OctetDate(original.prefix(OctetDate.octets)) else { return original }
            return date.bytes + [date.weekday] + original[8...]
        }
        let date = OctetDate(seconds: clock.date.seconds &+ clock.elapsed(at: tick))
        return date.bytes + [date.weekday, clock.fractions, clock.reason]
    }

    private func elapsed(at tick: UInt64) -> Int64 {
        let (seconds, attoseconds) = interval.components
        let milliseconds = UInt64(max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
        let (product, isTooLong) = (tick > since ? tick - since : 0).multipliedReportingOverflow(
            by: milliseconds)
        // The date is limited to the year 9999 anyway.
        return isTooLong ? 1 << 40 : Int64(product / 1000)
    }
}
