/// A request to the API with its route.
struct APICall: Sendable {
    let route: Route
    let request: HTTPRequest
    let parameters: [String: [String]]

    /// Parses the members of the body.
    func body() throws(ControlProblem) -> ControlBody {
        try ControlBody(parsing: request.body, known: route.body?.members ?? [])
    }

    /// Returns the text of a parameter in the path.
    func parameter(_ name: String) -> String { parameters[name, default: []].joined(separator: "/") }
}
