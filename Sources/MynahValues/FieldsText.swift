import MynahSupport

/// Describes the fields of a value in words: `72 bpm, contact, RR intervals 0.8301 s`.
package enum FieldsText {
    /// The text of all fields; a number in the first field is shown without its name.
    package static func of(_ fields: [NamedField]) -> String {
        fields.enumerated().map { index, field in of(field, isFirst: index == 0) }.joined(separator: ", ")
    }

    private static func of(_ field: NamedField, isFirst: Bool) -> String {
        let name = words(field.name)
        if case .boolean(let isSet) = field.value { return isSet ? name : "no \(name)" }
        let unit = field.unit.map { $0 == "%" ? " %" : " \($0)" } ?? ""
        let value = text(of: field.value) + (isOfNumbers(field.value) ? unit : "")
        return isFirst && (field.unit != nil || isText(field.value)) ? value : "\(name) \(value)"
    }

    private static func isText(_ value: FieldValue) -> Bool {
        switch value {
        case .text, .named: true
        case .integer, .unsigned, .number, .boolean, .bytes, .list: false
        }
    }

    private static func isOfNumbers(_ value: FieldValue) -> Bool {
        switch value {
        case .integer, .unsigned, .list: true
        case .number(let number): number.isFinite
        case .boolean, .named, .text, .bytes: false
        }
    }

    private static func text(of value: FieldValue) -> String {
        switch value {
        case .integer(let integer): String(integer)
        case .unsigned(let integer): String(integer)
        case .number(let number): NumberText.of(number)
        case .boolean(let isSet): isSet ? "yes" : "no"
        case .named(_, let text), .text(let text): text
        case .bytes(let bytes): Hex.encode(bytes)
        case .list(let values): values.map(text).joined(separator: " ")
        }
    }

    /// Converts a name to words: `energyExpended` to `energy expended`, `vendorIDSource` to `vendor ID
    /// source`, and `rrIntervals` to `RR intervals`.
    static func words(_ name: String) -> String {
        var words: [String] = [""]
        var previous: Character = "A"
        for (character, next) in zip(name, name.dropFirst().map { Optional($0) } + [nil]) {
            let isFirst = !previous.isUppercase || next?.isLowercase == true
            if character.isUppercase, isFirst, words != [""] { words.append("") }
            words[words.count - 1].append(character)
            previous = character
        }
        words = words.map { $0.count > 1 && $0.allSatisfy(\.isUppercase) ? $0 : $0.lowercased() }
        if words[0] == "rr" { words[0] = "RR" }
        if words.prefix(2) == ["sp", "o2"] { words.replaceSubrange(..<2, with: ["SpO2"]) }
        return words.joined(separator: " ")
    }
}
