import MynahSupport

/// A method and a path of the API, with their description for the OpenAPI document.
struct Route: Sendable {
    /// A segment of a path.
    enum Segment: Hashable, Sendable {
        case literal(String)
        /// One segment with any text, which is the value of the parameter with this name.
        case parameter(String)
        /// All remaining segments, at least one, which are the value of the parameter with this name.
        case rest(String)
    }

    /// The HTTP method.
    var method: String
    /// The path, with `{NAME}` for a parameter and `{NAME*}` for all remaining segments.
    var path: String
    /// The operation of the request.
    var operation: Operation
    /// A short sentence for the OpenAPI document.
    var summary: String
    /// The schemas of parameters in the path, by the parameter's name.
    ///
    /// A parameter without a schema accepts any text.
    var pathSchemas: [String: Schema] = [:]
    /// The query's parameters.
    var query: [Parameter] = []
    /// The request's body, or `nil` if the request has none.
    var body: Body?
    /// The responses, by their status.
    var answers: [Int: Answer]
    /// The segments of the path.
    let segments: [Segment]

    /// A parameter in the query of a request.
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

        /// The names of the body's members.
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

        /// The response without content that is sent after the request was carried out.
        static let empty = Answer("Done", .object([]), example: .object([]))

        /// Makes an error response (RFC 9457).
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

    /// Returns the parameters in a path by name, or `nil` if the path does not match the route.
    ///
    /// `path` has the segments after percent-decoding.
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
