import MynahCore
import MynahEmulator
import MynahSupport

// Requests that a test answers.
extension ControlAPI {
    func answerRequest(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let answer = try answer(try call.body())
        let name = call.parameter("id")
        let unknown = ControlProblem(404, "there is no request \(ControlProblem.shortened(name))")
        // A number has one spelling, as the document says.
        guard let id = Int(name), id >= 1, String(id) == name else { throw unknown }
        var asked: [ControlledDevice] = []
        for device in run.devices where !asked.contains(where: { $0.emulator === device.emulator }) {
            asked.append(device)
            let isAnswered = try await refusing { () async throws(ControlRefusal) in
                try await device.emulator.answer(id, answer)
            }
            if isAnswered { return .json(.object([])) }
        }
        // It may have ended, and its device be gone.
        throw run.requestNumbers?.refusal(of: id).map { ControlProblem($0) } ?? unknown
    }

    private func answer(_ body: ControlBody) throws(ControlProblem) -> RequestAnswer {
        let hasValue = ["hex", "text", "fields"].contains { body[$0] != nil }
        guard let text = try body.text("error") else { return hasValue ? .value(try value(body)) : .accept }
        guard !hasValue else {
            throw ControlProblem(400, "\"error\" excludes \"hex\", \"text\" and \"fields\"")
        }
        if let error = ATTError(named: text) { return .error(error) }
        let near = NearestName.of(text, among: ATTError.names).map { "; did you mean \"\($0)\"?" } ?? ""
        throw ControlProblem(
            400,
            """
            "error" must be an ATT error, as in "0x80" or "insufficientAuthorization", not \
            \(ControlProblem.shortened(text))\(near)
            """)
    }
}
