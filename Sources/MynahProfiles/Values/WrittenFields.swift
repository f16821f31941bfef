import MynahCore
package import MynahSupport
package import MynahValues

/// The fields of a value that a test sets: as in a profile, but without generators.
package enum WrittenFields {
    /// Encodes a value with these fields.
    ///
    /// Numbers are in the unit that people use, or are texts with a unit such as `0.83 s`.
    package static func encode(_ json: JSON, in layout: ValueLayout) throws(LayoutProblem) -> [UInt8] {
        let reader = FormatReader(ProfileOrigin(name: "", json: json))
        guard case .object(let members) = json else {
            throw LayoutProblem(nil, "fields is an object, as in {\"heartRate\": 72}")
        }
        var names: Set<String> = []
        for member in members where !names.insert(member.key).inserted {
            throw LayoutProblem(member.key, "\(member.key) is given twice")
        }
        // In JSON, NaN is represented by null.
        let node = YAMLNode(json, null: "nan")
        guard let bytes = FieldsSection(reader: reader).constant(node, in: layout) else {
            throw LayoutProblem(nil, reader.issues.first?.message ?? "the fields do not fit the value")
        }
        return bytes
    }

    /// Parses fields written as in a profile, `{heartRate: 72, contact: true}`, to JSON.
    package static func json(parsing text: String) throws(LayoutProblem) -> JSON {
        guard let source = try? YAMLText(Array(text.utf8)), let json = json(of: YAMLDocument(source)) else {
            throw LayoutProblem(nil, "fields are written as in a profile: {heartRate: 72, contact: true}")
        }
        return json
    }

    private static func json(of document: YAMLDocument) -> JSON? {
        guard document.problems.isEmpty, let root = document.root, case .mapping = root else { return nil }
        return json(of: root)
    }

    private static func json(of node: YAMLNode) -> JSON? {
        switch node {
        case .scalar(let scalar):
            // A number that would be rounded is kept as its text.
            guard scalar.isPlain,
                let json = try? JSON(parsing: Array(scalar.string.utf8), rounding: false)
            else { return .string(scalar.string) }
            return json
        case .sequence(let sequence):
            let values = sequence.compactMap(json)
            return values.count == sequence.count ? .array(values) : nil
        case .mapping(let mapping):
            let members = mapping.compactMap { key, value in
                json(of: value).flatMap { json in key.scalar.map { JSON.Member($0.string, json) } }
            }
            return members.count == mapping.count ? .object(members) : nil
        }
    }
}
