import MynahCore

/// A field whose value changes from tick to tick.
struct FieldGenerator: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        case number(NumberGenerator)
        /// A number that goes on, in integers of the type, and wraps at its width.
        case counter(NumberGenerator)
        /// Values that are no numbers, one after the other, and again.
        case list([FieldValue])
        /// A date and a time, or the seconds since 1970; `nil` starts with the run.
        case clock(start: Int64?)
    }

    var source: Source
    var shape: FieldShape
    /// The unit of its numbers, if it is not the field's first.
    var unit: String?

    /// The value at a tick of a run; always one that the field's type holds.
    func value(at tick: UInt64, of run: GeneratorRun, seed: UInt64) -> FieldValue {
        switch source {
        case .number(let numbers): return fitted(numbers.number(at: tick, every: run.interval, seed: seed))
        case .counter(let numbers):
            let count = numbers.number(at: tick, every: run.interval, seed: seed).rounded()
            return fitted(wrapped(count) * shape.step(in: unit))
        case .list(let values): return values[Int(tick % UInt64(values.count))]
        case .clock(let start):
            let now = Self.clock(start ?? run.start, tick, run.interval)
            return shape.kind == .dateTime ? .text(CivilTime.text(of: now)) : fitted(Double(now))
        }
    }

    private func wrapped(_ count: Double) -> Double {
        guard case .integer(_, let isSigned) = shape.kind, let width = shape.width, count.isFinite else {
            return count
        }
        let rest = count.truncatingRemainder(dividingBy: width)
        let place = rest < 0 ? rest + width : rest
        return isSigned && place >= width / 2 ? place - width : place
    }

    private func fitted(_ number: Double) -> FieldValue {
        if shape.kind == .boolean { return .boolean(number >= 0.5) }
        let limits = shape.limits(in: unit)
        // Noise on very large numbers may result in NaN.
        let fitting =
            number.isNaN ? limits.lowerBound : min(max(number, limits.lowerBound), limits.upperBound)
        if case .integer = shape.kind, shape.step(in: unit) == 1, let whole = Int(exactly: fitting.rounded())
        {
            return .integer(whole)
        }
        return .number(fitting)
    }

    private static func clock(_ start: Int64, _ tick: UInt64, _ interval: Duration) -> Int64 {
        let (seconds, attoseconds) = interval.components
        let nanoseconds =
            UInt64(max(0, seconds)) &* 1_000_000_000 &+ UInt64(max(0, attoseconds / 1_000_000_000))
        let (product, isTooLong) = tick.multipliedReportingOverflow(by: nanoseconds)
        guard !isTooLong else { return CivilTime.last }
        return min(CivilTime.last, start + Int64(product / 1_000_000_000))
    }
}

/// Dates and times of the Gregorian calendar, and the seconds since 1970.
enum CivilTime {
    /// The last second of the year 9999.
    static let last: Int64 = 253_402_300_799
    /// The first second of the year 1582, the first year of the SIG's dates.
    static let first: Int64 = -12_244_089_600

    /// `2026-01-31T12:00:00`.
    static func text(of time: Int64) -> String {
        let time = min(max(time, first), last)
        let (days, second) = (
            Int64((Double(time) / 86_400).rounded(.down)), ((time % 86_400) + 86_400) % 86_400
        )
        let (year, month, day) = date(days)
        func digits(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
            + "\(digits(second / 3600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))"
    }

    /// The seconds since 1970 of a date and time, with or without a Z; `nil` if the text is invalid.
    static func seconds(of text: String) -> Int64? {
        let text = text.last == "Z" ? String(text.dropLast()) : text
        let parts = text.split(omittingEmptySubsequences: false) { "-T:".contains($0) }.map { Int64($0) }
        guard parts.count == 6, !parts.contains(nil) else { return nil }
        let numbers = parts.compactMap { $0 }
        guard (1582...9999).contains(numbers[0]), (1...12).contains(numbers[1]),
            (1...31).contains(numbers[2]),
            (0...23).contains(numbers[3]), (0...59).contains(numbers[4]), (0...59).contains(numbers[5])
        else { return nil }
        // Days before the year and the month, counted from March on, so that a leap day is a year's last.
        let year = numbers[1] > 2 ? numbers[0] : numbers[0] - 1
        let month = (numbers[1] + 9) % 12
        let day = (153 * month + 2) / 5 + numbers[2] - 1
        let days = 365 * year + year / 4 - year / 100 + year / 400 + day - 719_468
        let seconds = days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        // There is no 31st of April.
        return self.text(of: seconds) == text ? seconds : nil
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
