/// A request whose route is known.
struct APICall: Sendable {
    let route: Route
    let request: HTTPRequest
    let parameters: [String: [String]]

    /// The members of the body.
    func body() throws(ControlProblem) -> ControlBody {
        try ControlBody(parsing: request.body, known: route.body?.members ?? [])
    }

    /// The text of a parameter of the path.
    func parameter(_ name: String) -> String { parameters[name, default: []].joined(separator: "/") }
}
