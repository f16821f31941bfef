import MynahControl
import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Devices that come and go while a run is under way.
@Suite(.timeLimit(.minutes(15))) struct RunDevicesTests {
    private static let otherApp = RunRig.app.replacing("name: App", with: "name: Other")

    /// A run that devices can be added to.
    private func begun(_ texts: [String] = []) async throws -> RunRig {
        var plan = try RunRig.plan(texts, isControlled: true)
        plan.isServer = texts.isEmpty
        let rig = RunRig(plan)
        try await rig.begun()
        try await until("the radio is chosen") { !rig.session.radios.isEmpty }
        return rig
    }

    private func add(_ text: String, to rig: RunRig) async throws(ControlProblem) -> String {
        guard let folder = try? TemporaryDirectory(), (try? folder.write(text, to: "it.yaml")) != nil else {
            throw ControlProblem(500, "no file could be written")
        }
        return try await rig.session.add(.file("\(folder.path)/it.yaml"), seed: 7)
    }

    private func problem(_ text: String, of rig: RunRig) async -> ControlProblem? {
        do throws(ControlProblem) {
            _ = try await add(text, to: rig)
            return nil
        } catch {
            return error
        }
    }

    private func remove(_ label: String, from rig: RunRig) async throws {
        try await rig.session.remove(try #require(rig.session.devices.first { $0.names.label == label }))
    }

    private func labels(_ rig: RunRig) -> [String] { rig.session.devices.map(\.names.label) }

    @Test func `an added accessory plays on a radio of its own, under a label that is free`() async throws {
        let rig = try await begun([RunRig.lock])
        #expect(try await add(RunRig.lock, to: rig) == "Lock~2")
        #expect(labels(rig) == ["Lock", "Lock~2"])
        let address = try #require(rig.log.address(of: "Lock~2"))
        #expect(address != rig.log.address(of: "Lock"))
        #expect(try await rig.phone(on: "Lock~2").read("2A38") == .success([1]))
        try await remove("Lock", from: rig)
        #expect(try await add(RunRig.lock, to: rig) == "Lock")
        #expect(labels(rig) == ["Lock~2", "Lock"])
        #expect(await rig.end().failure == nil)
    }

    @Test func `apps that are added at the same time share one phone`() async throws {
        let rig = try await begun()
        async let one = add(RunRig.app, to: rig)
        async let other = add(Self.otherApp, to: rig)
        #expect(try await Set([one, other]) == ["App", "Other"])
        let devices = rig.session.devices
        #expect(devices.count == 2 && devices[0].emulator === devices[1].emulator)
        await rig.end()
    }

    @Test func `an app that does not fit to the others leaves the phone as it was`() async throws {
        let rig = try await begun([RunRig.app])
        let problem = await problem(RunRig.app, of: rig)
        #expect(problem?.status == 409)
        #expect(problem?.detail.contains("the name \"App\" is taken by app-file.yaml") == true)
        #expect(labels(rig) == ["App"])
        #expect(try await add(Self.otherApp, to: rig) == "Other")
        await rig.end()
    }

    @Test func `an app does not join a phone that starts, which keeps the apps that it had`() async throws {
        let folder = try TemporaryDirectory()
        let rig = RunRig(
            try RunRig.plan([RunRig.app], isControlled: true),
            radios: try RunRig.missingController(in: folder))
        try await until("the phone starts") { !rig.session.devices.isEmpty }
        let problem = await problem(Self.otherApp, of: rig)
        #expect(problem?.detail == "an app can be added only to a phone that plays")
        #expect(labels(rig) == ["App"])
        await rig.end()
    }

    @Test func `the last app takes its phone along, and the next has a new one`() async throws {
        let rig = try await begun()
        _ = try await add(RunRig.app, to: rig)
        _ = try await add(Self.otherApp, to: rig)
        let phone = try #require(rig.session.devices.first?.emulator)
        try await remove("App", from: rig)
        #expect(labels(rig) == ["Other"] && rig.session.devices.first?.emulator === phone)
        try await remove("Other", from: rig)
        #expect(labels(rig) == [])
        #expect(try await add(RunRig.app, to: rig) == "App")
        #expect(rig.session.devices.first?.emulator !== phone)
        await rig.end()
    }

    @Test func `a device that was removed already is removed again in vain`() async throws {
        let rig = try await begun()
        _ = try await add(RunRig.app, to: rig)
        let device = try #require(rig.session.devices.first)
        async let one: Void = rig.session.remove(device)
        async let other: Void = rig.session.remove(device)
        _ = try await (one, other)
        #expect(labels(rig) == [])
        await rig.end()
    }

    @Test(arguments: [
        ("mynah: 1", 400), ("mynah: 1\nname: A\nservcies: []", 400), ("{", 400),
    ])
    func `a profile that cannot be read is a problem with its places`(text: String, status: Int) async throws
    {
        let rig = try await begun()
        let problem = await problem(text, of: rig)
        #expect(problem?.status == status)
        #expect(problem?.members.first { $0.key == "issues" }?.value.arrayValue?.isEmpty == false)
        #expect(labels(rig) == [])
        await rig.end()
    }

    @Test func `a device whose radio fails is gone, and the run goes on`() async throws {
        var plan = try RunRig.plan([], isControlled: true)
        plan.isServer = true
        let radios = RadioPlan(.hci(try HCITransportAddress(parsing: "unix:/nowhere/controller")))
        let rig = RunRig(plan, radios: radios)
        try await until("the radio is chosen") { !rig.session.radios.isEmpty }
        #expect(await problem(RunRig.lock, of: rig)?.status == 409)
        #expect(labels(rig) == [] && !rig.hasEnded)
        #expect(await rig.end().failure == nil)
    }

    @Test func `a radio that is one has no room for a second device`() async throws {
        let folder = try TemporaryDirectory()
        let rig = RunRig(
            try RunRig.plan([RunRig.lock], isControlled: true),
            radios: try RunRig.missingController(in: folder))
        try await until("the first device starts") { !rig.session.devices.isEmpty }
        let problem = await problem(RunRig.lock, of: rig)
        #expect(problem?.detail.contains("is one radio, and it is in use") == true)
        await rig.end()
    }

    @Test func `a device that is removed while it starts is no failure of the run`() async throws {
        let (clock, folder) = (ManualClock(), try TemporaryDirectory())
        var plan = try RunRig.plan([RunRig.lock], isControlled: true)
        plan.timeout = .seconds(40)
        let rig = RunRig(
            plan, radios: try RunRig.missingController(in: folder), clock: RunClock(clock))
        try await until("the device starts") { !rig.session.devices.isEmpty }
        try await remove("Lock", from: rig)
        #expect(labels(rig) == [])
        // Beside the time in which it has to be ready, the run's own begins when nothing starts any more.
        try await until("the run goes on") {
            clock.pauses.count { $0 == .seconds(40) } == 2 || rig.hasEnded
        }
        #expect(!rig.hasEnded)
        clock.advance(by: .seconds(40))
        #expect(try await rig.ended().failure == nil)
    }

    @Test func `nothing is added to a run that has ended`() async throws {
        let rig = try await begun()
        await rig.end()
        let problem = await problem(RunRig.lock, of: rig)
        #expect(problem?.status == 409 && problem?.detail == "the run is starting or ending; try again")
    }
}
