import Foundation
import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// An app of both roles, which says to a watcher what it is told.
private final class WatchedApp: AppDelegate, CentralManagerSink, PeripheralSink {
    struct State {
        var manager: CentralManager?
        var peripheral: PeripheralManager?
        /// How often it was launched.
        var launches = 0
    }

    let state = Lock(State())
    let modes: Set<BluetoothRole>
    let identifiers: [BluetoothRole: String]
    let level = CharacteristicDefinition(uuid: "2A19", properties: .read)
    private let index: Int
    private let watcher: Lock<PhoneWatcher>

    init(_ index: Int, _ app: PhoneWatcher.App, _ watcher: Lock<PhoneWatcher>) {
        self.index = index
        self.watcher = watcher
        (modes, identifiers) = (app.modes, app.identifiers)
    }

    var description: AppDescription {
        var rules = AppRules()
        if modes.contains(.central) { rules.backgroundModes.insert(.bluetoothCentral) }
        if modes.contains(.peripheral) { rules.backgroundModes.insert(.bluetoothPeripheral) }
        return AppDescription(name: "App \(index)", rules: rules)
    }

    func app(_ app: App, didFinishLaunching options: LaunchOptions) {
        put(
            .launched(
                inBackground: options.isInBackground, central: options.centralRestoreIdentifiers,
                peripheral: options.restoreIdentifiers))
        let made = app.assumeIsolated {
            State(
                manager: try? $0.makeCentralManager(
                    restoreIdentifier: self.identifiers[.central], sink: self),
                peripheral: try? $0.makePeripheralManager(
                    restoreIdentifier: self.identifiers[.peripheral], sink: self))
        }
        state.withLock { state in
            let launches = state.launches + 1
            state = made
            state.launches = launches
        }
    }

    func app(_ app: App, didChange change: AppChange) {
        switch change {
        case .enteredForeground: put(.foreground)
        case .enteredBackground: put(.background)
        case .suspended: put(.suspended)
        case .woken(let kind, _, _): put(.woken(kind))
        case .terminated, .quit: put(.ended)
        case .throttled, .extraneous, .authorizationChanged: break
        }
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        switch event {
        case .willRestoreState(let restored):
            put(.restored(Set(restored.peripherals.map(\.address)), scan: restored.scanServices))
        case .stateChanged(let state): put(.state(state == .poweredOn))
        case .connected(let peripheral, let isLocal):
            put(.event(.connected(peripheral.address, isLocal: isLocal)))
        case .disconnected(let peripheral, let end):
            put(.event(.disconnected(peripheral.address, wasPending: end.wasPending)))
        case .discovered(let discovery):
            put(.event(.discovered(discovery.peripheral.address, content: discovery.data.count)))
        case .valueUpdated(let update):
            put(.event(.value(UInt16(update.value[0]) << 8 | UInt16(update.value[1]))))
        default: break
        }
        return .none
    }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .willRestoreState(let restored):
            put(.peripheralRestored(advertises: restored.advertisement != nil))
        case .stateChanged: put(.peripheralState)
        case .read: put(.event(.read))
        default: break
        }
        return event.wantsResponse ? .answer(.success([7])) : .none
    }

    /// A call of the process of a launch was answered.
    func answered(in launch: Int) { put(.answered(launch: launch)) }

    private func put(_ output: PhoneWatcher.Output) { watcher.withLock { $0.take(output, of: index) } }
}

/// Histories of two apps of both roles, on a radio without air, judged by the rules.
@Suite(.timeLimit(.minutes(15))) struct PhoneHistoryTests {
    /// `make histories` plays all 10,000 of them.
    private static let historyCount =
        ProcessInfo.processInfo.environment["MYNAH_HISTORIES"].flatMap { UInt64($0) } ?? 2500
    private static let partCount: UInt64 = 2
    private static let stepCount = 80

    @Test(arguments: 0..<PhoneHistoryTests.partCount)
    func `no history of two apps with both roles breaks a rule`(part: UInt64) async throws {
        var seen: Set<String> = []
        for seed in stride(from: part, to: Self.historyCount, by: Int(Self.partCount)) {
            var history = History(seed: seed)
            let broken = try await history.play()
            let last = history.watcher.withLock { $0.last.joined(separator: "; ") }
            #expect(broken == [], "history \(seed): \(last)")
            if !broken.isEmpty { return }
            seen.formUnion(history.watcher.withLock { $0.seen })
        }
        guard Self.historyCount >= 2500 else { return }
        // Histories in which half of it never happens would prove nothing.
        let wakes = BluetoothEvent.allCases.filter { $0.role == .central && $0 != .connectionEvent } + [.read]
        let awaited: Set<String> = [
            "launched", "relaunched", "launched to be restored", "restored", "connected", "disconnected",
            "value",
            "discovered", "state", "read",
        ]
        #expect(awaited.union(wakes.map { "woken by \($0)" }).subtracting(seen) == [])
    }

    /// A call of an app's process that waits for an answer, which is held.
    private final class Call: Sendable {
        /// Whether it may be answered.
        struct State {
            /// Answers were let go, so that its own may be on its way.
            var isReleased = false
            /// Its process ended before that.
            var isToFail = false
            var hasEnded = false
        }

        let app: Int
        let launch: Int
        let state = Lock(State())

        init(of app: Int, in launch: Int) {
            (self.app, self.launch) = (app, launch)
        }
    }

    private struct History {
        var random: SeededGenerator
        let radio = FakeCentralRadio()
        let phone: Phone
        let watcher: Lock<PhoneWatcher>
        let codes: [WatchedApp]
        let devices = (1...2).map { DeviceAddress(value: $0, kind: .public) }
        var sent: UInt16 = 0
        var isOn = true
        var calls: [Call] = []
        /// The peripheral that an ended process of each app had.
        var left: [Int: (peripheral: Peripheral, launch: Int)] = [:]

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
            var apps: [PhoneWatcher.App] = []
            for _ in 0..<2 {
                let roles: [BluetoothRole] = [.central, .peripheral]
                let modes = roles.filter { _ in Bool.random(using: &random) }
                let identified = roles.filter { _ in Bool.random(using: &random) }
                apps.append(
                    PhoneWatcher.App(
                        modes: Set(modes),
                        identifiers: Dictionary(uniqueKeysWithValues: identified.map { ($0, $0.rawValue) })))
            }
            let watcher = Lock(PhoneWatcher(apps))
            self.watcher = watcher
            self.random = random
            codes = apps.enumerated().map { WatchedApp($0.offset, $0.element, watcher) }
        }

        mutating func play() async throws -> [String] {
            var apps: [App] = []
            for (index, code) in codes.enumerated() {
                apps.append(await phone.makeApp(code.description, delegate: code, clock: ManualClock()))
                watcher.withLock { $0.take(.user(index, .enterForeground)) }
                await apps.last?.enterForeground()
                watcher.withLock { $0.endStep() }
            }
            watcher.withLock { $0.take(.power(true)) }
            try await phone.start()
            let radio = radio
            try await until("the radio's central half runs") { await radio.hasCentral }
            watcher.withLock { $0.endStep() }
            for _ in 0..<PhoneHistoryTests.stepCount {
                try await step(apps)
                let isBroken = watcher.withLock { watcher in
                    watcher.endStep()
                    return !watcher.broken.isEmpty
                }
                if isBroken { break }
                if Int.random(in: 0..<4, using: &random) == 0 { try await settle() }
            }
            try await settle()
            if !isOn {
                put(.power(true))
                await radio.setPower(true)
            }
            await releaseReads()
            for (index, app) in apps.enumerated() { await carryOut(.quit, index, app) }
            try await until("nothing is left on the air") { await radio.isQuiet }
            let calls = calls
            try await until("every call ends") { calls.allSatisfy { $0.state.withLock { $0.hasEnded } } }
            await phone.stop()
            return watcher.withLock { $0.broken }
        }

        /// Waits until the radio does what the rules have it do.
        private func settle() async throws {
            let due = watcher.withLock { $0.broken.isEmpty ? $0.air : nil }
            guard let due else { return }
            do {
                try await until("the radio does what the rules say: \(due)", limit: PhoneHistoryTests.limit) {
                    await air() == due
                }
            } catch {
                let found = await air()
                watcher.withLock { $0.judge(found) }
            }
        }

        private func air() async -> PhoneWatcher.Air {
            await radio.air(of: codes.map(\.level.key), waitingFor: phone.wanted)
        }

        /// Something happens; all that follows from what happened before has come.
        private func put(_ input: PhoneWatcher.Input) {
            watcher.withLock { watcher in
                watcher.endStep()
                watcher.take(input)
            }
        }

        private mutating func step(_ apps: [App]) async throws {
            let index = Int.random(in: 0..<2, using: &random)
            let (app, code) = (apps[index], codes[index])
            let manager = code.state.withLock { $0.manager }
            let device = devices.randomElement(using: &random) ?? devices[0]
            let peripheral = await manager?.peripheral(at: device)
            switch Int.random(in: 0..<72, using: &random) {
            case 0..<6: await carryOut(.enterForeground, index, app)
            case 6..<8: await carryOut(.enterBackground, index, app)
            case 8..<12: await carryOut(.suspend, index, app)
            case 12..<15:
                let launch = code.state.withLock { $0.launches }
                if let peripheral, await app.isRunning { left[index] = (peripheral, launch) }
                for call in calls where call.app == index {
                    call.state.withLock { if !$0.isReleased { $0.isToFail = true } }
                }
                let ends: [AppTransition] = [.terminate, .crash, .quit]
                await carryOut(ends.randomElement(using: &random) ?? .quit, index, app)
                // Services that are withdrawn and published again are not told apart.
                try await settle()
            case 15..<21:
                guard let peripheral else { break }
                put(.connect(index, device))
                try? await manager?.connect(peripheral)
            case 21..<23:
                guard let peripheral else { break }
                put(.cancel(index, device))
                await manager?.cancelPeripheralConnection(peripheral)
            case 23..<30:
                try await settle()
                guard watcher.withLock({ $0.air.wanted.contains(device) }) else { break }
                put(.heard(device, content: 4))
                // No scan response follows it, which a discovery would wait for.
                await radio.hear(device, "03030D18", .directed)
                let radio = radio
                try await until("the radio is asked for a device that was heard") {
                    await radio.isAnswerable(device)
                }
                put(.linked(device))
                await radio.answerAny(device)
            case 30:
                put(.lost(device))
                await radio.lose(device)
            case 31..<39:
                sent += 1
                put(.value(sent, device))
                await radio.send(sent, from: device)
            case 39..<46:
                guard let peripheral, await app.isRunning else { break }
                _ = try? await peripheral.discoverAll()
                guard let rate = await peripheral.characteristic("2A37") else { break }
                let isOn = Int.random(in: 0..<4, using: &random) > 0
                guard (try? await peripheral.setNotifyValue(isOn, for: rate)) != nil else { break }
                put(.notify(index, device, isOn))
            case 46..<48:
                let services: [BluetoothUUID] = Int.random(in: 0..<3, using: &random) > 0 ? ["180D"] : []
                let allowsDuplicates = Bool.random(using: &random)
                put(.scan(index, services: services, allowsDuplicates: allowsDuplicates))
                try? await manager?.scanForPeripherals(
                    withServices: services, options: ScanOptions(allowsDuplicates: allowsDuplicates))
            case 48:
                put(.stopScan(index))
                await manager?.stopScan()
            case 49..<53:
                let hex = ["03030D18", "03030D18020106"].randomElement(using: &random) ?? ""
                put(.heard(device, content: hex.count / 2))
                await radio.hear(device, hex)
            case 53..<57:
                guard let location = await peripheral?.characteristic("2A38"), await app.isRunning else {
                    break
                }
                try await read(location, of: peripheral, by: app, code)
                // A process that has ended asks as if it lived on.
                if let (old, launch) = left[index], (try? await old.discoverServices()) != nil {
                    code.answered(in: launch)
                }
                guard Bool.random(using: &random) else { break }
                await carryOut(.suspend, index, app)
                await releaseReads()
            case 57..<62: await releaseReads()
            case 62..<64: await advertise(index, app)
            case 64..<69:
                try await settle()
                guard watcher.withLock({ $0.air.published.contains(index) }) else { break }
                put(.read(index))
                let isValue = await radio.read(code.level.key)
                watcher.withLock { $0.answered(index, withValue: isValue) }
            default:
                isOn.toggle()
                put(.power(isOn))
                await radio.setPower(isOn)
            }
        }

        private func releaseReads() async {
            put(.answers)
            for call in calls { call.state.withLock { $0.isReleased = true } }
            await radio.releaseReads()
        }

        private func carryOut(_ transition: AppTransition, _ index: Int, _ app: App) async {
            put(.user(index, transition))
            await app.carryOut(transition)
        }

        /// Its answer may come while the app is suspended, or not at all.
        private mutating func read(
            _ characteristic: DiscoveredCharacteristic, of peripheral: Peripheral?, by app: App,
            _ code: WatchedApp
        ) async throws {
            let index = codes.firstIndex { $0 === code } ?? 0
            let call = Call(of: index, in: code.state.withLock { $0.launches })
            let (radio, before) = (radio, await radio.heldCount)
            await radio.holdReads()
            calls.append(call)
            Task {
                let value = try? await peripheral?.readValue(for: characteristic)
                let isWrong = call.state.withLock { state in
                    state.hasEnded = true
                    return value != nil && state.isToFail
                }
                if isWrong { code.answered(in: call.launch) }
            }
            // An answer to an earlier read may come now; after it the app is suspended, and asks nothing.
            try await until("the read is on its way") {
                if await radio.heldCount > before { return true }
                if call.state.withLock({ $0.hasEnded }) { return true }
                return await !app.isRunning
            }
        }

        private mutating func advertise(_ index: Int, _ app: App) async {
            guard isOn, await app.isRunning, let manager = codes[index].state.withLock({ $0.peripheral })
            else {
                return
            }
            if await manager.isAdvertising, Int.random(in: 0..<3, using: &random) == 0 {
                put(.stopAdvertising(index))
                return await manager.stopAdvertising()
            }
            if await manager.services.isEmpty {
                let service = ServiceDefinition(uuid: "1810", characteristics: [codes[index].level])
                guard (try? await manager.add(service)) != nil else { return }
                put(.publish(index))
            }
            put(.advertise(index))
            var advertisement = Advertisement()
            advertisement.serviceUUIDs = ["1810"]
            _ = try? await manager.startAdvertising(advertisement)
        }
    }

    /// How long the radio may take to do what it is asked for.
    private static let limit = waitLimit
}

extension FakeCentralRadio {
    /// Its current state, with the apps whose value it has.
    fileprivate func air(of values: [AttributeKey], waitingFor wanted: [DeviceAddress]) -> PhoneWatcher.Air {
        let published = values.indices.filter { self.published.contains(values[$0]) }
        // Its requests wait while it is off.
        guard isOn else { return PhoneWatcher.Air(published: Set(published)) }
        return PhoneWatcher.Air(
            wanted: Set(wanted), links: linked, scans: scanning != nil,
            scansFast: scanning?.interval == .milliseconds(40), advertises: advertisement != nil,
            published: Set(published))
    }
}

extension Phone {
    /// The devices that it listens for.
    var wanted: [DeviceAddress] { central.scanner.compose(on: self).listensFor }
}
