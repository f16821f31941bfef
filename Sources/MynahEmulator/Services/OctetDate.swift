import MynahProfiles

/// A date and time in the seven octets of the SIG's Date Time (GATT Specification Supplement).
///
/// `seconds` is the same time in seconds since 1970.
struct OctetDate: Hashable, Sendable {
    static let octets = 7

    let seconds: Int64

    /// Parses seven octets; returns `nil` for another length, and for an invalid or unknown date.
    init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.octets else { return nil }
        let year = Int64(bytes[0]) | Int64(bytes[1]) << 8
        let rest = bytes.dropFirst(2).map { Int64($0) }
        guard let seconds = CivilTime.seconds(year, rest[0], rest[1], rest[2], rest[3], rest[4]) else {
            return nil
        }
        self.seconds = seconds
    }

    /// Makes the date from seconds since 1970-01-01, limited to the years with four digits.
    init(seconds: Int64) {
        self.seconds = min(max(seconds, CivilTime.first), CivilTime.last)
    }

    var bytes: [UInt8] {
        let (year, month, day) = CivilTime.date(of: seconds)
        let second = CivilTime.split(seconds).second
        return [
            UInt8(truncatingIfNeeded: year), UInt8(truncatingIfNeeded: year >> 8),
            UInt8(truncatingIfNeeded: month), UInt8(truncatingIfNeeded: day),
            UInt8(truncatingIfNeeded: second / 3600), UInt8(truncatingIfNeeded: second / 60 % 60),
            UInt8(truncatingIfNeeded: second % 60),
        ]
    }

    /// The day of the week, from 1 for Monday to 7 for Sunday.
    var weekday: UInt8 {
        // 1970 began on a Thursday.
        let day = ((CivilTime.split(seconds).days + 3) % 7 + 7) % 7
        return UInt8(truncatingIfNeeded: day + 1)
    }
}
