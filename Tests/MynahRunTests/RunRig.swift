import Mynah
import MynahControl
import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Keeps the events of a run in the order in which they come.
final class RunLog: RunObserver {
    private struct State {
        var events: [DeviceEvent] = []
        var closed: @Sendable () -> Void = {}
        var hasEnded = false
    }

    private let state = Lock(State())

    func onClose(_ closed: @escaping @Sendable () -> Void) {
        state.withLock { $0.closed = closed }
    }

    func observe(_ event: DeviceEvent, of device: String?) {
        state.withLock { $0.events.append(event.named(device)) }
    }

    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// Nobody reads any more.
    func close() { state.withLock { $0.closed }() }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// The events of a name.
    func events(_ name: DeviceEvent.Name) -> [DeviceEvent] {
        state.withLock { $0.events }.filter { $0.name == name }
    }

    /// The devices that the events of a name are of.
    func devices(_ name: DeviceEvent.Name) -> [String] { events(name).map { $0.string("device") ?? "" } }

    /// The address that a device was ready at.
    func address(of device: String) -> String? {
        state.withLock { $0.events }.last { $0.name == .ready && $0.string("device") == device }?
            .string("address")
    }

    /// The events as lines of JSON.
    var lines: [String] { state.withLock { $0.events }.map(\.json.text) }

    var names: [DeviceEvent.Name] { state.withLock { $0.events.map(\.name) } }

    func wait(for name: DeviceEvent.Name, count: Int = 1) async throws {
        try await until("\(name.rawValue) is reported") { devices(name).count >= count }
    }
}

/// A run that is played in the test, on an air of its own.
final class RunRig: Sendable {
    static let lock = """
        mynah: 1
        name: Lock
        security: {io: keyboardOnly}
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: "0048"}}
              - {uuid: 2A38, properties: [read], value: {hex: "01"}}
              - {uuid: 2A39, properties: [read, write], value: {hex: "00"}, maxLength: 2}
        """
    static let app = """
        mynah: 1
        name: App
        app: {backgroundModes: [bluetooth-peripheral]}
        advertising: {localName: Fred, serviceUUIDs: [1810]}
        services:
          - {uuid: 1810, characteristics: [{uuid: 2A19, properties: [read, notify], value: {hex: 64}}]}
        """

    let air: LiveAir
    let log = RunLog()
    /// The messages that are no events.
    let messages = Mailbox<String>("messages")
    let interruption = Interruption()
    let session: RunSession
    private let radioCount: Int
    private let playing: Task<RunEnd, Never>
    private let end = Lock<RunEnd?>(nil)
    private let phones = Lock<[TestPhone]>([])

    /// Plays a plan on an air of its own, or on other radios; in virtual time if there is a `time`.
    init(
        _ plan: RunPlan, radios: RadioPlan? = nil, outputs others: [any RunObserver] = [],
        clock: RunClock = .real, time: RunTime? = nil
    ) {
        let air = LiveAir(seed: 1)
        self.air = air
        radioCount = plan.groups.groups.count
        let outputs = RunOutputs([log] + others) { [messages] in messages.put($0) }
        let session = RunSession(
            plan, radios: radios ?? RadioPlan(.virtual, on: time == nil ? air : nil), outputs: outputs,
            time: time ?? RunTime(clock), until: interruption)
        self.session = session
        playing = Task { [end] in
            let result = await session.play()
            end.withLock { $0 = result }
            return result
        }
    }

    /// A plan of profiles.
    static func plan(_ texts: [String], isControlled: Bool = false) throws -> RunPlan {
        var plan = RunPlan(try texts.map(profile), version: "1.2.3")
        if isControlled { plan.control = ControlPlan(nil, profiles: ProfileDirectory(nil)) }
        return plan
    }

    /// Plays profiles for some seconds of virtual time, with what the folder has; returns the run's events.
    static func playFast(
        _ texts: [String], seconds: Int = 20, actions: [String] = [], in folder: TemporaryDirectory? = nil,
        state: RunState? = nil
    ) async throws -> RunLog {
        let time = RunTime(.fast, seed: 7)
        var plan = try RunRig.plan(texts)
        plan.seed = 7
        plan.timeout = .seconds(seconds)
        plan.state = state
        try plan.add(try actions.map { try PlannedAction(parsing: $0) }, until: [], scenario: nil)
        plan.stateDirectory = try folder.map { try StateDirectory(path: $0.path, clock: time.clock) }
        let log = RunLog()
        let session = RunSession(
            plan, radios: RadioPlan(.virtual), outputs: RunOutputs([log]) { _ in }, time: time,
            until: Interruption())
        let end = await session.play()
        #expect(end.failure == nil, "\(String(describing: end.failure))")
        return log
    }

    /// A radio that waits in a folder for a controller, which does not come.
    static func missingController(in folder: TemporaryDirectory) throws -> RadioPlan {
        RadioPlan(.hci(try HCITransportAddress(parsing: "unix-server:\(folder.path)/controller")))
    }

    /// A profile of YAML, in a file named after it.
    static func profile(_ text: String) throws -> Profile {
        let name = try #require(text.split(separator: "\n").first { $0.hasPrefix("name: ") }?.dropFirst(6))
        return try ProfileLoader.load(text: text, file: "dir/\(name.lowercased())-file.yaml")
    }

    /// A run without devices that does not begin.
    static var unplayed: RunSession {
        RunSession(
            RunPlan([], version: "1.2.3"), radios: RadioPlan(.virtual), outputs: RunOutputs([]) { _ in },
            until: Interruption())
    }

    /// Returns when every device of the plan is ready.
    func begun() async throws {
        try await log.wait(for: .ready, count: radioCount)
    }

    /// Ends the run, unless it ends itself; returns how it ended.
    @discardableResult
    func end(by cause: Interruption.Cause? = .terminated) async -> RunEnd {
        interruption.interrupt(by: cause)
        let end = await playing.value
        for phone in phones.withLock({ $0 }) { await phone.stop() }
        return end
    }

    /// Whether the run has ended.
    var hasEnded: Bool { end.withLock { $0 != nil } }

    /// Returns how the run ended, when it has ended itself.
    func ended() async throws -> RunEnd {
        try await until("the run ends itself") { hasEnded }
        return await end(by: nil)
    }

    /// A phone on the air of the run that is connected to a device; its `number` tells it from others.
    func phone(on device: String, number: UInt8 = 1) async throws -> TestPhone {
        // `ready` may wait for a file.
        try await until("\(device) is ready") { log.address(of: device) != nil }
        let phone = try await TestPhone(on: air, number: number)
        phones.withLock { $0.append(phone) }
        try await phone.connect(to: try #require(log.address(of: device)))
        return phone
    }
}
