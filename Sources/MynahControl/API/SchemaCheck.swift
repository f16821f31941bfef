import MynahSupport

/// Checks JSON against a schema of the API.
struct SchemaCheck {
    /// `true` to accept unknown members and words, which a later version of the API may have.
    var allowsMore = false

    /// Returns the differences from the schema, one on each line; empty if the value conforms.
    static func faults(of value: JSON, in schema: Schema) -> [String] {
        SchemaCheck().faults(of: value, in: schema)
    }

    /// Returns the differences from the schema, one on each line; empty if the value conforms.
    ///
    /// `place` is the path of the value in the document.
    func faults(of value: JSON, in schema: Schema, at place: String = "$") -> [String] {
        switch schema {
        case .constant(let constant):
            value == constant ? [] : ["\(place): \(value.text) is not \(constant.text)"]
        case .null: value == .null ? [] : ["\(place): \(value.text) is not null"]
        case .bool: value.boolValue == nil ? ["\(place): \(value.text) is not a Boolean"] : []
        case .number, .writtenNumber:
            isNumber(value) ? [] : ["\(place): \(value.text) is not a number"]
        case .integer(let range):
            value.integerValue.map(range.contains) == true
                ? [] : ["\(place): \(value.text) is not a whole number in \(range)"]
        case .word(let words):
            value.stringValue.map(words.contains) == true
                || allowsMore && value.stringValue != nil
                ? [] : ["\(place): \(value.text) is not in \(words)"]
        case .string(let pattern, _): textFaults(value, pattern, place)
        case .array(let items, let longest): arrayFaults(value, items, longest, place)
        case .object(let properties, let others): objectFaults(value, properties, others, place)
        case .either(let schemas):
            schemas.contains { faults(of: value, in: $0, at: place).isEmpty }
                ? [] : schemas.flatMap { faults(of: value, in: $0, at: place) }
        case .named(let name):
            OpenAPI.schemas.first { $0.name == name }.map { faults(of: value, in: $0.schema, at: place) }
                ?? ["\(place): there is no schema \(name)"]
        }
    }

    private func isNumber(_ value: JSON) -> Bool {
        switch value {
        case .integer, .unsigned, .number: true
        default: false
        }
    }

    private func textFaults(_ value: JSON, _ pattern: String?, _ place: String) -> [String] {
        guard let text = value.stringValue else { return ["\(place): \(value.text) is not text"] }
        guard let pattern, !allowsMore else { return [] }
        guard let expression = try? Regex(pattern) else {
            return ["\(place): the pattern \(pattern) is wrong"]
        }
        return text.firstMatch(of: expression) != nil ? [] : ["\(place): \(text) does not match \(pattern)"]
    }

    private func arrayFaults(
        _ value: JSON, _ items: Schema, _ longest: Int?, _ place: String
    ) -> [String] {
        guard let values = value.arrayValue else { return ["\(place): \(value.text) is not an array"] }
        let length = longest.map { values.count > $0 ? ["\(place): more than \($0) items"] : [] } ?? []
        return length
            + values.enumerated().flatMap { faults(of: $0.element, in: items, at: "\(place)[\($0.offset)]") }
    }

    private func objectFaults(
        _ value: JSON, _ properties: [Schema.Property], _ others: Schema.Others, _ place: String
    ) -> [String] {
        guard case .object(let members) = value else { return ["\(place): \(value.text) is not an object"] }
        let missing = properties.filter { property in
            property.isRequired && !members.contains { $0.key == property.name }
        }
        return missing.map { "\(place): \($0.name) is missing" }
            + members.flatMap { member -> [String] in
                guard let property = properties.first(where: { $0.name == member.key }) else {
                    return others == .refused && !allowsMore
                        ? ["\(place): \(member.key) is not declared"] : []
                }
                return faults(of: member.value, in: property.schema, at: "\(place).\(member.key)")
            }
    }
}
