import MynahSupport

/// A method and a path of the API, with their description for the OpenAPI document.
struct Route: Sendable {
    /// A part of a path between two slashes.
    enum Segment: Hashable, Sendable {
        case literal(String)
        /// Any text, as the parameter of this name.
        case parameter(String)
        /// All that follows, one segment or more, as the parameter of this name.
        case rest(String)
    }

    /// The HTTP method.
    var method: String
    /// The path, with `{NAME}` for a parameter and `{NAME*}` for all that follows.
    var path: String
    /// The effect of the request.
    var operation: Operation
    /// A short sentence for the OpenAPI document.
    var summary: String
    /// The schemas of the path's parameters that are not any text, by name.
    var pathSchemas: [String: Schema] = [:]
    /// The query's parameters.
    var query: [Parameter] = []
    /// The request's body, or `nil` if it has none.
    var body: Body?
    /// The answers by status.
    var answers: [Int: Answer]
    /// The segments of the path.
    let segments: [Segment]

    /// A parameter of a query.
    struct Parameter: Sendable {
        var name: String
        var summary: String
        var schema: Schema
    }

    /// A body of a request.
    struct Body: Sendable {
        var schema: Schema
        var example: JSON
        var isRequired = true

        /// The names of its members.
        var members: [String] {
            guard case .object(let properties, _) = schema else { return [] }
            return properties.map(\.name)
        }
    }

    /// A response.
    struct Answer: Sendable {
        var summary: String
        var schema: Schema
        var example: JSON
        var type: String

        init(_ summary: String, _ schema: Schema, example: JSON, type: String = "application/json") {
            self.summary = summary
            self.schema = schema
            self.example = example
            self.type = type
        }

        /// The request is done, and the answer has no content.
        static let empty = Answer("Done", .object([]), example: .object([]))

        /// An error (RFC 9457).
        static func problem(_ summary: String, _ schema: Schema, example: JSON) -> Answer {
            Answer(summary, schema, example: example, type: "application/problem+json")
        }
    }

    init(
        _ method: String, _ path: String, _ operation: Operation, _ summary: String,
        pathSchemas: [String: Schema] = [:], query: [Parameter] = [], body: Body? = nil,
        answers: [Int: Answer]
    ) {
        self.method = method
        self.path = path
        self.operation = operation
        self.summary = summary
        self.pathSchemas = pathSchemas
        self.query = query
        self.body = body
        self.answers = answers
        segments = path.split(separator: "/").map { part in
            guard part.first == "{", part.last == "}" else { return .literal(String(part)) }
            let name = part.dropFirst().dropLast()
            return name.last == "*" ? .rest(String(name.dropLast())) : .parameter(String(name))
        }
    }

    /// The parameters of a path that it names, or `nil` if the path is another one.
    ///
    /// `path` is the segments without their percent-encoding.
    func parameters(of path: [String]) -> [String: [String]]? {
        var found: [String: [String]] = [:]
        var rest = path[...]
        for segment in segments {
            switch segment {
            case .literal(let text):
                guard rest.popFirst() == text else { return nil }
            case .parameter(let name):
                guard let text = rest.popFirst(), !text.isEmpty else { return nil }
                found[name] = [text]
            case .rest(let name):
                guard !rest.isEmpty else { return nil }
                found[name] = Array(rest)
                rest = []
            }
        }
        return rest.isEmpty ? found : nil
    }
}
