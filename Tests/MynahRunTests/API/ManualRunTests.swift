import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Runs whose time moves with the requests of a client only.
@Suite(.timeLimit(.minutes(15))) struct ManualRunTests {
    private static let strap = ManualRig.strap
    private static let phone = ManualRig.phone

    private func time(of event: JSON) throws -> Int64 {
        try #require(WallTime(rfc3339: event["time"]?.stringValue ?? "")).microseconds
    }

    // MARK: Requests and time

    @Test func `time stops between requests`() async throws {
        let rig = try await ManualRig([Self.strap])
        let devices = try await rig.send("GET /v1/devices")
        #expect(devices.json["devices"]?.arrayValue?.first?["advertising"]?["on"] == .bool(true))
        let (start, events) = (rig.now, rig.run.log.lines.count)
        for _ in 0..<50 { try await rig.send("GET /v1/devices/Strap") }
        #expect(rig.now == start && rig.run.log.lines.count == events)
        try await rig.advance("15 min")
        #expect(rig.now == start + .seconds(900))
        // The radio's use is reported each minute.
        #expect(rig.run.log.devices(.radioUsed).count == 15)
        await rig.end()
    }

    @Test func `a request that comes while the devices start is carried out when they are ready`()
        async throws
    {
        let rig = try await ManualRig([Self.strap, Self.phone, RunRig.lock])
        let names = try await rig.send("GET /v1").json["devices"]
        #expect(names == .array(["Strap", "Phone", "Lock"]))
        #expect(rig.run.log.devices(.ready).count == 3)
        await rig.end()
    }

    @Test func `a wait moves the time to its event, or by as much as it may take`() async throws {
        let rig = try await ManualRig([Self.strap, Self.phone])
        let event = try await rig.wait("subscribed device=Strap")
        #expect(try time(of: event) == rig.time.clock.wallMicroseconds)
        let start = rig.now
        let vain = try await rig.send("POST /v1/wait", #"{"match": "write", "within": "20 min"}"#)
        #expect(vain.status == 408 && vain.detail == "no event matched write within 20 min")
        #expect(rig.now == start + .seconds(1200))
        await rig.end()
    }

    @Test func `an app that a value wakes is suspended ten seconds later, to the microsecond`() async throws {
        let rig = try await ManualRig([Self.strap, Self.phone])
        try await rig.wait("subscribed device=Strap")
        try await rig.send("POST /v1/devices/Phone/app", #"{"state": "suspended"}"#)
        try await rig.advance("61234567 us")
        try await rig.send("PUT /v1/devices/Strap/values/180D/2A37", #"{"hex": "0050", "notify": true}"#)
        let woken = try await rig.wait("app.woken device=Phone")
        try await rig.advance("9999999 us")
        #expect(rig.run.log.devices(.appSuspended) == ["Phone"])
        try await rig.advance("1 us")
        #expect(rig.run.log.devices(.appSuspended) == ["Phone", "Phone"])
        #expect(try time(of: woken) + 10_000_000 == rig.time.clock.wallMicroseconds)
        await rig.end()
    }

    @Test func `a scenario is played as far as a wait for its end needs`() async throws {
        let rig = try await ManualRig([
            Self.strap + """

                scenarios:
                  - {name: slow, steps: [{after: 20 min}, {after: 20 min}]}
                """
        ])
        let start = rig.now
        let played = try await rig.send("POST /v1/devices/Strap/scenarios/slow")
        #expect(played.status == 202 && rig.now == start)
        let body = #"{"match": "scenario.ended result=pass", "within": "60 min"}"#
        #expect(try await rig.send("POST /v1/wait", body).status == 200)
        #expect(rig.now == start + .seconds(2400))
        await rig.end()
    }

    // MARK: One history

    /// The events of a run, and its capture.
    private struct Trace: Equatable {
        var events: [String]
        var capture: [UInt8]
    }

    /// Plays a strap and an app, which goes to the background after 9.0037 s; the run ends 30 s later.
    private func trace(_ clock: ClockChoice, seed: UInt64) async throws -> Trace {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/air.pcapng"
        let rig = try await ManualRig(
            [Self.strap, Self.phone], clock, seed: seed, capture: path
        ) { plan in
            guard clock == .fast else { return }
            plan.timeout = .microseconds(39_003_700)
            try plan.add([try PlannedAction(parsing: "9003.7ms=background")], until: [], scenario: nil)
        }
        if clock == .manual {
            try await rig.advance("9003700 us")
            try await rig.send("POST /v1/devices/Phone/app", #"{"state": "background"}"#)
            try await rig.send("GET /v1/devices/Phone")
            try await rig.advance("30 s")
            await rig.end()
        } else {
            #expect(try await rig.run.ended().failure == nil)
        }
        return Trace(events: rig.run.log.lines, capture: try folder.bytes("air.pcapng"))
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `equal requests give equal bytes, as does a fast run that does the same at the same times`(
        seed: UInt64
    ) async throws {
        let first = try await trace(.manual, seed: seed)
        #expect(first.events.count > 15 && first.capture.count > 1000)
        #expect(first.events.contains { $0.contains("app.suspended") })
        #expect(try await trace(.manual, seed: seed) == first)
        #expect(try await trace(.fast, seed: seed) == first)
        #expect(try await trace(.manual, seed: seed + 5) != first)
    }

    // MARK: The end

    @Test func `an interruption in the middle of a long advance ends the run at once`() async throws {
        let rig = try await ManualRig([Self.strap, Self.phone])
        async let answer = rig.send("POST /v1/clock/advance", #"{"by": "500000 min"}"#)
        try await until("time moves") { rig.now > .seconds(60) }
        #expect(await rig.end(by: .quit).failure == nil)
        let stopped = try await answer
        #expect(stopped.status == 408 && stopped.detail.hasSuffix("of 500000 min, because the run ends"))
        #expect(rig.run.log.devices(.advertisingStopped).contains("Strap"))
        // A request that comes too late is answered too.
        #expect(try await rig.send("GET /v1/devices").json["devices"] == .array([]))
    }

    @Test func `a run with a time limit ends in the middle of an advance, at its time`() async throws {
        let rig = try await ManualRig([Self.strap]) { $0.timeout = .seconds(90) }
        let start = rig.now
        let answer = try await rig.send("POST /v1/clock/advance", #"{"by": "60 min"}"#)
        #expect(answer.status == 408 && answer.detail.hasSuffix("because the run ends"))
        #expect(try await rig.run.ended().failure == nil)
        #expect(rig.now >= start + .seconds(90) && rig.now < start + .seconds(92))
    }

    @Test(arguments: [
        ("POST /v1/wait", #"{"match": "read", "within": "1440 min"}"#, "before the wait was cancelled"),
        ("POST /v1/clock/advance", #"{"by": "1440 min"}"#, "because the request was cancelled"),
    ])
    func `a client that goes in the middle of a request ends it, and others are served`(
        line: String, body: String, reason: String
    ) async throws {
        let rig = try await ManualRig([Self.strap, Self.phone])
        let gone = Task { try await rig.send(line, body) }
        try await until("time moves") { rig.now > .seconds(60) }
        // It waits for its turn, and its client goes first.
        let waiting = Task { try await rig.send(line, body) }
        waiting.cancel()
        gone.cancel()
        let answer = try await gone.value
        #expect(answer.status == 408 && answer.detail.hasSuffix(reason), "\(answer.detail)")
        #expect(try await waiting.value.status == 409)
        let stopped = rig.now
        #expect(stopped < .seconds(86_400))
        #expect(try await rig.send("GET /v1/devices").status == 200)
        #expect(rig.now == stopped)
        try await rig.advance("1 s")
        await rig.end()
    }
}
