package import MynahCore
import MynahSupport
package import MynahValues

/// A rule for requests to a characteristic, or for links.
///
/// If several rules match, only the first one is carried out.
package struct Reaction: Hashable, Sendable {
    /// The condition for the written value; a rule for subscriptions has none.
    package var match = ValueMatch()
    /// The conditions for variables.
    package var conditions: [VariableCondition] = []
    /// The variables that the rule sets.
    package var changes: [Change] = []
    /// The values that the rule sends, in order.
    package var answers: [Answer] = []
    /// The attributes whose current values the rule sends to the subscribers.
    package var notified: [AttributeTree.Position] = []
    /// The error with which the request is answered, or `nil` to accept it; a refused value is not stored.
    package var error: ATTError?
    /// `true` if the rule ends the link.
    package var disconnects = false
    /// The change of the advertising, or `nil` for none.
    package var advertises: AdvertisingRequest?

    package init() {}

    /// Whether a matching write is stored, which requires that the rule has neither an error nor an answer.
    package var storesValue: Bool { error == nil && answers.isEmpty }

    /// A constant number or text, or the name of a variable or a field.
    package enum Operand: Hashable, Sendable {
        case constant(VariableValue)
        /// A field of the written value.
        case field(String)
        case variable(String)
    }

    /// A variable and its new value.
    package struct Change: Hashable, Sendable {
        package var variable: String
        package var operand: Operand
    }

    /// A value that is sent to the central whose request triggered the rule.
    package struct Answer: Hashable, Sendable {
        /// The characteristic on which the answer is sent.
        package var target: AttributeTree.Position
        package var value: AnswerValue
        /// The time from the write response to the value.
        package var delay: Duration
        /// `true` to send a value in pieces if it is too long for the link.
        package var isInPieces = false
    }
}

/// The condition of a rule for written values; without conditions, any value matches.
package struct ValueMatch: Hashable, Sendable {
    /// A comparison of a field of the written value.
    package struct Condition: Hashable, Sendable {
        package var field: String
        package var comparison: Comparison
        package var operand: Operand

        /// The right side of a comparison.
        package enum Operand: Hashable, Sendable {
            case number(ExactNumber)
            /// A text, which may also be the name of a number or a Boolean value.
            case text(String)
            case variable(String)
        }
    }

    /// The pattern of the whole value, or `nil` to match any value.
    package var bytes: BytePattern?
    package var conditions: [Condition] = []

    package init() {}

    /// Whether a value matches; `fields` is `nil` if the value does not fit its layout.
    package func matches(_ value: [UInt8], _ fields: [NamedField]?, _ variables: Variables) -> Bool {
        if let bytes, !bytes.matches(value) { return false }
        return conditions.allSatisfy { $0.holds(for: fields, variables) }
    }
}

extension ValueMatch.Condition {
    fileprivate func holds(for fields: [NamedField]?, _ variables: Variables) -> Bool {
        guard let value = fields?.first(where: { $0.name == field })?.value else { return false }
        switch operand {
        case .number(let number): return value.exact.map { comparison.holds($0, number) } ?? false
        case .text(let text): return comparison == .equal && value.isNamed(text)
        case .variable(let name):
            if case .text(let text)? = variables[name] { return comparison == .equal && value.isNamed(text) }
            guard let number = value.exact, let other = variables[name]?.exact else { return false }
            return comparison.holds(number, other)
        }
    }
}

extension FieldValue {
    /// Whether a text equals the field's text, the name of its number, its Boolean value or its bytes.
    fileprivate func isNamed(_ text: String) -> Bool {
        switch self {
        case .named(_, let name): name == text
        case .text(let own): own == text
        case .boolean(let isSet): text == (isSet ? "true" : "false")
        case .bytes(let bytes): Hex.decode(text) == bytes
        case .integer, .unsigned, .number, .list: false
        }
    }
}

/// The value of an answer: bytes, or fields that may refer to variables and to the written value.
package struct AnswerValue: Hashable, Sendable {
    var form: Form

    enum Form: Hashable, Sendable {
        case bytes([UInt8])
        case fields(FieldsDefinition)
        case text(TextTemplate)
    }

    /// Returns the bytes of the value; throws an error if they do not fit the layout.
    package func bytes(_ variables: Variables, _ written: [NamedField]) throws(LayoutProblem) -> [UInt8] {
        switch form {
        case .bytes(let bytes): return bytes
        case .fields(let definition): return try definition.encode(variables, written)
        case .text(let template): return template.bytes(variables, written)
        }
    }
}

extension [Reaction] {
    /// Returns the first rule that matches a written value, or `nil` if there is none.
    package func first(
        for value: [UInt8], _ fields: [NamedField]?, _ variables: Variables
    ) -> Reaction? {
        first { $0.conditions.hold(variables) && $0.match.matches(value, fields, variables) }
    }

    /// Returns the first rule that matches a request without a value, or `nil` if there is none.
    package func first(_ variables: Variables) -> Reaction? {
        first { $0.conditions.hold(variables) }
    }
}

extension Reaction {
    /// Returns the variables after the rule was carried out; `written` has the fields of the written value.
    package func applied(to variables: Variables, _ written: [NamedField]) -> Variables {
        var result = variables
        for change in changes {
            guard let value = change.operand.value(variables, written) else { continue }
            _ = result.set(change.variable, to: value)
        }
        return result
    }
}

extension Reaction.Operand {
    /// Returns the value of the operand, or `nil` if the written value lacks the field.
    func value(_ variables: Variables, _ written: [NamedField]) -> VariableValue? {
        switch self {
        case .constant(let value): value
        case .variable(let name): variables[name]
        case .field(let name): written.first { $0.name == name }.flatMap { VariableValue($0.value) }
        }
    }
}

extension VariableValue {
    /// Converts the value of a field; returns `nil` if it is a list, or neither a number nor a text.
    init?(_ value: FieldValue) {
        switch value {
        case .text(let text): self = .text(text)
        case .bytes(let bytes): self = .text(Hex.encode(bytes))
        case .integer(let integer): self = .whole(integer)
        case .unsigned(let integer): self = .unsigned(integer)
        case .number, .named, .boolean:
            guard let number = value.number, number.isFinite else { return nil }
            self = .number(number)
        case .list: return nil
        }
    }
}
