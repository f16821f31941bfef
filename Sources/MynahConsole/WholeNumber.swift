/// Parses the whole number of a command-line option.
package enum WholeNumber {
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    /// Parses a number; for any other text, throws an error with the accepted range.
    package static func parse<Number: FixedWidthInteger & Sendable>(
        _ text: String, in range: ClosedRange<Number>
    ) throws(Problem) -> Number {
        guard let number = Number(text), range.contains(number) else {
            throw Problem(
                description: "expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
