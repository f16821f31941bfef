/// A request to the API, after its route was found.
struct APICall: Sendable {
    let route: Route
    let request: HTTPRequest
    let parameters: [String: [String]]

    /// The members of the body.
    func body() throws(ControlProblem) -> ControlBody {
        try ControlBody(parsing: request.body, known: route.body?.members ?? [])
    }

    /// The text of a parameter in the path.
    func parameter(_ name: String) -> String { parameters[name, default: []].joined(separator: "/") }
}
