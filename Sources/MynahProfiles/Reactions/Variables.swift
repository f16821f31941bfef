package import MynahCore
package import MynahSupport

/// The value of a variable: a number or a text.
package enum VariableValue: Hashable, Sendable {
    case number(Double)
    /// An integer that a `Double` cannot represent exactly; `whole` makes a value from any integer.
    case integer(Int)
    /// An integer that is too large for an `Int`.
    case unsigned(UInt64)
    case text(String)

    /// Makes the value of an integer.
    package static func whole(_ integer: Int) -> VariableValue {
        Int(exactly: Double(integer)) == integer ? .number(Double(integer)) : .integer(integer)
    }

    /// The number, rounded to the nearest `Double`, or `nil` for a text.
    package var number: Double? {
        switch self {
        case .number(let number): number
        case .integer(let integer): Double(integer)
        case .unsigned(let integer): Double(integer)
        case .text: nil
        }
    }

    /// The exact number, or `nil` for a text.
    package var exact: ExactNumber? {
        switch self {
        case .number(let number): ExactNumber(number)
        case .integer(let integer): ExactNumber(integer)
        case .unsigned(let integer): ExactNumber(integer)
        case .text: nil
        }
    }

    /// Converts a JSON value; returns `nil` if it is neither a finite number nor a text.
    package init?(_ json: JSON) {
        switch json {
        case .integer(let integer): self = .whole(integer)
        case .unsigned(let integer): self = .unsigned(integer)
        case .number(let number) where number.isFinite: self = .number(number)
        case .string(let text): self = .text(text)
        case .number, .bool, .null, .array, .object: return nil
        }
    }

    /// The value as JSON; an integer is written without a fraction.
    package var json: JSON {
        switch self {
        case .number(let number): Int(exactly: number).map { .integer($0) } ?? .number(number)
        case .integer(let integer): .integer(integer)
        case .unsigned(let integer): .unsigned(integer)
        case .text(let text): .string(text)
        }
    }
}

/// A device's variables, which rules, scenarios and tests can change.
package struct Variables: Hashable, Sendable {
    private var values: [String: VariableValue] = [:]

    package init(_ values: [String: VariableValue] = [:]) {
        self.values = values
    }

    /// The names of the variables, in alphabetical order.
    package var names: [String] { values.keys.sorted() }

    /// The value of a variable, or `nil` if the profile has no variable with this name.
    package subscript(name: String) -> VariableValue? { values[name] }

    /// Sets a variable; returns `false` if it already has this value, or if there is no such variable.
    package mutating func set(_ name: String, to value: VariableValue) -> Bool {
        guard let old = values[name], old != value else { return false }
        values[name] = value
        return true
    }

    /// The variables as one JSON object.
    package var json: JSON { .object(names.map { .init($0, values[$0]?.json ?? .null) }) }
}
