import MynahSupport

/// Checks that a response comes from an instance of mynah, because another program may listen at the address.
enum AnswerCheck {
    /// Returns the reason that a response does not conform to the API, or `nil` if it conforms.
    ///
    /// The reason is the end of a sentence. A later version of the API may have additional members and
    /// words.
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
        // A report can be requested as XML.
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
