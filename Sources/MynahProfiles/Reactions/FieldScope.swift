import MynahCore
import MynahSupport

/// The names that a value can be taken from: variables, and in a reaction the fields of what was written.
struct FieldScope {
    var variables = Variables()
    /// The layout of the value that was written, or `nil` outside reactions, or if it is not known.
    var layout: ValueLayout?

    /// Fields that a central could have written, to check what is made of them.
    var written: [NamedField] {
        guard let layout else { return [] }
        return layout.names.compactMap { name in
            FieldShape(name, in: layout).map { NamedField(name, $0.sample) }
        }
    }

    /// The meaning of a name; nil after a problem was noted.
    func operand(_ name: String, at node: YAMLNode, _ decoder: inout ProfileDecoder) -> Reaction.Operand? {
        let fields = layout?.names ?? []
        switch (variables[name] != nil, fields.contains(name)) {
        case (true, false): return .variable(name)
        case (false, true): return .field(name)
        case (true, true):
            decoder.error(
                at: node,
                "\(ProfileDecoder.quote(name)) is a variable and a field of the value: rename the variable")
        case (false, false):
            let known = variables.names + fields
            let what = layout == nil ? "variable" : "variable or field"
            decoder.error(
                at: node,
                known.isEmpty
                    ? "there is no variable \(ProfileDecoder.quote(name)); the profile has no variables"
                    : ProfileDecoder.unknown("\(what) \(ProfileDecoder.quote(name))", name, among: known))
        }
        return nil
    }
}

extension FieldShape {
    /// A value that the field can have.
    fileprivate var sample: FieldValue {
        let one: FieldValue =
            switch kind {
            case .integer, .float: .integer(0)
            case .boolean: .boolean(false)
            case .text: .text("")
            case .dateTime: .text("2026-01-01T00:00:00")
            case .bytes: .bytes([])
            }
        return isList ? .list([one]) : one
    }
}

// `variables:`
extension ProfileDecoder {
    /// The longest text of a variable, in bytes of UTF-8.
    static let longestText = GATT.maximumValueLength
    private static let maximumVariables = 1000

    mutating func variables(_ node: YAMLNode) -> Variables {
        var values: [String: VariableValue] = [:]
        let members = members(node, "variables")
        if members.count > Self.maximumVariables {
            error(at: node, "a profile can have \(Self.maximumVariables) variables, not \(members.count)")
        }
        for (key, value) in members {
            guard let name = text(key, "the name of a variable") else { continue }
            guard Self.isName(name) else {
                error(
                    at: key,
                    """
                    the name of a variable has letters and digits, the first one a letter, as in power, not \
                    \(Self.quote(name))
                    """)
                continue
            }
            guard values[name] == nil else {
                error(at: key, "the variable \(Self.quote(name)) is repeated")
                continue
            }
            values[name] = variable(value, name)
        }
        return Variables(values)
    }

    private static func isName(_ text: String) -> Bool {
        text.first?.isLetter == true && text.utf8.count <= 64
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// A number, or text.
    mutating func variable(_ node: YAMLNode, _ name: String) -> VariableValue? {
        guard let text = text(node, "the variable \(name)") else { return nil }
        if node.scalar?.isPlain == true, let number = Self.variableNumber(text) { return number }
        guard text.utf8.count <= Self.longestText else {
            error(
                at: node,
                "the variable \(name) has \(text.utf8.count) bytes; at most \(Self.longestText) are allowed")
            return nil
        }
        return .text(text)
    }

    /// A variable's number, without a unit.
    static func variableNumber(_ text: String) -> VariableValue? {
        guard let written = WrittenNumber(text), written.unit == nil else { return nil }
        return written.integer.map { .whole($0) } ?? .number(written.number)
    }

    /// A number without a unit.
    static func decimal(_ text: String) -> Double? {
        WrittenNumber(text).flatMap { $0.unit == nil ? $0.number : nil }
    }
}
