import MynahCore
import MynahSupport

/// The section `variables:`: numbers and texts by names that the user chooses.
enum VariablesSection {
    static var schema: Schema {
        .map(
            keys: Schema([.init("pattern", "^[A-Za-z][A-Za-z0-9]{0,63}$")]),
            to: .types("string", "number", "boolean"))
    }

    static func read(_ node: YAMLNode, _ reader: FormatReader) -> Variables {
        var values: [String: VariableValue] = [:]
        let members = reader.members(node, "variables")
        let limit = ProfileLimit.variables.count
        if members.count > limit {
            reader.error(at: node, "a profile can have \(limit) variables, not \(members.count)")
        }
        for (key, value) in members {
            guard let name = reader.text(key, "the name of a variable") else { continue }
            guard isName(name) else {
                reader.error(
                    at: key,
                    """
                    the name of a variable has letters and digits, the first one a letter, as in power, not \
                    \(Words.quote(name))
                    """)
                continue
            }
            guard values[name] == nil else {
                reader.error(at: key, "the variable \(Words.quote(name)) is repeated")
                continue
            }
            values[name] = variable(value, name, reader)
        }
        return Variables(values)
    }

    private static func isName(_ text: String) -> Bool {
        text.first?.isLetter == true && text.utf8.count <= 64
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Parses a number or a text.
    private static func variable(_ node: YAMLNode, _ name: String, _ reader: FormatReader) -> VariableValue? {
        guard let text = reader.text(node, "the variable \(name)") else { return nil }
        guard node.scalar?.isPlain == true else { return self.text(text, name, at: node, reader) }
        let digits = text.filter { $0 != "_" }
        if text.first?.isNumber == true, digits != text, Words.isWhole(digits) {
            reader.warning(
                at: node.mark,
                """
                the variable \(name) is the text \(Words.quote(text)); write \(digits) for a number, or \
                quote it
                """)
        }
        reader.warnIfAmbiguous(text, "the variable \(name)", at: node)
        return number(text, name, at: node, reader) ?? self.text(text, name, at: node, reader)
    }

    /// Parses the number in a text; returns `nil` if the text is not a number.
    ///
    /// Reports a number that would be rounded.
    fileprivate static func number(
        _ text: String, _ name: String, at node: YAMLNode, _ reader: FormatReader
    ) -> VariableValue? {
        if let problem = VariableValue.problem(of: text) {
            reader.error(at: node, "the variable \(name): \(problem)")
        }
        return VariableValue(written: text)
    }

    /// Checks the text of a variable; reports an issue and returns `nil` if the text is too long.
    fileprivate static func text(
        _ text: String, _ name: String, at node: YAMLNode, _ reader: FormatReader
    ) -> VariableValue? {
        let limit = ProfileLimit.variableBytes.count
        guard text.utf8.count <= limit else {
            reader.error(
                at: node, "the variable \(name) has \(text.utf8.count) bytes; at most \(limit) are allowed")
            return nil
        }
        return .text(text)
    }
}

extension VariableValue {
    /// Returns the reason that the number in a text would be rounded, as a sentence without its full stop.
    ///
    /// Returns `nil` if the number would not be rounded, or if the text is not a number.
    package static func problem(of text: String) -> String? {
        let text = text.trimmed
        if let problem = WholeDigits.problem(of: text) { return problem }
        guard text.contains(where: \.isNumber), Double(text)?.isInfinite == true else { return nil }
        return "the number \(text.prefix(40)) is beyond ±\(Double.greatestFiniteMagnitude)"
    }

    /// Parses a number without a unit, or returns `nil`.
    package init?(written text: String) {
        guard let written = WrittenNumber(text), written.unit == nil else { return nil }
        self =
            written.integer.map { .whole($0) } ?? written.unsigned.map { .unsigned($0) }
            ?? .number(written.number)
    }
}

extension WrittenNumber {
    /// Parses a number without a unit as an exact number.
    static func decimal(_ text: String) -> ExactNumber? {
        WrittenNumber(text).flatMap { $0.unit == nil ? $0.exact : nil }
    }

    /// The number, without rounding.
    private var exact: ExactNumber {
        integer.map { ExactNumber($0) } ?? unsigned.map { ExactNumber($0) } ?? ExactNumber(number)
    }
}

extension [Reaction.Change] {
    /// Parses the new values that a rule or a scenario step gives to variables.
    ///
    /// A new value is a constant, or the name of a variable or a field in `scope`.
    static func read(_ node: YAMLNode, in scope: FieldScope, _ reader: FormatReader) -> [Reaction.Change] {
        let known = scope.variables.names
        return reader.members(node, "set").compactMap { key, value in
            guard let name = reader.text(key, "a variable") else { return nil }
            guard known.contains(name) else {
                reader.error(
                    at: key,
                    known.isEmpty
                        ? "there is no variable \(Words.quote(name)); add it, as in variables: {\(name): 0}"
                        : Words.unknown("variable \(Words.quote(name))", name, among: known))
                return nil
            }
            guard let text = reader.text(value, name) else { return nil }
            if value.scalar?.isPlain != true {
                return VariablesSection.text(text, name, at: value, reader).map {
                    .init(variable: name, operand: .constant($0))
                }
            }
            if let number = VariablesSection.number(text, name, at: value, reader) {
                return .init(variable: name, operand: .constant(number))
            }
            return scope.operand(text, at: value, reader).map { .init(variable: name, operand: $0) }
        }
    }
}
