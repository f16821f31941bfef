import Mynah
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl
@testable import MynahRun

/// Sends requests to the API, and compares each body with the schema that the route declares.
struct APIRig {
    /// An answer.
    struct Answer {
        var status: Int
        var type: String
        var headers: [HTTPField]
        var text: String
        /// The body, or `null` if it is not JSON.
        var json: JSON
        var detail: String { json["detail"]?.stringValue ?? "" }
    }

    static let lock = RunRig.lock
    static let app = RunRig.app

    let run: RunRig
    private let api: ControlAPI

    /// The API of a run that devices are added to.
    init(
        _ profiles: [String] = [lock], directory: String? = nil, state: StateDirectory? = nil
    ) async throws {
        var plan = RunPlan([], version: "1.2.3")
        plan.isServer = true
        plan.stateDirectory = state
        plan.control = ControlPlan(nil, profiles: ProfileDirectory(directory))
        try await self.init(playing: RunRig(plan))
        try await until("the radio is chosen") { !run.session.radios.isEmpty }
        for text in profiles { try await add(text) }
    }

    /// The API of a run that plays already.
    init(playing run: RunRig) async throws {
        self.run = run
        api = try #require(run.session.api)
    }

    /// Plays a profile of YAML, whose file has its name.
    func add(_ text: String) async throws {
        let file = try TemporaryDirectory()
        let name = try RunRig.profile(text).name.lowercased()
        try file.write(text, to: "\(name)-file.yaml")
        _ = try await run.session.add(.file("\(file.path)/\(name)-file.yaml"), seed: nil)
    }

    /// A phone that is connected to a device.
    func connect(to device: String = "Lock", number: UInt8 = 1) async throws -> TestPhone {
        try await run.phone(on: device, number: number)
    }

    func stop() async { await run.end() }

    /// Sends a request, `METHOD /path?query`, and compares its answer with the route's schema.
    @discardableResult
    func send(
        _ line: String, _ body: String = "", isUnixSocket: Bool = true, accept: String = "application/json",
        at location: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let target = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        let path: [String] = target[0].split(separator: "/").map { String($0).replacing("%20", with: " ") }
        let query = (target.count > 1 ? target[1] : "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
            return HTTPQueryItem(parts[0], parts.count > 1 ? parts[1] : "")
        }
        let request = HTTPRequest(
            method: words[0], path: path, query: query, headers: [HTTPField("Accept", accept)],
            body: Array(body.utf8), isUnixSocket: isUnixSocket)
        let response = await api.answer(request)
        guard case .bytes(let bytes) = response.body else {
            throw ControlProblem(500, "the answer is a stream")
        }
        let answer = Answer(
            status: response.status, type: response.contentType, headers: response.headers,
            text: String(decoding: bytes, as: UTF8.self), json: (try? JSON(parsing: bytes)) ?? .null)
        check(answer, request, location)
        return answer
    }

    private func check(_ answer: Answer, _ request: HTTPRequest, _ location: SourceLocation) {
        let route = Route.all.first { $0.method == request.method && $0.parameters(of: request.path) != nil }
        if answer.status < 400, let body = route?.body {
            let sent = (try? JSON(parsing: request.body)) ?? .object([])
            #expect(SchemaCheck.faults(of: sent, in: body.schema) == [], sourceLocation: location)
        }
        let declared = route?.answers[answer.status]
        if answer.status < 400 { #expect(declared != nil, "\(answer.status)", sourceLocation: location) }
        let type = answer.status < 400 ? declared?.type ?? "" : "application/problem+json"
        // A report is declared in both of its formats.
        guard request.query("format") != "junit" else { return }
        #expect(answer.type.hasPrefix(type), sourceLocation: location)
        let value: JSON = type.hasSuffix("json") ? answer.json : .string(answer.text)
        #expect(
            SchemaCheck.faults(of: value, in: declared?.schema ?? .named("Problem")) == [],
            sourceLocation: location)
        if answer.status >= 400 {
            #expect(answer.json["status"] == .integer(answer.status), sourceLocation: location)
        }
    }
}
