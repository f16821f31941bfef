import MynahSupport

/// Finds out whether a response can be an instance's: anything may listen at the address of a client.
enum AnswerCheck {
    /// Why a response to a request is not one of the API, as the end of a sentence; `nil` if it is one.
    ///
    /// A later version may have more members and words than this one knows.
    static func fault(of response: ControlClient.Response, to request: ControlClient.Request) -> String? {
        guard response.status < 400 else { return nil }
        let path = request.target.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        let routes = Route.all.filter { $0.method == request.method && $0.parameters(of: path) != nil }
        guard let route = routes.first else { return nil }
        let (status, answers) = (response.status, route.answers)
        guard let answer = answers[status] else { return "with status \(status)" }
        let type = response.headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
        let name = type.prefix { $0 != ";" }
        guard name != "application/json" else { return misfit(of: response.body, answer.schema) }
        // A report may be asked for as XML.
        if route.operation == .getReport, name == "application/xml" {
            return JUnitReport.isReport(response.body) ? nil : "with other XML"
        }
        return answer.type == name ? nil : "with \(type.isEmpty ? "no type" : "the type \(type)")"
    }

    private static func misfit(of body: [UInt8], _ schema: Schema) -> String? {
        guard let json = try? JSON(parsing: body) else { return "with what is not JSON" }
        guard let first = SchemaCheck(allowsMore: true).faults(of: json, in: schema).first else { return nil }
        return "with other JSON (\(ControlProblem.shortened(first)))"
    }
}
