import MynahCore
import MynahSupport
import MynahValues

/// The names to which a value can refer: variables, and in a rule also the fields of the written value.
struct FieldScope {
    var variables = Variables()
    /// The layout of the written value, or `nil` outside of rules and if the layout is not known.
    var layout: ValueLayout?

    /// Example fields of a written value, with which references to fields are checked.
    var written: [NamedField] {
        guard let layout else { return [] }
        return layout.names.compactMap { name in
            FieldRange(name, in: layout).map { NamedField(name, $0.sample) }
        }
    }

    /// Resolves a name; reports an issue and returns `nil` if the name is unknown or ambiguous.
    func operand(_ name: String, at node: YAMLNode, _ reader: FormatReader) -> Reaction.Operand? {
        let fields = layout?.names ?? []
        switch (variables[name] != nil, fields.contains(name)) {
        case (true, false): return .variable(name)
        case (false, true): return .field(name)
        case (true, true):
            reader.error(
                at: node, "\(Words.quote(name)) is a variable and a field of the value: rename the variable")
        case (false, false):
            let known = variables.names + fields
            let what = layout == nil ? "variable" : "variable or field"
            reader.error(
                at: node,
                known.isEmpty
                    ? "there is no variable \(Words.quote(name)); the profile has no variables"
                    : Words.unknown("\(what) \(Words.quote(name))", name, among: known))
        }
        return nil
    }
}

extension FieldRange {
    /// An example of a value that the field can have.
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
