import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// An app of a history, which notes what reaches it and where it is then.
private final class WatchedApp: AppDelegate, CentralManagerSink {
    struct State {
        var app: App?
        var manager: CentralManager?
        /// The values that came, each of which was sent once.
        var values: [UInt16] = []
        /// The peripherals that it was told are connected.
        var connected: Set<PeripheralIdentifier> = []
        /// Those that were restored, which may be connected already.
        var restored: Set<PeripheralIdentifier> = []
        /// The kinds of what happened, so that a history in which nothing does is found.
        var seen: Set<String> = []
        var broken: [String] = []
    }

    let state = Lock(State())
    let name: String
    let hasMode: Bool
    let restoreIdentifier: String?

    init(_ name: String, hasMode: Bool, restoreIdentifier: String?) {
        self.name = name
        self.hasMode = hasMode
        self.restoreIdentifier = restoreIdentifier
    }

    var rules: AppRules {
        var rules = AppRules()
        if hasMode { rules.backgroundModes = [.bluetoothCentral] }
        return rules
    }

    func app(_ app: App, didFinishLaunching options: LaunchOptions) {
        if options.isInBackground, !hasMode || restoreIdentifier == nil { note("relaunched") }
        let manager = app.assumeIsolated {
            try? $0.makeCentralManager(restoreIdentifier: self.restoreIdentifier, sink: self)
        }
        state.withLock { state in
            (state.app, state.manager, state.connected, state.restored) = (app, manager, [], [])
            state.seen.insert(options.isInBackground ? "relaunched" : "launched")
        }
        if manager == nil { note("it has no manager") }
    }

    func app(_ app: App, didChange change: AppChange) {
        guard case .woken(let kind, _, _) = change else { return }
        if !hasMode { note("woken by \(kind) without the mode") }
        state.withLock { _ = $0.seen.insert("woken by \(kind)") }
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        let app = state.withLock { $0.app }
        let place = app?.assumeIsolated { $0.state }
        if place != .foreground, place != .background { note("told of \(event) while \(place as Any)") }
        switch event {
        case .discovered where place == .background && !hasMode: note("it scans in the background")
        case .valueUpdated(let update):
            let number = UInt16(update.value[0]) << 8 | UInt16(update.value[1])
            if state.withLock({ $0.values.contains(number) }) { note("value \(number) came twice") }
            if let last = state.withLock({ $0.values.last }), last > number { note("out of order") }
            state.withLock { $0.values.append(number) }
            saw("value")
        case .willRestoreState(let restored):
            state.withLock { $0.restored = Set(restored.peripherals.map(\.identifier)) }
        case .stateChanged(let new):
            if new != .poweredOn { state.withLock { ($0.connected, $0.restored) = ([], []) } }
        case .connected(let peripheral, let isLocal):
            if !state.withLock({ $0.connected.insert(peripheral.identifier).inserted }) {
                note("connected twice")
            }
            saw(isLocal ? "connected at once" : "connected")
        case .disconnected(let peripheral, let end):
            if !end.wasPending, !state.withLock({ $0.leave(peripheral.identifier) }) {
                note("disconnected twice")
            }
            saw(end.wasPending ? "cancelled" : end.error == nil ? "disconnected" : "lost")
        case .discovered: saw("discovered")
        default: break
        }
        return .none
    }

    /// A read has its answer.
    func answered() { saw("answered") }

    private func saw(_ kind: String) { state.withLock { _ = $0.seen.insert(kind) } }

    private func note(_ broken: String) { state.withLock { $0.broken.append("\(name): \(broken)") } }
}

extension WatchedApp.State {
    /// A peripheral is disconnected; returns whether it can have been connected.
    fileprivate mutating func leave(_ peripheral: PeripheralIdentifier) -> Bool {
        let wasRestored = restored.remove(peripheral) != nil
        return connected.remove(peripheral) != nil || wasRestored
    }
}

extension Phone {
    /// The devices that are to be listened for.
    var wanted: [DeviceAddress] { central.scanner.compose(on: self).listensFor }

    /// The links that nobody holds.
    fileprivate func unheld(_ links: [Peer.ID]) -> [Peer.ID] {
        links.filter { central.connections.ledger.holders(of: $0).isEmpty }
    }
}

/// Histories of two apps with central managers, on a radio without air, judged by rules.
@Suite(.timeLimit(.minutes(15))) struct CentralHistoryTests {
    private static let historyCount: UInt64 = 4000
    private static let partCount: UInt64 = 4
    private static let stepCount = 80

    @Test(arguments: 0..<CentralHistoryTests.partCount)
    func `no history wakes what sleeps on, tells it twice, or leaves a link without a holder`(
        part: UInt64
    ) async throws {
        var seen: Set<String> = []
        for seed in stride(from: part, to: Self.historyCount, by: Int(Self.partCount)) {
            var history = await History(seed: seed)
            let broken = try await history.play()
            #expect(broken == [], "history \(seed)")
            if !broken.isEmpty { return }
            for code in history.codes { seen.formUnion(code.state.withLock { $0.seen }) }
        }
        let wakes = BluetoothEvent.allCases.filter {
            $0.role == .central && $0 != .connectionEvent && $0 != .answered
        }
        let awaited: Set<String> = [
            "launched", "relaunched", "connected", "connected at once", "disconnected", "lost", "cancelled",
            "value", "discovered", "answered",
        ]
        #expect(awaited.union(wakes.map { "woken by \($0)" }).subtracting(seen) == [])
    }

    private struct History {
        var random: SeededGenerator
        let radio = FakeCentralRadio()
        let phone: Phone
        let codes: [WatchedApp]
        let devices = (1...2).map { DeviceAddress(value: $0, kind: .public) }
        var sent: UInt16 = 0
        var isOn = true

        init(seed: UInt64) async {
            random = SeededGenerator(seed: seed)
            phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
            var codes: [WatchedApp] = []
            for name in ["A", "B"] {
                codes.append(
                    WatchedApp(
                        name, hasMode: Bool.random(using: &random),
                        restoreIdentifier: Bool.random(using: &random) ? "id" : nil))
            }
            self.codes = codes
        }

        mutating func play() async throws -> [String] {
            var apps: [App] = []
            for code in codes {
                apps.append(
                    await phone.makeApp(
                        AppDescription(name: code.name, rules: code.rules), delegate: code,
                        clock: ManualClock()))
                await apps.last?.enterForeground()
            }
            try await phone.start()
            let radio = radio
            try await until("the radio's central half runs") { await radio.hasCentral }
            var calls: [Task<Void, Never>] = []
            for _ in 0..<CentralHistoryTests.stepCount { try await step(apps, &calls) }
            let phone = phone
            try await until("each link has a holder or ends") {
                await phone.unheld(radio.linkIDs).isEmpty
            }
            if !isOn { await radio.setPower(true) }
            await radio.releaseReads()
            for app in apps { await app.quit() }
            try await until("nothing is left on the air") {
                await radio.isQuiet
            }
            for call in calls { await call.value }
            await phone.stop()
            return codes.flatMap { $0.state.withLock { $0.broken } }
        }

        private mutating func step(_ apps: [App], _ calls: inout [Task<Void, Never>]) async throws {
            let index = Int.random(in: 0..<2, using: &random)
            let (app, code) = (apps[index], codes[index])
            let manager = code.state.withLock { $0.manager }
            let device = devices.randomElement(using: &random) ?? devices[0]
            let peripheral = await manager?.peripheral(at: device)
            switch Int.random(in: 0..<60, using: &random) {
            case 0..<6: await app.enterForeground()
            case 6..<8: await app.enterBackground()
            case 8..<12: await app.suspend()
            case 12: await app.terminate()
            case 13: await app.crash()
            case 14: await app.quit()
            case 15..<21: if let peripheral { try? await manager?.connect(peripheral) }
            case 21..<23: if let peripheral { await manager?.cancelPeripheralConnection(peripheral) }
            case 23..<30:
                let (radio, phone) = (radio, phone)
                try await until("the radio is asked for a device that is wanted") {
                    guard await phone.wanted.contains(device) else { return true }
                    return await radio.isAsked(for: device)
                }
                await radio.answerAny(device)
            case 30: await radio.lose(device)
            case 31..<39:
                sent += 1
                await radio.send(sent, from: device)
            case 39..<46:
                guard let peripheral, await app.isRunning else { break }
                _ = try? await peripheral.discoverAll()
                guard let rate = await peripheral.characteristic("2A37") else { break }
                try? await peripheral.setNotifyValue(Int.random(in: 0..<4, using: &random) > 0, for: rate)
            case 50..<54:
                guard let location = await peripheral?.characteristic("2A38"), await app.isRunning else {
                    break
                }
                let (radio, before) = (radio, await radio.heldCount)
                // Its answer may come while the app is suspended, or not at all.
                await radio.holdReads()
                calls.append(
                    Task {
                        guard (try? await peripheral?.readValue(for: location)) != nil else { return }
                        code.answered()
                    })
                try await until("the read is on its way") { await radio.heldCount > before }
            case 54..<59: await radio.releaseReads()
            case 46: try? await manager?.scanForPeripherals(withServices: ["180D"])
            case 47: await manager?.stopScan()
            case 48..<50: await radio.hear(device, "03030D18")
            default:
                isOn.toggle()
                await radio.setPower(isOn)
            }
        }
    }
}
