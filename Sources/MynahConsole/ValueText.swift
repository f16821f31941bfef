import MynahCore
package import MynahEmulator
import MynahProfiles
import MynahSupport
package import MynahValues

/// A value as text for users: its bytes, followed by its fields or its text in words.
package struct ValueText: Hashable, Sendable {
    /// The bytes in hexadecimal; if there are many, only the first ones and their number.
    package let bytes: String
    /// The fields, such as `72 bpm, contact`, or a text in quotation marks, or `nil` if the value has
    /// neither.
    package let words: String?

    /// Makes the text of a value; `fields` is `nil` if the value has no layout or does not fit it.
    package init(_ value: [UInt8], _ fields: [NamedField]?) {
        let hex = Hex.encode(value)
        bytes =
            value.isEmpty
            ? "(empty)" : value.count > 32 ? hex.prefix(64) + "… (\(value.count) bytes)" : hex
        if let fields, fields.count == 1, case .text(let text) = fields[0].value,
            text.utf8.elementsEqual(value)
        {
            words = value.isEmpty ? nil : Self.quoted(text)
        } else if let fields, !fields.isEmpty {
            words = PrintableText.of(FieldsText.of(fields))
        } else if value.count > 1, value.allSatisfy({ (0x20...0x7E).contains($0) }) {
            words = Self.quoted(String(decoding: value, as: UTF8.self))
        } else {
            words = nil
        }
    }

    /// Makes the text of an event's value, or `nil` if the event has no value.
    package init?(_ event: DeviceEvent) {
        guard let value = event.payload.value else { return nil }
        self.init(value, Self.fields(of: event.readFields, event.payload.valueFields))
    }

    /// Makes the text of a value from the control API; `fields` are those that the device has decoded, or
    /// `nil`.
    init(_ value: [UInt8], of characteristic: BluetoothUUID?, _ fields: JSON?) {
        let known = characteristic.flatMap { KnownLayouts.layout(of: $0) }?.decode(value)
        self.init(value, fields.flatMap { Self.fields(of: $0, known) })
    }

    /// The fields in JSON, with units and names if they match the SIG's layout.
    private static func fields(of json: JSON?, _ known: [NamedField]?) -> [NamedField]? {
        guard let json, json != known?.json, case .object(let members) = json else { return known }
        return members.map { NamedField($0.key, FieldValue($0.value)) }
    }

    private static func quoted(_ text: String) -> String {
        "\"\(PrintableText.of(String(text.prefix(32))))\""
    }

    /// The bytes, followed by the words if there are any.
    package var text: String {
        guard let words else { return bytes }
        return bytes + (words.hasPrefix("\"") ? " " : "  ") + words
    }

    /// The text for a narrow terminal: the words, or the bytes if there are none.
    var brief: String { words ?? bytes }
}

extension FieldValue {
    /// Makes the text of a value in JSON.
    fileprivate init(_ json: JSON) {
        self =
            switch json {
            case .integer(let integer): .integer(integer)
            case .unsigned(let integer): .unsigned(integer)
            case .number(let number): .number(number)
            case .null: .number(.nan)
            case .bool(let isSet): .boolean(isSet)
            case .string(let text): .text(text)
            case .array(let values): .list(values.map { FieldValue($0) })
            case .object: .text(json.text)
            }
    }
}
