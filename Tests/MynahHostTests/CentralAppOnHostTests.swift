import Mynah
import MynahCore
import MynahHCI
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// An app as a central on our own host, with a device of ours, over the air of one process.
@Suite(.timeLimit(.minutes(15))) struct CentralAppOnHostTests {
    private final class Code: AppDelegate, CentralManagerSink {
        struct State {
            var words: [String] = []
            var manager: CentralManager?
        }

        let state = Lock(State())

        func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
            let manager = try? app.makeCentralManager(sink: self)
            state.withLock { $0.manager = manager }
        }

        func app(_ app: isolated App, didChange change: AppChange) {
            switch change {
            case .suspended: add("suspended")
            case .woken(let kind, _, _): add("woken by \(kind)")
            default: break
            }
        }

        func handle(_ event: CentralManagerEvent) -> RadioAnswer {
            switch event {
            case .stateChanged(let state): add("state \(state)")
            case .discovered(let found): add("discovered \(found.advertisement.localName ?? "")")
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

    /// Starts a phone with an app in the foreground, and returns when its manager is powered on.
    private func start(
        _ code: Code, on rig: CentralRig, backgroundModes: Set<BackgroundMode> = []
    ) async throws -> (Phone, App, CentralManager) {
        let phone = Phone(radio: rig.phone, identity: DeviceIdentity(name: "iPhone"))
        var rules = AppRules()
        rules.backgroundModes = backgroundModes
        let app = await phone.makeApp(
            AppDescription(name: "test", rules: rules), delegate: code, clock: ManualClock())
        await app.enterForeground()
        try await phone.start()
        try await code.wait(for: "state poweredOn")
        return (phone, app, try #require(code.state.withLock { $0.manager }))
    }

    @Test func `a device that appears later wakes the app that waits for it, and so do its values`()
        async throws
    {
        let rig = try await CentralRig(starts: false)
        let code = Code()
        let (phone, app, manager) = try await start(code, on: rig, backgroundModes: [.bluetoothCentral])
        let strap = await manager.peripheral(at: rig.address)
        try await manager.connect(strap)
        await app.suspend()

        try await rig.playDevice()
        try await code.wait(for: "connected")
        try await strap.discoverServices(["180D"])
        let service = try #require(await strap.services.first)
        let rate = try #require(try await strap.discoverCharacteristics(["2A37"], for: service).first)
        try await strap.setNotifyValue(true, for: rate)
        await app.suspend()
        _ = try await rig.device.send([0, 72], of: rig.rate.key, as: .asSubscribed, to: nil)
        try await code.wait(for: "value 0048")
        await app.suspend()
        await rig.device.stop()
        try await code.wait(for: "disconnected")
        #expect(
            code.words == [
                "state poweredOn", "suspended", "woken by connected", "connected", "suspended",
                "woken by notified", "value 0048", "suspended", "woken by disconnected", "disconnected",
            ])
        await phone.stop()
    }

    @Test func `an app whose phone is turned off is told the state alone, and connects again`() async throws {
        let rig = try await CentralRig(starts: false)
        try await rig.playDevice()
        let code = Code()
        let (phone, _, manager) = try await start(code, on: rig)
        let strap = await manager.peripheral(at: rig.address)
        try await manager.connect(strap)
        try await code.wait(for: "connected")
        try await phone.setPower(false)
        try await code.wait(for: "state poweredOff")
        #expect(await strap.state == .disconnected)
        try await until("the device has lost the phone") { rig.sink.words.contains("disconnected") }
        try await phone.setPower(true)
        try await until("the app is told that Bluetooth is on") { code.words.count == 4 }
        try await manager.connect(strap)
        try await until("the app is connected again") { code.words.count == 5 }
        #expect(
            code.words == [
                "state poweredOn", "connected", "state poweredOff", "state poweredOn", "connected",
            ])
        await phone.stop()
        await rig.device.stop()
    }

    @Test func `a background scan hears a device that advertises the service, once`() async throws {
        let rig = try await CentralRig(starts: false)
        try await rig.playDevice()
        let code = Code()
        let (phone, app, manager) = try await start(code, on: rig, backgroundModes: [.bluetoothCentral])
        await app.enterBackground()
        try await manager.scanForPeripherals(
            withServices: ["180D"], options: ScanOptions(allowsDuplicates: true))
        try await code.wait(for: "discovered Mynah")
        await manager.stopScan()
        #expect(code.words == ["state poweredOn", "discovered Mynah"])
        await phone.stop()
        await rig.device.stop()
    }
}
