package import MynahCore
package import MynahFaults
import MynahSupport
import MynahValues

/// A comparison of a variable with a constant, such as `power > 200`.
package struct VariableCondition: Hashable, Sendable {
    /// The variable's name.
    package var variable: String
    package var comparison: Comparison
    package var constant: FaultCondition.Constant

    /// Makes a comparison.
    package init(_ variable: String, _ comparison: Comparison, _ constant: FaultCondition.Constant) {
        self.variable = variable
        self.comparison = comparison
        self.constant = constant
    }

    /// Whether the condition holds.
    ///
    /// A number never equals a text, and an unknown variable equals nothing.
    package func holds(_ variables: Variables) -> Bool {
        guard let value = variables[variable] else { return false }
        return switch (value, constant) {
        case (.text(let text), .text(let other)): (text == other) == (comparison == .equal)
        case (_, .number(let other)):
            value.exact.map { comparison.holds($0, other) } ?? (comparison == .notEqual)
        case (.number, .text), (.integer, .text), (.unsigned, .text): comparison == .notEqual
        }
    }
}

extension [VariableCondition] {
    /// Whether all conditions of the list hold.
    package func hold(_ variables: Variables) -> Bool {
        isEmpty || allSatisfy { $0.holds(variables) }
    }

    /// Parses comparisons such as `unlocked == 1 and mode != "boot"`.
    ///
    /// If they are invalid, reports an issue and returns an empty list.
    static func read(_ text: String, at node: YAMLNode, in scope: FieldScope, _ reader: FormatReader) -> Self
    {
        let errorsBefore = reader.errorCount
        let conditions = parts(of: text).compactMap { part -> VariableCondition? in
            guard let (name, comparison, operand) = Comparison.parts(of: part) else {
                reader.error(
                    at: node,
                    """
                    when compares variables, as in unlocked == 1 and mode != "boot", and \
                    \(Words.quote(part)) is no comparison
                    """)
                return nil
            }
            return condition(name, comparison, operand, at: node, in: scope, reader)
        }
        return reader.errorCount == errorsBefore ? conditions : []
    }

    /// Splits a text at each word `and` that is not in quotation marks.
    private static func parts(of text: String) -> [String] {
        var (parts, isQuoted): ([[Substring]], Bool) = ([[]], false)
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if word == "and", !isQuoted {
                parts.append([])
            } else {
                parts[parts.count - 1].append(word)
                if word.count(where: { $0 == "\"" }) % 2 == 1 { isQuoted.toggle() }
            }
        }
        return parts.map { $0.joined(separator: " ").trimmed }
    }

    /// Parses one comparison, such as `power > 200` or `mode == "boot"`.
    private static func condition(
        _ name: String, _ comparison: Comparison, _ operand: String, at node: YAMLNode, in scope: FieldScope,
        _ reader: FormatReader
    ) -> VariableCondition? {
        guard scope.variables[name] != nil else {
            reader.error(at: node, problem(of: name, scope))
            return nil
        }
        if let number = WrittenNumber.decimal(operand) {
            return VariableCondition(name, comparison, .number(number))
        }
        guard operand.count >= 2, operand.first == "\"", operand.last == "\"" else {
            reader.error(
                at: node,
                """
                when compares \(name) with a number, or with a text in quotation marks, as in \
                \(name) == "boot", not with \(Words.quote(operand))
                """)
            return nil
        }
        guard !Comparison.ordering.contains(comparison) else {
            reader.error(at: node, "a text has no order; compare it with == or !=")
            return nil
        }
        return VariableCondition(name, comparison, .text(String(operand.dropFirst().dropLast())))
    }

    /// Returns the message for a name that is not a variable, which lists the variables.
    private static func problem(of name: String, _ scope: FieldScope) -> String {
        let known = scope.variables.names
        if scope.layout?.names.contains(name) == true {
            return "\(Words.quote(name)) is a field of the value, and when compares variables: use match"
        }
        guard !known.isEmpty else {
            return "there is no variable \(Words.quote(name)); the profile has no variables"
        }
        let near = Words.near(name, among: known)
        let list =
            known.count > 12 || known.count == 1 && !near.isEmpty ? "" : "; known are \(Words.list(known))"
        return "unknown variable \(Words.quote(name))\(list)\(near)"
    }
}
