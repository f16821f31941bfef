/// A comparison of two values; the raw value is its operator in profiles and requests.
package enum Comparison: String, CaseIterable, Hashable, Sendable {
    case equal = "==", notEqual = "!=", below = "<", atMost = "<=", above = ">", atLeast = ">="

    /// The comparisons by order, without `==` and `!=`.
    package static let ordering: [Comparison] = [.below, .atMost, .above, .atLeast]

    /// Makes the comparison with this operator, or returns `nil` if it is not `<`, `<=`, `>` or `>=`.
    package init?(ordering sign: String) {
        guard let comparison = Self.ordering.first(where: { $0.rawValue == sign }) else { return nil }
        self = comparison
    }

    /// Whether the comparison of two numbers holds.
    package func holds<Number: Comparable>(_ one: Number, _ other: Number) -> Bool {
        switch self {
        case .equal: one == other
        case .notEqual: one != other
        case .below: one < other
        case .atMost: one <= other
        case .above: one > other
        case .atLeast: one >= other
        }
    }

    /// Splits a text such as `power > 200` into a name, an operator and an operand.
    ///
    /// Returns `nil` if the text has another form.
    package static func parts(of text: String) -> (name: String, comparison: Comparison, operand: String)? {
        let words = text.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3, let comparison = Comparison(rawValue: words[1]) else { return nil }
        return (words[0], comparison, String(words[2].drop { $0 == " " }))
    }
}
