import MynahSupport

/// A JSON Schema of a body (OpenAPI 3.1, JSON Schema 2020-12).
///
/// A schema describes a body in the OpenAPI document, and checks the bodies of requests.
indirect enum Schema: Hashable, Sendable {
    /// A text; the pattern is a regular expression, which appears only in the document.
    case string(pattern: String? = nil, format: String? = nil)
    /// One of these words.
    case word([String])
    /// An integer within limits.
    case integer(ClosedRange<Int>)
    case number
    /// A number in a request.
    ///
    /// The parser refuses an integer that it would have to round, but accepts 1e30. JSON Schema cannot
    /// distinguish the two, so the document limits both to 64 bits.
    case writtenNumber
    case bool
    /// This value only.
    case constant(JSON)
    case array(Schema, longest: Int? = nil)
    /// An object with these members, and possibly others.
    case object([Property], others: Others = .refused)
    /// A value that conforms to one of these schemas.
    case either([Schema])
    case null
    /// A schema of the document's components, by name.
    case named(String)

    /// The rule for members of an object that are not in its schema.
    enum Others: Hashable, Sendable {
        case refused
        /// Answers may have other members with any value.
        case any
        /// Requests may have other members with any JSON that the parser accepts.
        case written
    }

    /// A member of an object.
    struct Property: Hashable, Sendable {
        var name: String
        var schema: Schema
        var isRequired: Bool

        init(_ name: String, _ schema: Schema, isRequired: Bool = false) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    /// The schema as JSON for the document.
    var json: JSON {
        switch self {
        case .string(let pattern, let format):
            .object(
                [.init("type", "string")]
                    + [
                        pattern.map { .init("pattern", .string($0)) },
                        format.map { .init("format", .string($0)) },
                    ]
                    .compactMap { $0 })
        case .word(let words):
            .object([.init("type", "string"), .init("enum", .array(words.map { .string($0) }))])
        case .integer(let range):
            .object([
                .init("type", "integer"), .init("minimum", .integer(range.lowerBound)),
                .init("maximum", .integer(range.upperBound)),
            ])
        case .number: .object([.init("type", "number")])
        case .writtenNumber:
            .object([
                .init("type", "number"), .init("minimum", .integer(.min)),
                .init("maximum", .unsigned(.max)),
            ])
        case .bool: .object([.init("type", "boolean")])
        case .constant(let value): .object([.init("const", value)])
        case .array(let items, let longest):
            .object(
                [.init("type", "array"), .init("items", items.json)]
                    + (longest.map { [.init("maxItems", .integer($0))] } ?? []))
        case .object(let properties, let others): Self.object(properties, others)
        case .either(let schemas): .object([.init("anyOf", .array(schemas.map(\.json)))])
        case .null: .object([.init("type", "null")])
        case .named(let name): .object([.init("$ref", .string("#/components/schemas/\(name)"))])
        }
    }

    private static func object(_ properties: [Property], _ others: Others) -> JSON {
        let required = properties.filter(\.isRequired).map { JSON.string($0.name) }
        var members: [JSON.Member] = [
            .init("type", "object"),
            .init("properties", .object(properties.map { .init($0.name, $0.schema.json) })),
        ]
        if !required.isEmpty { members.append(.init("required", .array(required))) }
        switch others {
        case .refused: members.append(.init("additionalProperties", .bool(false)))
        case .any: break
        case .written: members.append(.init("additionalProperties", Self.named("Written").json))
        }
        return .object(members)
    }
}
