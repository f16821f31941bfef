import MynahCore

/// A comparison by order in a profile, such as `{">=": 60}`.
struct WrittenComparison {
    let comparison: Comparison
    /// The node of the operator.
    let key: YAMLNode
    /// The value on the right side.
    let value: YAMLNode

    /// Parses the comparisons in a mapping, which must have at least one.
    static func read(_ node: YAMLNode, _ name: String, _ reader: FormatReader) -> [WrittenComparison] {
        let members = reader.members(node, name)
        if members.isEmpty { reader.error(at: node, "\(name) needs a comparison, as in {\">=\": 60}") }
        return members.compactMap { key, value in
            guard let sign = reader.text(key, "a comparison") else { return nil }
            guard let comparison = Comparison(ordering: sign) else {
                let known = Words.list(Comparison.ordering.map(\.rawValue))
                reader.error(at: key, "\(name) has no comparison \(Words.quote(sign)); known are \(known)")
                return nil
            }
            return WrittenComparison(comparison: comparison, key: key, value: value)
        }
    }
}
