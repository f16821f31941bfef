import MynahCore

// Values that are compared by size, as in `{">=": 60}`.
extension ProfileDecoder {
    /// A comparison as it is written.
    struct WrittenComparison {
        let comparison: Comparison
        /// The sign's place.
        let key: YAMLNode
        /// The operand.
        let value: YAMLNode
    }

    /// The comparisons in a mapping, of which it needs one.
    mutating func comparisons(_ node: YAMLNode, _ name: String) -> [WrittenComparison] {
        let members = members(node, name)
        if members.isEmpty { error(at: node, "\(name) needs a comparison, as in {\">=\": 60}") }
        return members.compactMap { key, value in
            guard let sign = text(key, "a comparison") else { return nil }
            guard let comparison = Comparison(ordering: sign) else {
                let known = Self.list(Comparison.ordering.map(\.rawValue))
                error(at: key, "\(name) has no comparison \(Self.quote(sign)); known are \(known)")
                return nil
            }
            return WrittenComparison(comparison: comparison, key: key, value: value)
        }
    }
}
