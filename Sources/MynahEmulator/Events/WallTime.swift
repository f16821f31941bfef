import Glibc
package import MynahSupport

/// A calendar time with a resolution of one microsecond.
public struct WallTime: Hashable, Sendable {
    /// The microseconds since the beginning of 1970, UTC.
    public var microseconds: Int64
    /// `true` for a run with virtual time, whose times are always shown in UTC.
    package var isVirtual = false

    /// Makes a time from a number of microseconds after the beginning of 1970, UTC.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The current time of a run's clock.
    package static func now(_ clock: RunClock) -> WallTime {
        var time = WallTime(microseconds: clock.wallMicroseconds)
        time.isVirtual = clock.virtual != nil
        return time
    }

    /// The current time of the machine.
    public static func now() -> WallTime {
        WallTime(microseconds: RunClock.real.wallMicroseconds)
    }

    /// Parses a time written by `rfc3339`; returns `nil` if the text is not such a time.
    package init?(rfc3339 text: String) {
        let parts = text.utf8.split(whereSeparator: { !(0x30...0x39).contains($0) }).map {
            Int32(String(decoding: $0, as: UTF8.self)) ?? -1
        }
        guard text.utf8.count == 27, text.hasSuffix("Z"), parts.count == 7, parts.allSatisfy({ $0 >= 0 }),
            parts.dropLast().allSatisfy({ $0 <= 9999 })
        else {
            return nil
        }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (parts[0] - 1900, parts[1] - 1, parts[2])
        (date.tm_hour, date.tm_min, date.tm_sec) = (parts[3], parts[4], parts[5])
        self.init(microseconds: Int64(timegm(&date)) * 1_000_000 + Int64(parts[6]))
        // The text differs if it has an invalid date or time, such as 30 February.
        guard rfc3339 == text else { return nil }
    }

    /// The time in the form of RFC 3339, in UTC: `2026-11-21T06:15:00.123456Z`.
    public var rfc3339: String {
        let (seconds, fraction) = split
        var clock = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&clock, &parts) != nil else { return "1970-01-01T00:00:00.000000Z" }
        let date = [(Int(parts.tm_year) + 1900, 4), (Int(parts.tm_mon) + 1, 2), (Int(parts.tm_mday), 2)]
        return date.map(Self.pad).joined(separator: "-") + "T" + Self.clock(parts) + "."
            + Self.pad(fraction, 6) + "Z"
    }

    /// Hours, minutes and seconds in the user's time zone, or in UTC with virtual time: `06:15:00.123`.
    public var localClock: String {
        let (seconds, fraction) = split
        var clock = time_t(seconds)
        var parts = tm()
        let isKnown = (isVirtual ? gmtime_r(&clock, &parts) : localtime_r(&clock, &parts)) != nil
        guard isKnown else { return "00:00:00.000" }
        return Self.clock(parts) + "." + Self.pad(fraction / 1000, 3)
    }

    private var split: (seconds: Int64, fraction: Int) {
        let (seconds, fraction) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return fraction < 0 ? (seconds - 1, Int(fraction) + 1_000_000) : (seconds, Int(fraction))
    }

    private static func clock(_ parts: tm) -> String {
        [(Int(parts.tm_hour), 2), (Int(parts.tm_min), 2), (Int(parts.tm_sec), 2)].map(pad).joined(
            separator: ":")
    }

    private static func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
