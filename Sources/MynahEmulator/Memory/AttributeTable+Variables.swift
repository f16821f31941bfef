import MynahCore
import MynahProfiles
import MynahValues

// The device's variables, and the values that are computed from them.
extension AttributeTable {
    /// Sets the variables, and returns the attributes whose values depend on a changed variable.
    ///
    /// Throws, and changes nothing, if a value cannot be computed from the new variables.
    mutating func setVariables(_ new: Variables) throws(LayoutProblem) -> [AttributeKey] {
        let changed = new.names.filter { new[$0] != variables[$0] }
        guard !changed.isEmpty else { return [] }
        var readers: [(key: AttributeKey, reader: any VariableReader, maximumLength: Int)] = []
        for (key, entry) in entries {
            guard case .computed(let reader) = entry.source, !reader.names.isDisjoint(with: changed) else {
                continue
            }
            readers.append((key, reader, entry.maximumLength))
        }
        readers.sort { $0.key.rawValue < $1.key.rawValue }
        for (_, reader, maximumLength) in readers {
            let count = try reader.value(at: 0, new).count
            guard count <= maximumLength else {
                throw LayoutProblem(
                    nil, "the value has \(count) bytes, and its attribute takes \(maximumLength)")
            }
        }
        variables = new
        return readers.map(\.key)
    }
}
