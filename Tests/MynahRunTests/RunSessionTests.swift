import MynahControl
import MynahCore
import MynahEmulator
import MynahHCI
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// A run from its start to its end.
@Suite(.timeLimit(.minutes(15))) struct RunSessionTests {
    private static func match(_ text: String) throws -> EventMatch { try EventMatch(parsing: text) }

    // MARK: Start and end

    @Test func `devices start in the order of their profiles, and stop when the run is interrupted`()
        async throws
    {
        let rig = RunRig(try RunRig.plan([RunRig.lock, RunRig.app, RunRig.lock]))
        try await rig.begun()
        #expect(rig.log.devices(.ready) == ["Lock", "App", "Lock~2"])
        let end = await rig.end()
        #expect(end.failure == nil && end.complaint == nil && end.report == nil)
        #expect(Set(rig.log.devices(.advertisingStopped)) == ["Lock", "App", "Lock~2"])
        #expect(rig.log.hasEnded)
    }

    @Test func `a run with an air of its own leaves a note while it plays`() async throws {
        let folder = try TemporaryDirectory()
        var plan = try RunRig.plan([RunRig.lock])
        plan.leaveNote = { AirNote.leave(.init(clock: "fast", devices: "Lock"), in: folder.path) }
        let rig = RunRig(plan)
        try await rig.begun()
        #expect(AirNote.contents(in: folder.path).map(\.devices) == ["Lock"])
        #expect(await rig.end().failure == nil)
        #expect(folder.files.isEmpty)
    }

    @Test func `the first device that cannot start ends the run with its error`() async throws {
        let radios = RadioPlan(.hci(try HCITransportAddress(parsing: "unix:/nowhere/controller")))
        let rig = RunRig(try RunRig.plan([RunRig.lock]), radios: radios)
        let end = try await rig.ended()
        #expect(end.failure?.code == .unreachable, "\(String(describing: end.failure))")
        #expect(!rig.log.names.contains(.ready))
    }

    @Test func `a capture that ends before its run is its end's failure`() async throws {
        for (path, code) in [("/dev/full", RadioError.Code.captureFailed), ("/dev/null", nil)] {
            var radios = RadioPlan(.virtual)
            radios.capture = .file(path)
            let rig = RunRig(try RunRig.plan([RunRig.lock]), radios: radios, time: RunTime(.fast, seed: 1))
            try await rig.begun()
            let end = await rig.end()
            #expect(end.failure == nil && end.captureFailure?.code == code)
        }
    }

    @Test func `a capture that cannot be written ends the run before a device starts`() async throws {
        var radios = RadioPlan(.virtual, on: LiveAir(seed: 1))
        radios.capture = .file("/nowhere/air.pcapng")
        let rig = RunRig(try RunRig.plan([RunRig.lock]), radios: radios)
        let end = try await rig.ended()
        #expect(end.failure?.code == .captureFailed)
        #expect(rig.session.devices.isEmpty && rig.log.names == [])
    }

    @Test func `an interruption while a device starts is no failure`() async throws {
        let folder = try TemporaryDirectory()
        let rig = RunRig(
            try RunRig.plan([RunRig.lock, RunRig.app]), radios: try RunRig.missingController(in: folder))
        try await until("the first device starts") { !rig.session.devices.isEmpty }
        let end = await rig.end(by: .quit)
        #expect(end.failure == nil && end.complaint == nil)
        #expect(!rig.log.names.contains(.ready))
    }

    @Test func `a range needs a radio with an air`() async throws {
        let folder = try TemporaryDirectory()
        var plan = try RunRig.plan([RunRig.lock])
        try plan.add([try PlannedAction(parsing: "1s=outOfRange")], until: [], scenario: nil)
        let rig = RunRig(plan, radios: try RunRig.missingController(in: folder))
        let end = try await rig.ended()
        #expect(end.failure?.code == .unsupported)
        #expect(end.failure?.description.contains("are for the virtual radio") == true)
    }

    @Test func `an option of BlueZ is a warning on another radio`() async throws {
        var radios = RadioPlan(.virtual, on: LiveAir(seed: 1))
        radios.namesSubscribers = true
        let rig = RunRig(try RunRig.plan([RunRig.lock]), radios: radios)
        try await rig.begun()
        #expect(rig.log.names.first == .warning)
        await rig.end()
    }

    // MARK: The goal

    @Test func `a run ends with the last of the events that it waits for`() async throws {
        var plan = try RunRig.plan([RunRig.lock])
        try plan.add([], until: [try Self.match("write value=01"), try Self.match("read")], scenario: nil)
        let rig = RunRig(plan)
        try await rig.begun()
        let phone = try await rig.phone(on: "Lock")
        _ = try await phone.read("2A38")
        #expect(!rig.hasEnded)
        // The run may end before the answer.
        _ = try? await phone.write([1])
        let end = try await rig.ended()
        #expect(end.failure == nil && end.complaint == nil)
    }

    @Test func `a run whose time is up names the events that it has not seen`() async throws {
        let clock = ManualClock()
        var plan = try RunRig.plan([RunRig.app])
        plan.timeout = .seconds(10)
        try plan.add(
            [try PlannedAction(parsing: "0s=background")],
            until: [try Self.match("write"), try Self.match("ready")], scenario: nil)
        let rig = RunRig(plan, clock: RunClock(clock))
        // An action that is planned for the start is carried out once the time of the run has begun.
        try await until("the app is in the background") {
            clock.advance(by: .milliseconds(1))
            return rig.log.names.contains(.appBackground)
        }
        try await until("the run has ended") {
            clock.advance(by: .seconds(1))
            return rig.hasEnded
        }
        let end = try await rig.ended()
        #expect(end.failure == nil && end.complaint == "not seen within 10 s: write")
    }

    @Test(arguments: [(10, "not ready within 30 s"), (60, "not ready within 1 min")])
    func `a run that is not ready has 30 s, or its time limit if that is longer`(
        timeout: Int, complaint: String
    ) async throws {
        let (clock, folder) = (ManualClock(), try TemporaryDirectory())
        var plan = try RunRig.plan([RunRig.lock])
        plan.timeout = .seconds(timeout)
        let rig = RunRig(plan, radios: try RunRig.missingController(in: folder), clock: RunClock(clock))
        try await until("the time limit runs") { clock.sleeperCount > 0 }
        clock.advance(by: .milliseconds(max(timeout, 30) * 1000 - 1))
        #expect(!rig.hasEnded)
        clock.advance(by: .milliseconds(1))
        #expect(try await rig.ended().complaint == complaint)
    }

    @Test func `a run that nobody reads any more ends, and says what it waited for`() async throws {
        var plan = try RunRig.plan([RunRig.lock])
        try plan.add([], until: [try Self.match("write")], scenario: nil)
        let rig = RunRig(plan)
        try await rig.begun()
        rig.log.close()
        let end = try await rig.ended()
        #expect(end.complaint == "not seen before standard output was closed: write")
    }

    // MARK: Scenarios

    private static let scenarios =
        RunRig.lock + """

            scenarios:
              - {name: a write, steps: [{await: write, of: 2A39, value: 01}]}
              - {name: no write, steps: [{expect: write, within: 1 ms}]}
            """

    private static func plan(_ scenario: String) throws -> RunPlan {
        var plan = try RunRig.plan([scenarios])
        try plan.add([], until: [], scenario: scenario)
        return plan
    }

    @Test func `a scenario that passes ends the run, with a report`() async throws {
        let plan = try Self.plan("a write")
        #expect(plan.firstReport?.contains("the run ended before the scenario began") == true)
        let rig = RunRig(plan)
        try await rig.begun()
        _ = try? await rig.phone(on: "Lock").write([1])
        let end = try await rig.ended()
        #expect(end.failure == nil && end.complaint == nil)
        let report = try #require(end.report)
        #expect(report.contains(#"tests="1" failures="0" errors="0""#), "\(report)")
        #expect(report.contains(#"classname="Lock" name="a write""#), "\(report)")
    }

    @Test func `a scenario that fails says at which step`() async throws {
        let end = try await RunRig(try Self.plan("no write")).ended()
        let complaint = try #require(end.complaint)
        #expect(complaint.hasPrefix("the scenario \"no write\" failed at step 1: "), "\(complaint)")
        #expect(end.report?.contains(#"failures="1" errors="0""#) == true)
    }

    @Test func `a scenario of a run that is interrupted has not ended`() async throws {
        let rig = RunRig(try Self.plan("a write"))
        try await rig.begun()
        let end = await rig.end()
        let complaint = try #require(end.complaint)
        #expect(
            complaint.hasPrefix("the scenario \"a write\" did not end: the run was interrupted at step 1"),
            "\(complaint)")
        #expect(end.report?.contains(#"failures="0" errors="1""#) == true)
    }

    // MARK: Outputs

    /// An output that takes no events.
    private struct Silence: RunObserver {
        var takesEvents: Bool { false }
        func observe(_ event: DeviceEvent, of device: String?) {}
    }

    @Test func `without an output of events, warnings of the run are messages`() async throws {
        var radios = RadioPlan(.virtual, on: LiveAir(seed: 1))
        radios.namesSubscribers = true
        let messages = Mailbox<String>("messages")
        let interruption = Interruption()
        let session = RunSession(
            try RunRig.plan([RunRig.lock]), radios: radios,
            outputs: RunOutputs([Silence()]) { messages.put($0) }, until: interruption)
        async let end = session.play()
        #expect(
            try await messages.take() == [
                "warning: --name-subscribers is for BlueZ and has no effect on this radio"
            ])
        interruption.interrupt()
        #expect(await end.failure == nil)
    }

    /// Keys that a test presses.
    private final class Keys: RunKeys {
        private let continuation = Lock<AsyncStream<KeyedAction>.Continuation?>(nil)
        let changed = Mailbox<String>("the apps of a phone that have keys")
        let detached = Mailbox<Void>("emulators without keys")

        func attach(_ emulator: Emulator, apps: [String]) -> AsyncStream<KeyedAction>? {
            AsyncStream { made in continuation.withLock { $0 = made } }
        }

        func change(_ emulator: Emulator, apps: [String]) { changed.put(apps.joined(separator: ", ")) }

        func detach(_ emulator: Emulator) { detached.put(()) }

        func type(_ action: KeyedAction) { _ = continuation.withLock { $0 }?.yield(action) }
    }

    @Test func `keys act on apps, until these are removed`() async throws {
        let (keys, log, interruption) = (Keys(), RunLog(), Interruption())
        var outputs = RunOutputs([log]) { _ in }
        outputs.keys = keys
        let session = RunSession(
            try RunRig.plan([RunRig.app]), radios: RadioPlan(.virtual, on: LiveAir(seed: 1)),
            outputs: outputs, until: interruption)
        async let end = session.play()
        try await log.wait(for: .ready)
        keys.type(.action(.transition(.enterBackground), .every))
        try await log.wait(for: .appBackground)
        try await session.remove(try #require(session.devices.first))
        _ = try await keys.detached.take()
        interruption.interrupt()
        #expect(await end.failure == nil)
    }

    @Test func `an app that joins a phone that plays has a key until it is removed`() async throws {
        let (keys, log, interruption) = (Keys(), RunLog(), Interruption())
        var outputs = RunOutputs([log]) { _ in }
        outputs.keys = keys
        let session = RunSession(
            try RunRig.plan([RunRig.app]), radios: RadioPlan(.virtual, on: LiveAir(seed: 1)),
            outputs: outputs, until: interruption)
        async let end = session.play()
        try await log.wait(for: .ready)
        let folder = try TemporaryDirectory()
        try folder.write("{mynah: 1, name: Other, app: {}}", to: "other.yaml")
        #expect(try await session.add(.file(folder.path + "/other.yaml"), seed: nil) == "Other")
        #expect(try await keys.changed.take() == ["App, Other"])
        try await session.remove(try #require(session.devices.last))
        #expect(try await keys.changed.take() == ["App"])
        interruption.interrupt()
        #expect(await end.failure == nil)
    }

    @Test(arguments: [KeyedAction.passkey(123_456), .action(.openAlert, .every)])
    func `pages learn what was typed in a time that moves with requests`(typed: KeyedAction) async throws {
        let (keys, log, interruption) = (Keys(), RunLog(), Interruption())
        var outputs = RunOutputs([log]) { _ in }
        outputs.keys = keys
        let session = RunSession(
            try RunRig.plan([RunRig.app], isControlled: true), radios: RadioPlan(.virtual),
            outputs: outputs, time: RunTime(.manual, seed: 7), until: interruption)
        async let end = session.play()
        try await log.wait(for: .ready)
        let journal = try #require(session.control?.journal)
        // The start of the run is a change, too.
        try await until("the run has started") { journal.changes > 0 }
        let before = journal.changes
        keys.type(typed)
        try await until("the change is noted") { journal.changes > before }
        interruption.interrupt()
        #expect(await end.failure == nil)
    }

    @Test(arguments: [
        ("fast", "nobody can join it", "`mynah ctl"),
        ("manual", "add a device to it with `mynah ctl add`", "nobody"),
    ])
    func `a hint about a run with an air of its own says how to take part`(
        clock: String, way: String, other: String
    ) {
        let hint = AirNote.Content(clock: clock, devices: "Lock", process: 1).hint
        #expect(hint.contains("--clock \(clock)") && hint.contains(way) && !hint.contains(other), "\(hint)")
    }
}
