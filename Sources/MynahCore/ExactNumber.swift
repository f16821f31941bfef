package import MynahSupport

/// A number whose comparisons are exact for integers, which a `Double` with its 53 bits is not.
package enum ExactNumber: Hashable, Sendable, Comparable {
    /// An integer; all integers in the program have at most 64 bits.
    case whole(Int128)
    /// Any other number.
    case fraction(Double)

    /// Makes the exact value of a floating-point number.
    package init(_ number: Double) {
        self = Int128(exactly: number).map { .whole($0) } ?? .fraction(number)
    }

    /// Makes the exact value of an integer.
    package init(_ number: some FixedWidthInteger) { self = .whole(Int128(number)) }

    /// Parses a number, or returns `nil` if the text is not a finite number.
    package init?(_ text: some StringProtocol) {
        if let whole = Int128(text) {
            self = .whole(whole)
        } else if let number = Double(text), number.isFinite {
            self.init(number)
        } else {
            return nil
        }
    }

    /// Makes the number in a JSON value, or returns `nil` if that is not a number.
    package init?(_ json: JSON) {
        switch json {
        case .integer(let number): self.init(number)
        case .unsigned(let number): self.init(number)
        case .number(let number): self.init(number)
        case .null, .bool, .string, .array, .object: return nil
        }
    }

    /// The nearest `Double`.
    package var double: Double {
        switch self {
        case .whole(let number): Double(number)
        case .fraction(let number): number
        }
    }

    /// The number as JSON.
    package var json: JSON {
        guard case .whole(let number) = self else { return .number(double) }
        if let number = Int(exactly: number) { return .integer(number) }
        return UInt64(exactly: number).map { .unsigned($0) } ?? .number(double)
    }

    package static func < (one: ExactNumber, other: ExactNumber) -> Bool {
        if case (.whole(let one), .whole(let other)) = (one, other) { return one < other }
        return one.double < other.double
    }

    /// Whether the first number is at most the second; `false` if one of them is NaN.
    package static func <= (one: ExactNumber, other: ExactNumber) -> Bool {
        if case (.whole(let one), .whole(let other)) = (one, other) { return one <= other }
        return one.double <= other.double
    }

    package static func >= (one: ExactNumber, other: ExactNumber) -> Bool { other <= one }
    package static func > (one: ExactNumber, other: ExactNumber) -> Bool { other < one }
}
