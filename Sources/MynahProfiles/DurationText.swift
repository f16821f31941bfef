import MynahSupport

/// Durations as written in profiles and options: `100 ms`, `1.5s`, `2 min`, `1 h`.
public enum DurationText {
    /// The reason that a text is not a duration.
    public struct Problem: Error, Hashable, Sendable {
        /// The reason, in words that follow the name of the value.
        public var message: String

        /// Makes a reason with this message.
        package init(message: String) { self.message = message }
    }

    /// The longest accepted duration, which is a year, so that sums of durations cannot overflow.
    static let maximum: Duration = .seconds(366 * 24 * 3600)

    private static let tooLong = Problem(message: "is longer than a year; the maximum is \(maximum.text)")

    /// The regular expression of a number and a unit, without the spaces around them.
    package static let pattern = "[0-9]+(\\.[0-9]{1,9})? *(\(units.joined(separator: "|")))"

    private static let units = Duration.namedUnits.map(\.name)

    /// Parses a number with up to nine decimals, and a unit.
    public static func parse(_ text: String) throws(Problem) -> Duration {
        let trimmed = text.drop { $0 == " " }
        let digits = trimmed.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        var unit = trimmed.dropFirst(digits.count).drop { $0 == " " }
        while unit.last == " " { unit.removeLast() }
        guard !digits.isEmpty else {
            throw Problem(message: "must be a duration such as 100 ms, not \(Words.quote(text))")
        }
        guard !unit.isEmpty else {
            let ways = Words.list(units.map { "\(digits) \($0)" }, "or")
            throw Problem(message: "has no unit; write \(ways)")
        }
        guard let scale = Duration.namedUnits.first(where: { $0.name == unit })?.nanoseconds else {
            throw Problem(
                message: "has the unknown unit \(Words.quote(unit)); units are \(Words.list(units))")
        }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, !parts.contains(where: \.isEmpty) else {
            throw Problem(message: "must be a duration such as 100 ms, not \(Words.quote(text))")
        }
        guard parts.count < 2 || parts[1].count <= 9 else {
            throw Problem(message: "has at most nine decimals, unlike \(Words.quote(text))")
        }
        // The part before the decimal point has only digits.
        guard let whole = Int64(parts[0]) else { throw tooLong }
        var fraction: Int64 = 0
        var divisor: Int64 = 1
        if parts.count == 2 {
            guard let decimals = Int64(parts[1]) else {
                throw Problem(message: "must be a duration such as 100 ms, not \(Words.quote(text))")
            }
            fraction = decimals
            for _ in parts[1] { divisor *= 10 }
        }
        let (product, overflow) = whole.multipliedReportingOverflow(by: scale)
        guard !overflow else { throw tooLong }
        // The product can exceed 64 bits, but the quotient is less than the unit's own length.
        let nanoseconds = divisor.dividingFullWidth(fraction.multipliedFullWidth(by: scale)).quotient
        let duration = Duration.nanoseconds(product) + .nanoseconds(nanoseconds)
        guard duration <= maximum else { throw tooLong }
        return duration
    }
}
