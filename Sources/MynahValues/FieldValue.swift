package import MynahCore
package import MynahSupport

/// The content of one field of a value; numbers are in the field's unit.
package enum FieldValue: Hashable, Sendable {
    case integer(Int)
    /// A whole number that is too large for an `Int`.
    case unsigned(UInt64)
    /// A floating-point number, including infinity, and NaN, which an IEEE 11073 float uses for "no value".
    case number(Double)
    case boolean(Bool)
    /// A number of an enumeration, with its name.
    case named(Int, String)
    /// Text, or a date.
    case text(String)
    case bytes([UInt8])
    case list([FieldValue])

    /// The number, or `nil` if the content is not a number; `true` is 1.
    package var number: Double? {
        switch self {
        case .integer(let integer), .named(let integer, _): Double(integer)
        case .unsigned(let integer): Double(integer)
        case .number(let number): number
        case .boolean(let isSet): isSet ? 1 : 0
        case .text, .bytes, .list: nil
        }
    }

    /// The exact number, or `nil` if the content is not a number; `true` is 1.
    package var exact: ExactNumber? {
        switch self {
        case .integer(let integer), .named(let integer, _): ExactNumber(integer)
        case .unsigned(let integer): ExactNumber(integer)
        case .number, .boolean, .text, .bytes, .list: number.map { ExactNumber($0) }
        }
    }

    /// The content as JSON: bytes in hexadecimal, a number without its name, `null` for NaN, and `"inf"` and
    /// `"-inf"` for infinity.
    package var json: JSON {
        switch self {
        case .integer(let integer), .named(let integer, _): .integer(integer)
        case .unsigned(let integer): .unsigned(integer)
        case .number(let number):
            number.isNaN ? .null : number.isInfinite ? .string(number < 0 ? "-inf" : "inf") : .number(number)
        case .boolean(let isSet): .bool(isSet)
        case .text(let text): .string(text)
        case .bytes(let bytes): .string(Hex.encode(bytes))
        case .list(let values): .array(values.map(\.json))
        }
    }
}

/// A field of a value: its name, its content and its unit.
package struct NamedField: Hashable, Sendable {
    package var name: String
    package var value: FieldValue
    /// The unit of a number, or `nil` if the field has no unit.
    ///
    /// For a value to be encoded, `nil` also means the unit that the layout names first.
    package var unit: String?

    package init(_ name: String, _ value: FieldValue, _ unit: String? = nil) {
        self.name = name
        self.value = value
        self.unit = unit
    }
}

extension [NamedField] {
    /// The fields as a JSON object, with numbers in their units.
    package var json: JSON { .object(map { .init($0.name, $0.value.json) }) }
}

/// The reason that a value does not fit a layout, as a sentence without its full stop.
package struct LayoutProblem: Error, Hashable, Sendable {
    /// The field with the problem, or `nil` if it concerns the whole value.
    package var field: String?
    package var message: String

    package init(_ field: String?, _ message: String) {
        self.field = field
        self.message = message
    }
}
