import Mynah
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl
@testable import MynahRun

/// A reset of a run with the time of `manual`, which begins a new history.
@Suite(.timeLimit(.minutes(15))) struct HistoryTests {
    /// An app that asks the test for a value.
    private static let vault = """
        mynah: 1
        name: Vault
        advertising: {serviceUUIDs: [1810]}
        services:
          - uuid: 1810
            characteristics: [{uuid: 2A19, properties: [read], ask: [read]}]
        """
    private static let reader = """
        mynah: 1
        name: Reader
        app: {backgroundModes: [bluetooth-central]}
        central:
          scan: {services: [1810]}
          peripherals: [{name: Vault, read: [1810/2A19]}]
        """

    /// Plays devices that are added, and returns the journal.
    private func history(_ rig: ManualRig) async throws -> [String] {
        for profile in [ManualRig.strap, ManualRig.phone, Self.vault, Self.reader] {
            try await rig.add(profile)
        }
        try await rig.wait("subscribed device=Strap")
        let asked = try await rig.wait("request.asked")
        #expect(asked["id"] == .integer(1))
        try await rig.send("POST /v1/requests/1/answer", #"{"hex": "2A"}"#)
        try await rig.wait("value.read device=Reader")
        try await rig.send("PUT /v1/devices/Strap/values/180D/2A37", #"{"hex": "0050", "notify": true}"#)
        try await rig.send("POST /v1/mark", #"{"name": "later"}"#)
        try await rig.advance("16 min")
        try await rig.send("POST /v1/devices/Strap/disconnect")
        try await rig.wait("subscribed device=Strap")
        return try await rig.journal()
    }

    @Test func `equal requests after a reset give equal events, after any other history`() async throws {
        let rig = try await ManualRig()
        let first = try await history(rig)
        #expect(first.count > 40 && first[0].hasPrefix(#"{"seq":1,"time":"2026-01-01T00:00:00.0"#))
        #expect(try await rig.send("POST /v1/reset").status == 200)
        #expect(rig.now == .zero)
        #expect(try await rig.send("GET /v1/devices").json["devices"] == .array([]))
        #expect(try await rig.journal() == [])
        try await rig.add(RunRig.lock)
        try await rig.advance("3 min")
        #expect(try await rig.send("POST /v1/reset").status == 200)
        #expect(try await history(rig) == first)
        #expect(try await rig.send("POST /v1/reset", #"{"seed": 8}"#).status == 200)
        #expect(try await history(rig) != first)
        // The seed of the run is the default again.
        #expect(try await rig.send("POST /v1/reset").status == 200)
        #expect(try await history(rig) == first)
        await rig.end()
    }

    @Test func `devices of the command line start anew, with what is planned for them`() async throws {
        let rig = try await ManualRig([ManualRig.strap, ManualRig.phone]) { plan in
            try plan.add([try PlannedAction(parsing: "5s=background")], until: [], scenario: nil)
        }
        func play() async throws -> [String] {
            try await rig.advance("20 s")
            return try await rig.journal()
        }
        let first = try await play()
        #expect(first.contains { $0.contains("app.background") })
        #expect(try await rig.send("DELETE /v1/devices/Strap").status == 200)
        try await rig.add(RunRig.lock)
        #expect(try await rig.send("POST /v1/reset").status == 200)
        #expect(try await rig.send("GET /v1").json["devices"] == .array(["Strap", "Phone"]))
        #expect(try await play() == first)
        await rig.end()
    }

    @Test func `the end of a history is not what a run waits for`() async throws {
        let rig = try await ManualRig([ManualRig.strap]) {
            try $0.add([], until: [try EventMatch(parsing: "advertising.stopped")], scenario: nil)
        }
        #expect(try await rig.send("POST /v1/reset").status == 200)
        try await rig.advance("1 s")
        #expect(!rig.run.hasEnded)
        try await rig.send("POST /v1/devices/Strap/advertise", #"{"on": false}"#)
        #expect(try await rig.run.ended().complaint == nil)
    }

    @Test func `a time limit counts from the beginning of the new history`() async throws {
        let rig = try await ManualRig([ManualRig.strap]) { $0.timeout = .seconds(90) }
        try await rig.advance("60 s")
        #expect(try await rig.send("POST /v1/reset").status == 200)
        try await rig.advance("60 s")
        #expect(!rig.run.hasEnded)
        #expect(try await rig.send("POST /v1/clock/advance", #"{"by": "60 s"}"#).status == 408)
        #expect(try await rig.run.ended().failure == nil)
    }

    @Test func `a capture has a section for each history, and equal histories have equal bytes`() async throws
    {
        let folder = try TemporaryDirectory()
        let rig = try await ManualRig(
            [ManualRig.strap, ManualRig.phone], capture: "\(folder.path)/air.pcapng")
        try await rig.advance("20 s")
        #expect(try await rig.send("POST /v1/reset").status == 200)
        try await rig.advance("20 s")
        // A reset quits apps, too.
        await rig.end(by: .quit)
        let bytes = try folder.bytes("air.pcapng")
        let header = Pcapng.sectionHeader(application: "Mynah 1.2.3")
        let starts = bytes.indices.filter { bytes[$0...].starts(with: header) }
        #expect(starts.count == 2)
        let sections = [bytes[..<starts[1]], bytes[starts[1]...]].map(Array.init)
        // Both end with what the end of the devices sends.
        #expect(sections[0] == sections[1])
    }

    @Test func `a reset of parts goes on with the history`() async throws {
        let rig = try await ManualRig()
        try await rig.add(ManualRig.strap)
        try await rig.advance("10 s")
        #expect(try await rig.send("POST /v1/reset", #"{"values": true}"#).status == 200)
        #expect(try await rig.send("POST /v1/reset", #"{"journal": false}"#).status == 200)
        #expect(rig.now >= .seconds(10))
        #expect(try await rig.send("GET /v1").json["devices"] == .array(["Strap"]))
        let both = try await rig.send("POST /v1/reset", #"{"values": true, "seed": 3}"#)
        #expect(both.status == 400)
        #expect(both.detail == "\"seed\" begins a new history: leave out the parts of the reset")
        await rig.end()
    }

    @Test func `a run whose state is in files does not begin a new history`() async throws {
        let folder = try TemporaryDirectory()
        let rig = try await ManualRig([ManualRig.strap]) { plan in
            plan.stateDirectory = try StateDirectory(path: folder.path)
        }
        let answer = try await rig.send("POST /v1/reset")
        #expect(answer.status == 409)
        #expect(answer.detail.hasPrefix("a new history cannot begin with --state-dir"), "\(answer.detail)")
        #expect(try await rig.send("GET /v1").json["devices"] == .array(["Strap"]))
        await rig.end()
    }

    @Test func `an interruption while a history ends stops the run`() async throws {
        let rig = try await ManualRig([ManualRig.strap, ManualRig.phone])
        try await rig.wait("subscribed device=Strap")
        async let reset = rig.send("POST /v1/reset")
        await rig.end(by: .quit)
        #expect([200, 409].contains(try await reset.status))
    }

    @Test func `a stream has the end of a history and then the next one, with another epoch`() async throws {
        let rig = try await ManualRig([ManualRig.strap, ManualRig.phone])
        try await rig.wait("subscribed device=Strap")
        let api = try #require(rig.run.session.api)
        let request = HTTPRequest(method: "GET", path: ["v1", "events"])
        guard case .stream(let body) = await api.answer(request).body else { return }
        #expect(try await rig.send("POST /v1/reset").status == 200)
        let text = Lock("")
        let task = Task {
            await body(
                HTTPStreamWriter { bytes in
                    text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                    return true
                })
        }
        let last = try #require(try await rig.journal().last.map { try JSON(parsing: Array($0.utf8)) })
        let name = try #require(last["event"]?.stringValue)
        func identifiers() -> [Substring] {
            text.withLock { $0 }.split(separator: "\n").filter { $0.hasPrefix("id: ") }
        }
        try await until("the stream has \(name) of the new history") {
            identifiers().last?.hasSuffix("-\(last["seq"]?.text ?? "")") == true
                && Set(identifiers().map { $0.prefix { $0 != "-" } }).count == 2
        }
        let numbers = identifiers().compactMap { $0.split(separator: "-").last.flatMap { Int($0) } }
        let start = try #require(numbers.lastIndex(of: 1))
        let frames = text.withLock { $0 }.split(separator: "id: ")
        let old = try #require(frames.dropLast(numbers.count - start).last)
        #expect(numbers[..<start].elementsEqual(numbers[0]..<numbers[0] + start))
        // It is from the stop of the device, in the reset.
        #expect(old.contains("event: advertising.stopped"), "\(old)")
        #expect(!text.withLock { $0 }.contains("event: lost"))
        await rig.end()
        await task.value
    }
}
