import MynahSupport

/// A JSON Schema (draft 2020-12) of a value, as the members of a JSON object.
struct Schema: Sendable {
    var members: [JSON.Member]

    init(_ members: [JSON.Member] = []) {
        self.members = members
    }

    var json: JSON { .object(members) }

    /// Returns the schema with a description for people.
    func described(_ text: String) -> Schema {
        text.isEmpty ? self : Schema([.init("description", .string(text))] + members)
    }

    /// Returns the schema with additional members.
    func with(_ more: [JSON.Member]) -> Schema { Schema(members + more) }

    /// Makes a reference to a definition in the document.
    static func ref(_ name: String) -> Schema { Schema([.init("$ref", .string("#/$defs/\(name)"))]) }

    /// Makes the schema of a value with one of these types; `pattern` applies to texts.
    static func types(_ types: String..., pattern: String? = nil) -> Schema {
        Schema([.init("type", .words(types))]).with(pattern.map { [.init("pattern", .string($0))] } ?? [])
    }

    static func words(_ words: [String]) -> Schema { Schema([.init("enum", .words(words))]) }

    static func constants(_ values: [JSON]) -> Schema { Schema([.init("enum", .array(values))]) }

    /// Makes the schema of an integer, which may also be a text: in quotes, or as a key.
    static func integer(_ range: ClosedRange<Int>) -> Schema {
        types("integer", "string", pattern: "^(0[xX][0-9A-Fa-f]+|0|[1-9][0-9]*)$").with([
            .init("minimum", .integer(range.lowerBound)), .init("maximum", .integer(range.upperBound)),
        ])
    }

    static func anyOf(_ choices: [Schema]) -> Schema { Schema([.init("anyOf", .schemas(choices))]) }

    static func oneOf(_ choices: [Schema]) -> Schema { Schema([.init("oneOf", .schemas(choices))]) }

    static func list(of items: Schema, atLeast minimum: Int = 0, isUnique: Bool = false) -> Schema {
        Schema([.init("type", "array"), .init("items", items.json)])
            .with(isUnique ? [.init("uniqueItems", .bool(true))] : [])
            .with(minimum > 0 ? [.init("minItems", .integer(minimum))] : [])
    }

    /// Makes the schema of a mapping whose keys the user chooses.
    static func map(keys: Schema? = nil, to values: Schema? = nil) -> Schema {
        Schema([.init("type", "object")])
            .with(keys.map { [.init("propertyNames", $0.json)] } ?? [])
            .with(values.map { [.init("additionalProperties", $0.json)] } ?? [])
    }

    /// Makes the schema of an object with these properties; `others` is the schema of further properties.
    ///
    /// Without `others`, there can be no further properties.
    static func object(
        _ properties: [(name: String, schema: Schema)], required: [String] = [], others: Others? = nil
    ) -> Schema {
        Schema([.init("type", "object")])
            .with(required.isEmpty ? [] : [.init("required", .words(required))])
            .with([.init("properties", .object(properties.map { .init($0.name, $0.schema.json) }))])
            .with(others.map { [.init("propertyNames", $0.names.json)] } ?? [])
            .with([.init("additionalProperties", others?.values.json ?? .bool(false))])
    }

    /// The schema of further properties of an object, whose names the user chooses.
    struct Others {
        var names: Schema
        var values: Schema
    }

    static func required(_ keys: [String]) -> Schema { Schema([.init("required", .words(keys))]) }
}

extension JSON {
    fileprivate static func schemas(_ schemas: [Schema]) -> JSON { .array(schemas.map(\.json)) }
    fileprivate static func words(_ words: [String]) -> JSON { .array(words.map { .string($0) }) }
}

extension [JSON.Member] {
    /// Returns the members of a schema in which `consequence` applies to values that satisfy `condition`.
    static func when(_ condition: Schema, _ consequence: Schema) -> [JSON.Member] {
        [.init("if", condition.json), .init("then", consequence.json)]
    }
}
