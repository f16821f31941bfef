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
        let comparisons: [WrittenComparison] = members.compactMap { key, value in
            guard let sign = reader.text(key, "a comparison") else { return nil }
            guard let comparison = Comparison(ordering: sign) else {
                let known = Words.list(Comparison.ordering.map(\.rawValue))
                reader.error(at: key, "\(name) has no comparison \(Words.quote(sign)); known are \(known)")
                return nil
            }
            return WrittenComparison(comparison: comparison, key: key, value: value)
        }
        warnIfImpossible(comparisons, at: node, name, reader)
        return comparisons
    }

    /// Warns if no number can have all comparisons, as in `{"<": 3, ">": 5}`.
    private static func warnIfImpossible(
        _ comparisons: [WrittenComparison], at node: YAMLNode, _ name: String, _ reader: FormatReader
    ) {
        let numbers = comparisons.compactMap {
            one -> (sign: Comparison, number: WrittenNumber, text: String)? in
            guard let text = one.value.scalar?.string, let number = WrittenNumber(text) else { return nil }
            return (one.comparison, number, text)
        }
        let above = numbers.filter { [.above, .atLeast].contains($0.sign) }
        let below = numbers.filter { [.below, .atMost].contains($0.sign) }
        for low in above {
            for high in below where low.number.unit == high.number.unit {
                let isOne = low.sign == .atLeast && high.sign == .atMost
                guard
                    low.number.number > high.number.number
                        || low.number.number == high.number.number && !isOne
                else { continue }
                let signs = (low.sign.rawValue, high.sign.rawValue)
                let texts = (low.text, high.text)
                reader.warning(
                    at: node.mark,
                    "no \(name) can be \(signs.0) \(texts.0) and \(signs.1) \(texts.1): this never matches")
                return
            }
        }
    }
}
