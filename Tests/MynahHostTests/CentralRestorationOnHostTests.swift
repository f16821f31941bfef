import Mynah
import MynahCore
import MynahHCI
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// A phone whose process ends and that comes back, with a device of ours, over the air of one process.
@Suite(.timeLimit(.minutes(15))) struct CentralRestorationOnHostTests {
    private final class Code: AppDelegate, CentralManagerSink {
        struct State {
            var words: [String] = []
            var app: App?
            var manager: CentralManager?
            var restored: [Peripheral] = []
        }

        let state = Lock(State())

        func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
            let manager = try? app.makeCentralManager(restoreIdentifier: "lock", sink: self)
            state.withLock { ($0.app, $0.manager) = (app, manager) }
            add("launched")
        }

        func app(_ app: isolated App, didChange change: AppChange) {
            if case .woken(let kind, _, _) = change { add("woken by \(kind)") }
        }

        func handle(_ event: CentralManagerEvent) -> RadioAnswer {
            switch event {
            case .willRestoreState(let restored):
                state.withLock { $0.restored = restored.peripherals }
                add("restored")
            case .stateChanged(let state): add("state \(state)")
            case .connected: add("connected")
            case .disconnected: add("disconnected")
            case .valueUpdated(let update): add("value \(Hex.encode(update.value))")
            default: break
            }
            return .none
        }

        private func add(_ word: String) { state.withLock { $0.words.append(word) } }
        var words: [String] { state.withLock { $0.words } }

        func wait(for word: String) async throws {
            try await until("the app has \"\(word)\"") { words.contains(word) }
        }
    }

    private func makePhone(
        _ radio: HostRadio, _ temporary: TemporaryDirectory, _ code: Code, isTerminated: Bool
    ) async throws -> Phone {
        let phone = Phone(
            radio: radio, identity: DeviceIdentity(name: "iPhone"),
            stateDirectory: try StateDirectory(path: temporary.path))
        var rules = AppRules()
        rules.backgroundModes = [.bluetoothCentral]
        let app = await phone.makeApp(
            AppDescription(name: "test", rules: rules, centralRestoreIdentifiers: ["lock"]), delegate: code,
            clock: ManualClock(), isTerminated: isTerminated)
        if !isTerminated { await app.enterForeground() }
        try await phone.start()
        if !isTerminated { try await code.wait(for: "state poweredOn") }
        return phone
    }

    /// The phone of the next process: nothing but the files and the address are the same.
    private func nextRadio(_ rig: CentralRig) -> HostRadio {
        HostRadio(transport: rig.air.transport(ControllerConfiguration(address: rig.phoneAddress)))
    }

    private func subscribe(to strap: Peripheral) async throws {
        let service = try #require(try await strap.discoverServices(["180D"]).first)
        let rate = try #require(try await strap.discoverCharacteristics(["2A37"], for: service).first)
        try await strap.setNotifyValue(true, for: rate)
    }

    @Test
    func `a connection asked for out of range completes when the door is near, after the process is gone`()
        async throws
    {
        let rig = try await CentralRig(starts: false)
        let temporary = try TemporaryDirectory()
        let code = Code()
        let phone = try await makePhone(rig.phone, temporary, code, isTerminated: false)
        let manager = try #require(code.state.withLock { $0.manager })
        let door = await manager.peripheral(at: rig.address)
        try await manager.connect(door)
        await phone.stop()

        let relaunched = Code()
        let next = try await makePhone(nextRadio(rig), temporary, relaunched, isTerminated: true)
        #expect(relaunched.words == [])
        try await rig.playDevice()
        try await relaunched.wait(for: "connected")
        #expect(
            relaunched.words == [
                "launched", "restored", "state poweredOn", "woken by connected", "connected",
            ])
        let again = try #require(relaunched.state.withLock { $0.restored.first })
        #expect(again.identifier == door.identifier)
        #expect(try await again.discoverServices(["180D"]).count == 1)
        await next.stop()
        await rig.device.stop()
    }

    @Test func `a connection asked for out of range completes after the app was terminated`() async throws {
        let rig = try await CentralRig(starts: false)
        let temporary = try TemporaryDirectory()
        let code = Code()
        let phone = try await makePhone(rig.phone, temporary, code, isTerminated: false)
        let manager = try #require(code.state.withLock { $0.manager })
        try await manager.connect(await manager.peripheral(at: rig.address))
        try await #require(code.state.withLock { $0.app }).terminate()
        try await rig.playDevice()
        try await code.wait(for: "connected")
        #expect(
            code.words == [
                "launched", "state poweredOn", "launched", "restored", "state poweredOn",
                "woken by connected", "connected",
            ])
        await phone.stop()
        await rig.device.stop()
    }

    @Test func `a link that was held is wanted by the next process, which discovers its device anew`()
        async throws
    {
        let rig = try await CentralRig(starts: false)
        let temporary = try TemporaryDirectory()
        try await rig.playDevice()
        let code = Code()
        let phone = try await makePhone(rig.phone, temporary, code, isTerminated: false)
        let manager = try #require(code.state.withLock { $0.manager })
        let strap = await manager.peripheral(at: rig.address)
        try await manager.connect(strap)
        try await code.wait(for: "connected")
        try await subscribe(to: strap)
        await phone.stop()
        try await until("the device has lost its subscriber") { rig.sink.words.contains("disconnected") }

        let next = Code()
        let second = try await makePhone(nextRadio(rig), temporary, next, isTerminated: true)
        try await next.wait(for: "connected")
        let again = try #require(next.state.withLock { $0.restored.first })
        // It has no bond, and may have other attributes by now.
        #expect(await again.services == [])
        try await subscribe(to: again)
        try await until("the device has its subscriber again") {
            rig.sink.words.filter { $0.hasPrefix("subscribed") }.count == 2
        }
        // The value may come before the phone hears of its subscription.
        _ = try await rig.device.send([0, 72], of: rig.rate.key, as: .asSubscribed, to: nil)
        try await next.wait(for: "value 0048")
        await second.stop()
        await rig.device.stop()
    }
}
