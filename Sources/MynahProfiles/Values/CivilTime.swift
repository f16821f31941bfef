/// Converts dates and times of the Gregorian calendar to seconds since 1970, and back.
package enum CivilTime {
    /// The last second of the year 9999.
    package static let last: Int64 = 253_402_300_799
    /// The first second of 1582, which is the first year that the SIG's Date Time allows.
    package static let first: Int64 = -12_244_089_600

    /// Splits a time into the days since 1970-01-01 and the seconds since midnight.
    package static func split(_ time: Int64) -> (days: Int64, second: Int64) {
        let second = ((time % 86_400) + 86_400) % 86_400
        return ((time - second) / 86_400, second)
    }

    /// Returns the date of a time between `first` and `last`.
    package static func date(of time: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = split(time).days + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }

    /// Returns the seconds since 1970 of a date and time.
    ///
    /// Returns `nil` if the date does not exist, or if the year is not between 1582 and 9999.
    package static func seconds(
        _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64, _ minute: Int64, _ second: Int64
    ) -> Int64? {
        guard (1582...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        // The year starts in March here, so that a leap day is its last day.
        let counted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = 365 * counted + counted / 4 - counted / 100 + counted / 400 + dayOfYear - 719_468
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        // An invalid date has another day after the conversion: April 31 becomes May 1.
        return date(of: seconds).day == day ? seconds : nil
    }

    /// Formats a time, as in `2026-01-31T12:00:00`.
    package static func text(of time: Int64) -> String {
        let time = min(max(time, first), last)
        let (year, month, day) = date(of: time)
        let second = split(time).second
        func digits(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
            + "\(digits(second / 3600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))"
    }

    /// Parses a text such as `2026-01-01T00:00:00`, with or without a Z, to seconds since 1970.
    ///
    /// Returns `nil` if the text has another form.
    package static func seconds(of text: String) -> Int64? {
        let text = text.last == "Z" ? String(text.dropLast()) : text
        let parts = text.split(omittingEmptySubsequences: false) { "-T:".contains($0) }.map { Int64($0) }
        let numbers = parts.compactMap { $0 }
        guard parts.count == 6, numbers.count == 6,
            let seconds = seconds(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
        else { return nil }
        // The text is valid only if formatting the time gives the same text.
        return self.text(of: seconds) == text ? seconds : nil
    }
}
