import MynahCore
import MynahSupport

/// A date and a time as the SIG's characteristics have them, in seven octets (GATT Specification Supplement,
/// Date Time), and its seconds since 1970.
struct OctetDate: Hashable, Sendable {
    static let octets = 7

    let seconds: Int64

    /// Returns `nil` for other than seven octets, and for a date that does not exist or is not known.
    init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.octets else { return nil }
        let year = Int64(bytes[0]) | Int64(bytes[1]) << 8
        let (month, day) = (Int64(bytes[2]), Int64(bytes[3]))
        guard (1582...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            bytes[4] < 24, bytes[5] < 60, bytes[6] < 60
        else { return nil }
        let time = Int64(bytes[4]) * 3600 + Int64(bytes[5]) * 60 + Int64(bytes[6])
        seconds = Self.days(year, month, day) * 86_400 + time
        // There is no 31st of April.
        guard self.bytes == bytes else { return nil }
    }

    /// The date at a number of seconds since 1970-01-01, limited to years with four digits.
    init(seconds: Int64) {
        self.seconds = min(max(seconds, -12_244_089_600), 253_402_300_799)
    }

    var bytes: [UInt8] {
        let second = ((seconds % 86_400) + 86_400) % 86_400
        let (year, month, day) = Self.date((seconds - second) / 86_400)
        return [
            UInt8(truncatingIfNeeded: year), UInt8(truncatingIfNeeded: year >> 8),
            UInt8(truncatingIfNeeded: month), UInt8(truncatingIfNeeded: day),
            UInt8(truncatingIfNeeded: second / 3600), UInt8(truncatingIfNeeded: second / 60 % 60),
            UInt8(truncatingIfNeeded: second % 60),
        ]
    }

    /// The day of the week, from 1 for Monday to 7 for Sunday.
    var weekday: UInt8 {
        let second = ((seconds % 86_400) + 86_400) % 86_400
        // 1970 began on a Thursday.
        let day = (((seconds - second) / 86_400 + 3) % 7 + 7) % 7
        return UInt8(truncatingIfNeeded: day + 1)
    }

    // Days before the year and the month, counted from March on, so that a leap day is a year's last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let counted = month > 2 ? year : year - 1
        let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * counted + counted / 4 - counted / 100 + counted / 400 + ofYear - 719_468
    }

    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }
}
