import MynahControl
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// A run whose time moves only with the requests of a test.
struct ManualRig {
    static let strap = """
        mynah: 1
        name: Strap
        advertising: {serviceUUIDs: [180D], interval: 1 s}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: "0048"}}
              - {uuid: 2A38, properties: [read], value: {hex: "01"}}
        """
    /// An app that subscribes to the strap, in the background too.
    static let phone = """
        mynah: 1
        name: Phone
        app: {backgroundModes: [bluetooth-central]}
        central:
          scan: {services: [180D]}
          peripherals: [{name: Band, subscribe: [180D/2A37], onDisconnect: connect}]
        """

    let run: RunRig
    let time: RunTime
    let api: APIRig

    var now: Duration { time.clock.now.offset }

    /// Plays profiles from the start, or a plan that is changed by `change`, to which requests can be sent.
    init(
        _ profiles: [String] = [], _ clock: ClockChoice = .manual, seed: UInt64 = 7, capture: String? = nil,
        change: (inout RunPlan) throws -> Void = { _ in }
    ) async throws {
        var plan = try RunRig.plan(profiles, isControlled: true)
        plan.seed = seed
        plan.isServer = profiles.isEmpty
        try change(&plan)
        var radios = RadioPlan(.virtual)
        radios.capture = capture.map { .file($0) }
        let time = RunTime(clock, seed: seed)
        self.time = time
        let run = RunRig(plan, radios: radios, time: time)
        self.run = run
        // The start is the first request, and begins with this.
        try await until("the radio is chosen") { !run.session.radios.isEmpty }
        api = try await APIRig(playing: run)
    }

    @discardableResult
    func send(
        _ line: String, _ body: String = "", at location: SourceLocation = #_sourceLocation
    ) async throws -> APIRig.Answer {
        try await api.send(line, body, at: location)
    }

    /// Moves the time, such as by `10 s`.
    func advance(_ time: String) async throws {
        let answer = try await send("POST /v1/clock/advance", #"{"by": "\#(time)"}"#)
        #expect(answer.status == 200, "\(answer.detail)")
        let advanced = try DurationText.parse(answer.json["advanced"]?.stringValue ?? "")
        #expect(try advanced == DurationText.parse(time))
    }

    /// Adds a device of a profile of YAML; returns the name.
    @discardableResult
    func add(_ text: String) async throws -> String {
        let file = try TemporaryDirectory()
        try file.write(text, to: "profile.yaml")
        let answer = try await send("POST /v1/devices", #"{"profile": "\#(file.path)/profile.yaml"}"#)
        #expect(answer.status == 201, "\(answer.detail)")
        return answer.json["device"]?.stringValue ?? ""
    }

    /// Waits for an event, such as `read device=Strap`, and returns it.
    @discardableResult
    func wait(_ match: String, since: Int? = nil) async throws -> JSON {
        let since = since.map { #", "since": \#($0)"# } ?? ""
        let answer = try await send("POST /v1/wait", #"{"match": "\#(match)", "within": "5 min"\#(since)}"#)
        #expect(answer.status == 200, "\(answer.detail)")
        return answer.json["events"]?.arrayValue?.first ?? .null
    }

    /// The lines of the journal.
    func journal() async throws -> [String] {
        try await send("GET /v1/events?since=1").json["events"]?.arrayValue?.map(\.text) ?? []
    }

    @discardableResult
    func end(by cause: Interruption.Cause? = .terminated) async -> RunEnd { await run.end(by: cause) }
}
