import MynahSupport
import Testing

@testable import MynahControl

/// The table of requests, and the OpenAPI document that is made from it.
@Suite struct RouteTests {
    private static let document = OpenAPI.document(version: "1.2.3")

    /// The operations of the document, with their paths and methods.
    private static var operations: [(path: String, method: String, operation: JSON)] {
        guard case .object(let paths)? = document["paths"] else { return [] }
        return paths.flatMap { path in
            guard case .object(let methods) = path.value else { return [(String, String, JSON)]() }
            return methods.map { (path.key, $0.key, $0.value) }
        }
    }

    /// Every object in a value, and the value itself if it is one.
    private static func objects(in value: JSON) -> [JSON] {
        switch value {
        case .object(let members): [value] + members.flatMap { objects(in: $0.value) }
        case .array(let items): items.flatMap(objects)
        default: []
        }
    }

    /// The names of the schemas that a schema refers to.
    private static func names(in schema: Schema) -> [String] {
        switch schema {
        case .named(let name): [name]
        case .array(let items, _): names(in: items)
        case .object(let properties, let others):
            properties.flatMap { names(in: $0.schema) } + (others == .written ? ["Written"] : [])
        case .either(let schemas): schemas.flatMap(names)
        default: []
        }
    }

    // MARK: Routes

    @Test(arguments: Operation.allCases)
    func `every operation has one route`(operation: Operation) {
        #expect(Route.all.count { $0.operation == operation } == 1)
    }

    @Test func `no method and path are there twice`() {
        let keys = Route.all.map { "\($0.method) \($0.path)" }
        #expect(Set(keys).count == keys.count)
    }

    @Test(arguments: Route.all)
    func `a route finds the parameters of its path, and no other route of its method takes it`(route: Route) {
        let segments = route.segments.flatMap { segment -> [String] in
            switch segment {
            case .literal(let text): [text]
            case .parameter(let name): ["a \(name)/é~2"]
            case .rest: ["180D", "2A37~2", "2902"]
            }
        }
        var expected: [String: [String]] = [:]
        for segment in route.segments {
            switch segment {
            case .literal: break
            case .parameter(let name): expected[name] = ["a \(name)/é~2"]
            case .rest(let name): expected[name] = ["180D", "2A37~2", "2902"]
            }
        }
        #expect(route.parameters(of: segments) == expected)
        let takers = Route.all.filter { $0.method == route.method && $0.parameters(of: segments) != nil }
        #expect(takers.map(\.operation) == [route.operation])
        #expect(route.parameters(of: Array(segments.dropLast())) == nil || route.path.contains("*"))
    }

    @Test(arguments: Route.all)
    func `a path that is printed from its segments is the route's path`(route: Route) {
        let printed = route.segments.map { segment in
            switch segment {
            case .literal(let text): "/\(text)"
            case .parameter(let name): "/{\(name)}"
            case .rest(let name): "/{\(name)*}"
            }
        }
        #expect(printed.joined() == route.path)
    }

    @Test func `an empty parameter, a missing rest and a longer path are not found`() {
        let device = Route.all.first { $0.operation == .getDevice }
        #expect(device?.parameters(of: ["v1", "devices", ""]) == nil)
        #expect(device?.parameters(of: ["v1", "devices"]) == nil)
        #expect(device?.parameters(of: ["v1", "devices", "lock", "x"]) == nil)
        let value = Route.all.first { $0.operation == .getValue }
        #expect(value?.parameters(of: ["v1", "devices", "lock", "values"]) == nil)
    }

    // MARK: Examples

    @Test(arguments: Route.all)
    func `a route's examples fit its schemas`(route: Route) {
        if let body = route.body {
            #expect(SchemaCheck.faults(of: body.example, in: body.schema) == [])
        }
        for answer in route.answers.values {
            #expect(SchemaCheck.faults(of: answer.example, in: answer.schema) == [])
        }
    }

    @Test func `the example of a problem fits its schema`() {
        #expect(SchemaCheck.faults(of: Examples.problem, in: .named("Problem")) == [])
    }

    @Test func `a match names an event that exists`() {
        let match = Schema.named("Match")
        #expect(SchemaCheck.faults(of: .object([.init("event", "value.read")]), in: match) == [])
        #expect(SchemaCheck.faults(of: .object([.init("event", "value.raed")]), in: match) != [])
    }

    @Test func `the check of schemas finds what does not fit`() {
        let schema = Schema.object([
            .init("a", .integer(1...3), isRequired: true),
            .init("b", .array(.string(pattern: "^x$"), longest: 1)),
        ])
        let wrong: [JSON] = [
            .object([]), .object([.init("a", .integer(4))]), .object([.init("a", "1")]), .array([]),
            .object([.init("a", .integer(1)), .init("c", .null)]),
            .object([.init("a", .integer(1)), .init("b", .array(["y"]))]),
            .object([.init("a", .integer(1)), .init("b", .array(["x", "x"]))]),
        ]
        for value in wrong { #expect(SchemaCheck.faults(of: value, in: schema).count == 1, "\(value.text)") }
        let right = JSON.object([.init("a", .integer(1)), .init("b", .array(["x"]))])
        #expect(SchemaCheck.faults(of: right, in: schema) == [])
        #expect(SchemaCheck.faults(of: .null, in: .either([.null, .bool])) == [])
        #expect(SchemaCheck.faults(of: .null, in: .named("Nothing")) == ["$: there is no schema Nothing"])
    }

    // MARK: The document

    @Test func `the document lists every route and nothing else`() {
        let expected = Route.all.map { "\($0.method.lowercased()) \($0.path.replacing("*}", with: "}"))" }
        #expect(Self.operations.map { "\($0.method) \($0.path)" }.sorted() == expected.sorted())
    }

    @Test func `no two operations have one identifier`() {
        let identifiers = Self.operations.compactMap { $0.operation["operationId"]?.stringValue }
        #expect(Set(identifiers).count == Operation.allCases.count)
        #expect(identifiers.count == Operation.allCases.count)
    }

    @Test func `every reference of the document leads to a schema`() {
        let references = Self.objects(in: Self.document).compactMap { $0["$ref"]?.stringValue }
        #expect(!references.isEmpty)
        let known = OpenAPI.schemas.map { "#/components/schemas/\($0.name)" }
        #expect(Set(references).subtracting(known) == [])
        #expect(Set(known).count == known.count)
    }

    @Test func `every schema is used`() {
        // An error is declared for every operation.
        var used: Set<String> = ["Problem"]
        for route in Route.all {
            if let body = route.body { used.formUnion(Self.names(in: body.schema)) }
            for answer in route.answers.values { used.formUnion(Self.names(in: answer.schema)) }
        }
        var isComplete = false
        while !isComplete {
            let more = OpenAPI.schemas.filter { used.contains($0.name) }.flatMap { Self.names(in: $0.schema) }
            isComplete = used.isSuperset(of: more)
            used.formUnion(more)
        }
        #expect(Set(OpenAPI.schemas.map(\.name)) == used)
    }

    /// A schema of the document, and those that it leads to; each component once.
    private static func schemas(in schema: JSON, _ seen: inout Set<String>) -> [JSON] {
        if let name = schema["$ref"]?.stringValue?.split(separator: "/").last.map(String.init) {
            guard seen.insert(name).inserted else { return [] }
            return schemas(in: document["components"]?["schemas"]?[name] ?? .null, &seen)
        }
        var inner = schema["anyOf"]?.arrayValue ?? []
        if case .object(let properties)? = schema["properties"] { inner += properties.map(\.value) }
        inner += [schema["items"], schema["additionalProperties"]].compactMap { $0 }
        return [schema] + inner.flatMap { schemas(in: $0, &seen) }
    }

    @Test func `each number that a request may have has bounds`() {
        var seen: Set<String> = []
        for (path, method, operation) in Self.operations {
            let content = operation["requestBody"]?["content"]?["application/json"]
            for schema in Self.schemas(in: content?["schema"] ?? .null, &seen) {
                // A keyword that is missing allows any value.
                let needed: [String] =
                    switch schema["type"]?.stringValue {
                    case "number", "integer": ["minimum", "maximum"]
                    case "object": ["additionalProperties"]
                    case "array": ["items"]
                    default: []
                    }
                for key in needed { #expect(schema[key] != nil, "\(method) \(path): \(schema.text)") }
            }
        }
        #expect(seen.contains("Written") && seen.contains("Match"))
    }

    @Test(arguments: [
        "-18446744073709551616", "-9223372036854775809", "-9223372036854775808", "0", "9223372036854775807",
        "9223372036854775808", "18446744073709551615", "18446744073709551616", "18446744073709551617",
    ])
    func `the document allows the whole numbers that the parser takes`(digits: String) throws {
        let bounds = ["minimum", "maximum"].compactMap { Schema.writtenNumber.json[$0]?.text }
            .compactMap { Int128($0) }
        try #require(bounds.count == 2)
        let isAllowed = (bounds[0]...bounds[1]).contains(try #require(Int128(digits)))
        let body = Array(#"{"fields": {"list": [{"number": \#(digits)}]}}"#.utf8)
        #expect(((try? ControlBody.object(parsing: body)) != nil) == isAllowed)
    }

    @Test func `every operation declares an error, and each body has an example`() {
        for (path, method, operation) in Self.operations {
            #expect(
                operation["responses"]?["default"]?["content"]?["application/problem+json"]?["example"]
                    != nil,
                "\(method) \(path)")
            let contents = Self.objects(in: operation).filter { $0["schema"] != nil && $0["in"] == nil }
            #expect(!contents.isEmpty)
            for content in contents { #expect(content["example"] != nil, "\(method) \(path)") }
        }
    }

    @Test func `every parameter of a path is declared`() {
        for route in Route.all {
            let operation = Self.operations.first {
                $0.operation["operationId"]?.stringValue == route.operation.rawValue
            }
            let declared = (operation?.operation["parameters"]?.arrayValue ?? []).filter {
                $0["in"] == "path"
            }
            let names = declared.compactMap { $0["name"]?.stringValue }
            for name in names { #expect(operation?.path.contains("{\(name)}") == true) }
            #expect(names.count == route.path.count { $0 == "{" })
            #expect(Set(route.pathSchemas.keys).isSubset(of: names))
        }
    }

    @Test func `the number of a request is an integer, and other parameters of paths are text`() {
        for (_, _, operation) in Self.operations {
            for parameter in operation["parameters"]?.arrayValue ?? [] where parameter["in"] == "path" {
                let schema = parameter["schema"]
                guard parameter["name"] == "id" else {
                    #expect(schema?.text == #"{"type":"string"}"#)
                    continue
                }
                #expect(schema?["type"] == "integer" && schema?["minimum"] == .integer(1))
            }
        }
    }
}
