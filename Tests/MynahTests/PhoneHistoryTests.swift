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
    let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .notify])
    private let rules: PhoneWatcher.App
    private let index: Int
    private let watcher: Lock<PhoneWatcher>

    init(_ index: Int, _ app: PhoneWatcher.App, _ watcher: Lock<PhoneWatcher>) {
        self.index = index
        self.watcher = watcher
        rules = app
    }

    var iOS: IOSVersion { IOSVersion(rules.iOS) }

    var description: AppDescription {
        var app = AppRules()
        if rules.modes.contains(.central) { app.backgroundModes.insert(.bluetoothCentral) }
        if rules.modes.contains(.peripheral) { app.backgroundModes.insert(.bluetoothPeripheral) }
        app.keepsPrivileges = rules.hasLiveActivity && iOS.hasLiveActivityPrivileges
        var description = AppDescription(name: "App \(index)", rules: app)
        description.authorization = rules.authorization
        description.isSceneBased = rules.hasScenes
        return description
    }

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
        put(
            .launched(
                inBackground: options.isInBackground, central: options.centralRestoreIdentifiers,
                peripheral: options.restoreIdentifiers))
        let made = State(
            manager: try? app.makeCentralManager(restoreIdentifier: rules.identifiers[.central], sink: self),
            peripheral: try? app.makePeripheralManager(
                restoreIdentifier: rules.identifiers[.peripheral], sink: self))
        state.withLock { state in
            let launches = state.launches + 1
            state = made
            state.launches = launches
        }
    }

    func app(_ app: isolated App, didChange change: AppChange) {
        switch change {
        case .enteredForeground: put(.foreground)
        case .enteredBackground: put(.background)
        case .suspended: put(.suspended)
        case .woken(let kind, _, _): put(.woken(kind))
        case .terminated, .quit: put(.ended)
        case .authorizationChanged(let new): put(.authorization(new))
        case .throttled, .extraneous: break
        }
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        switch event {
        case .willRestoreState(let restored):
            put(.restored(Set(restored.peripherals.map(\.address)), scan: restored.scanServices))
        case .stateChanged(let state): put(.state(state))
        case .failedToConnect(let peripheral, let error) where error.coreBluetoothCode == 14:
            put(.event(.failed(peripheral.address)))
        case .disconnected(let peripheral, let end) where end.error?.coreBluetoothCode == 14:
            put(.event(.lostBond(peripheral.address)))
        case .connected(let peripheral, let isLocal):
            put(.event(.connected(peripheral.address, isLocal: isLocal)))
        case .disconnected(let peripheral, let end):
            put(.event(.disconnected(peripheral.address, wasPending: end.wasPending)))
        case .connectionEvent(let event, let peripheral):
            put(.event(.peer(peripheral.address, isConnected: event == .peerConnected)))
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
            put(
                .peripheralRestored(
                    advertises: restored.advertisement != nil, subscribers: restored.subscribers.count))
        case .stateChanged: put(.peripheralState)
        case .read: put(.event(.read))
        case .subscribed(_, let central, _):
            put(.event(.subscribed(central.map { Int($0.id.rawValue) } ?? 0)))
        case .unsubscribed(_, let central):
            put(.event(.unsubscribed(central.map { Int($0.id.rawValue) } ?? 0)))
        default: break
        }
        return event.wantsResponse ? .answer(.success([7])) : .none
    }

    /// A call of the process of a launch was answered.
    func answered(in launch: Int) { put(.answered(launch: launch)) }

    private func put(_ output: PhoneWatcher.Output) { watcher.withLock { $0.take(output, of: index) } }
}

/// The phone's screen: what its user would answer, and the alerts on it.
private final class Screen: PhoneSink, PeripheralSink {
    struct State {
        /// Whether the user would accept to pair.
        var accepts = true
        /// How often the user was asked to pair.
        var dialogs = 0
    }

    let state = Lock(State())
    private let watcher: Lock<PhoneWatcher>

    init(_ watcher: Lock<PhoneWatcher>) { self.watcher = watcher }

    func handle(_ event: PhoneEvent) -> RadioAnswer {
        switch event {
        case .peripheralPairing(_, .agree):
            return state.withLock { state in
                state.dialogs += 1
                return .pairing(state.accepts ? .agreed : .declined)
            }
        case .alert(let alert, let step):
            let cause: PhoneWatcher.AlertCause =
                switch alert.cause {
                case .power: .power
                case .connection: .connection
                case .disconnection: .disconnection
                case .notification: .notification
                }
            let step: PhoneWatcher.AlertStep =
                switch step {
                case .shown: .shown
                case .opened: .opened
                case .dismissed: .dismissed
                }
            let index = alert.app == "App 0" ? 0 : 1
            watcher.withLock { $0.take(.alert(cause, alert.address, step), of: index) }
        default: break
        }
        return .none
    }

    /// The phone's own services answer without an app.
    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        event.wantsResponse ? .answer(.success([7])) : .none
    }
}

/// Histories of two apps of both roles, on a radio without air and in virtual time, judged by the rules.
@Suite(.timeLimit(.minutes(15))) struct PhoneHistoryTests {
    /// `make histories` plays more of them.
    private static let historyCount =
        ProcessInfo.processInfo.environment["MYNAH_HISTORIES"].flatMap { UInt64($0) } ?? 10_000
    /// Each part has a thread.
    private static let partCount: UInt64 = 2
    private static let stepCount = 80

    @Test(arguments: 0..<PhoneHistoryTests.partCount)
    func `no history of two apps with both roles breaks a rule`(part: UInt64) async throws {
        var seen: Set<String> = []
        for seed in stride(from: part, to: Self.historyCount, by: Int(Self.partCount)) {
            let (broken, watcher) = try await Self.play(seed)
            #expect(broken == [], "history \(seed): \(watcher.story)")
            if !broken.isEmpty { return }
            seen.formUnion(watcher.seen)
        }
        guard Self.historyCount >= 1000 else { return }
        // Histories in which half of it never happens would prove nothing.
        let wakes =
            BluetoothEvent.allCases.filter { $0.role == .central } + [.read, .subscribe, .unsubscribe]
        #expect(Self.awaited.union(wakes.map { "woken by \($0.rawValue)" }).subtracting(seen) == [])
    }

    private static let awaited: Set<String> = [
        "launched", "relaunched", "relaunched with scenes", "launched to be restored", "restored",
        "connected", "disconnected", "peer", "value", "discovered", "state", "read", "subscribed",
        "unsubscribed", "phone read", "refused", "changed in Settings", "answered", "lostBond", "failed",
        "accepted", "declined", "alert shown", "alert opened", "alert dismissed", "alert of power",
        "alert of connection", "alert of disconnection", "alert of notification", "parameters accepted",
        "parameters rejected", "asked for services", "kept table", "stale table", "channel",
        "forbidden by settings", "forbidden by controlCenter", "forbidden by airplaneMode",
        "forbidden by restart",
    ]

    /// Plays a history to its end, and returns what is wrong with it.
    private static func play(_ seed: UInt64) async throws -> (broken: [String], watcher: PhoneWatcher) {
        let time = VirtualTime(.fast)
        let history = History(seed: seed, time)
        let broken: [String] = try await waiting(for: "the end of history \(seed)") { waiter in
            Task(executorPreference: time.executor) {
                var history = history
                do {
                    waiter.resume(returning: try await history.play())
                } catch {
                    waiter.resume(returning: ["the history ends with \(error)"])
                }
            }
            // With nothing left to do the time moves on, and this is far beyond the end of any history.
            time.schedule(at: .seconds(3600)) { waiter.resume(returning: ["the history hangs"]) }
        }
        time.end()
        return (broken, history.watcher.withLock { $0 })
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
        let time: VirtualTime
        let radio: FakeCentralRadio
        let phone: Phone
        let watcher: Lock<PhoneWatcher>
        let codes: [WatchedApp]
        let screen: Screen
        /// A value of the phone's own services, and what keeps them.
        let own = CharacteristicDefinition(uuid: "2A19", properties: .read)
        var ownManager: PeripheralManager?
        /// How many names devices have been given.
        var nameCount = 0
        let devices = (1...2).map { DeviceAddress(value: $0, kind: .public) }
        var sent: UInt16 = 0
        var isOn = true
        /// Whether the phone restarted and has not been unlocked.
        var isLocked = false
        /// How Bluetooth was turned off last.
        var offCause = PhoneWatcher.PowerCause.controlCenter
        var apps: [App] = []
        var calls: [Call] = []
        var channels: [any L2CAPChannel] = []
        /// The peripheral that an ended process of each app had.
        var left: [Int: (peripheral: Peripheral, launch: Int)] = [:]

        init(seed: UInt64, _ time: VirtualTime) {
            var random = SeededGenerator(seed: seed)
            let apps = (0..<2).map { _ in Self.app(&random) }
            let watcher = Lock(PhoneWatcher(apps))
            self.watcher = watcher
            self.time = time
            radio = FakeCentralRadio(time)
            screen = Screen(watcher)
            phone = Phone(
                radio: radio, identity: DeviceIdentity(name: "iPhone"), seed: seed, clock: RunClock(time),
                sink: screen)
            self.random = random
            codes = apps.enumerated().map { WatchedApp($0.offset, $0.element, watcher) }
        }

        private static func app(_ random: inout SeededGenerator) -> PhoneWatcher.App {
            let roles: [BluetoothRole] = [.central, .peripheral]
            let modes = roles.filter { _ in Bool.random(using: &random) }
            let identified = roles.filter { _ in Bool.random(using: &random) }
            var app = PhoneWatcher.App(
                modes: Set(modes),
                identifiers: Dictionary(uniqueKeysWithValues: identified.map { ($0, $0.rawValue) }))
            app.iOS = [10, 18, 26].randomElement(using: &random) ?? 18
            app.hasLiveActivity = Int.random(in: 0..<4, using: &random) == 0
            app.hasScenes = Int.random(in: 0..<4, using: &random) == 0
            if Int.random(in: 0..<4, using: &random) == 0 {
                app.authorization = BluetoothAuthorization.allCases.randomElement(using: &random) ?? .denied
            }
            return app
        }

        mutating func play() async throws -> [String] {
            try await begin()
            for _ in 0..<PhoneHistoryTests.stepCount {
                try await step()
                let isBroken = watcher.withLock { watcher in
                    watcher.endStep()
                    return !watcher.broken.isEmpty
                }
                if isBroken { break }
                if Int.random(in: 0..<4, using: &random) == 0 { try await settle() } else { await pause() }
            }
            return try await end()
        }

        private mutating func begin() async throws {
            let service = ServiceDefinition(uuid: "180F", characteristics: [own])
            ownManager = await PhoneControl.makeOwnManager(of: [service], sink: screen, on: phone)
            await radio.setBond(.absent, with: devices[1])
            await radio.addHiddenServices()
            for (index, code) in codes.enumerated() {
                apps.append(await phone.makeApp(code.description, delegate: code, clock: RunClock(time)))
                watcher.withLock { $0.take(.user(index, .enterForeground)) }
                await apps.last?.enterForeground()
                watcher.withLock { $0.endStep() }
            }
            watcher.withLock { $0.take(.power(true)) }
            try await phone.start()
            try await idle()
            watcher.withLock { $0.endStep() }
        }

        private mutating func end() async throws -> [String] {
            try await settle()
            if !isOn { await togglePower() }
            await releaseReads()
            for index in apps.indices { await carryOut(.quit, index) }
            try await idle()
            var broken = watcher.withLock { watcher in
                watcher.endStep()
                return watcher.broken
            }
            if await !radio.isQuiet { broken.append("after the end of both apps the radio is at work") }
            if !calls.allSatisfy({ $0.state.withLock { $0.hasEnded } }) {
                broken.append("after the end of both apps a call of theirs waits")
            }
            await phone.stop()
            return broken
        }

        // MARK: Waits

        /// Returns when nothing is left to do.
        private func idle() async throws { try await time.sleep(until: time.now + .milliseconds(1)) }

        /// Gives the phone a few turns, so that the next step comes in the middle of its work.
        private mutating func pause() async {
            for _ in 0..<Int.random(in: 0..<6, using: &random) { await Task.yield() }
        }

        /// Waits until nothing is left to do; then the radio does what the rules have it do.
        private func settle() async throws {
            try await idle()
            guard let due = watcher.withLock({ $0.broken.isEmpty ? $0.air : nil }) else { return }
            let found = await air(due)
            watcher.withLock { $0.judge(found) }
        }

        private func air(_ due: PhoneWatcher.Air) async -> PhoneWatcher.Air {
            var air = await radio.air(of: codes.map(\.level.key), waitingFor: phone.wanted)
            for (index, names) in due.names {
                let manager = codes[index].state.withLock { $0.manager }
                for device in names.keys {
                    guard let peripheral = await manager?.peripheral(at: device),
                        let name = await peripheral.name
                    else { continue }
                    air.names[index, default: [:]][device] = name
                }
            }
            return air
        }

        /// Something happens; all that follows from what happened before has come.
        private func put(_ input: PhoneWatcher.Input) {
            watcher.withLock { watcher in
                watcher.endStep()
                watcher.take(input)
            }
        }

        /// Whether an app runs, and holds a link to a device.
        private func isLinked(_ index: Int, _ device: DeviceAddress) -> Bool {
            watcher.withLock { $0.apps[index].acts && $0.apps[index].linked.contains(device) }
        }

        // MARK: Steps

        private mutating func step() async throws {
            let index = Int.random(in: 0..<2, using: &random)
            let device = devices.randomElement(using: &random) ?? devices[0]
            let manager = codes[index].state.withLock { $0.manager }
            let peripheral = await manager?.peripheral(at: device)
            switch Int.random(in: 0..<108, using: &random) {
            case 0..<6: await carryOut(.enterForeground, index)
            case 6..<8: await carryOut(.enterBackground, index)
            case 8..<12: await carryOut(.suspend, index)
            case 12..<15:
                await prepareEnd(of: index, peripheral)
                let ends: [AppTransition] = [.terminate, .crash, .quit]
                await carryOut(ends.randomElement(using: &random) ?? .quit, index)
                // Services that are withdrawn and published again are not told apart.
                try await settle()
            case 15..<48: try await act(index, device, manager, peripheral)
            case 48..<51:
                let hex = ["03030D18", "03030D18020106"].randomElement(using: &random) ?? ""
                put(.heard(device, content: hex.count / 2))
                await radio.hear(device, hex)
            case 51..<58: try await link(device)
            case 58:
                put(.lost(device))
                await radio.lose(device)
            case 59..<67:
                sent += 1
                put(.value(sent, device))
                await radio.send(sent, from: device)
            case 67..<72: await releaseReads()
            case 72..<77:
                try await settle()
                guard watcher.withLock({ $0.air.published.contains(index) }) else { break }
                put(.read(index))
                let isValue = await radio.read(codes[index].level.key)
                watcher.withLock { $0.answered(index, withValue: isValue) }
            case 77..<81: try await subscribe(index)
            case 81..<84: await togglePower()
            case 97: try await restart()
            case 84..<86: try await authorize(index, peripheral)
            case 86..<89:
                let isOpened = Bool.random(using: &random)
                put(isOpened ? .openAlert : .dismissAlert)
                if isOpened { await phone.openAlert() } else { await phone.dismissAlert() }
            case 89..<95: try await secure()
            case 95..<97:
                put(.forget(device))
                _ = await PhoneControl.forgetPeripheral(at: device, on: phone)
            default: try await change(device)
            }
        }

        /// An app's code calls its manager or its peripheral.
        private mutating func act(
            _ index: Int, _ device: DeviceAddress, _ manager: CentralManager?, _ peripheral: Peripheral?
        ) async throws {
            guard let manager, let peripheral else { return }
            switch Int.random(in: 0..<36, using: &random) {
            case 0..<7:
                let alerts = Int.random(in: 0..<3, using: &random) > 0
                var options = ConnectOptions()
                (options.notifyOnConnection, options.notifyOnDisconnection) = (alerts, alerts)
                options.notifyOnNotification = alerts
                put(.connect(index, device, alerts: alerts))
                let isDone = (try? await manager.connect(peripheral, options: options)) != nil
                watcher.withLock { $0.called(index, isDone: isDone) }
            case 7..<9:
                put(.cancel(index, device))
                await manager.cancelPeripheralConnection(peripheral)
            case 9..<16: await notify(index, device, peripheral)
            case 16..<18:
                let services: [BluetoothUUID] = Int.random(in: 0..<3, using: &random) > 0 ? ["180D"] : []
                let allowsDuplicates = Bool.random(using: &random)
                put(.scan(index, services: services, allowsDuplicates: allowsDuplicates))
                try? await manager.scanForPeripherals(
                    withServices: services, options: ScanOptions(allowsDuplicates: allowsDuplicates))
            case 18:
                put(.stopScan(index))
                await manager.stopScan()
            case 19..<23: try await read(index, peripheral)
            case 23..<25: await advertise(index)
            case 25..<27: await addReserved(index)
            case 27..<29:
                put(.register(index))
                await manager.registerForConnectionEvents()
            case 29..<33: if isLinked(index, device) { await discover(index, device, peripheral) }
            default:
                guard isLinked(index, device) else { break }
                put(.open(index, device))
                let channel = try? await peripheral.openL2CAPChannel(0x80)
                if let channel { channels.append(channel) }
                watcher.withLock { $0.openedChannel(index, device, isDone: channel != nil) }
            }
        }

        /// A device, or what the phone has to do with it, changes.
        private mutating func change(_ device: DeviceAddress) async throws {
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                // A name that is being read may be the old one or the new.
                try await settle()
                nameCount += 1
                put(.rename(device, "Device \(nameCount)"))
                await radio.setDeviceName("Device \(nameCount)", of: device)
            case 2, 3:
                try await settle()
                let isIndicated = Bool.random(using: &random)
                put(.move(device, isIndicated: isIndicated))
                await radio.moveBattery(of: device, isIndicated: isIndicated)
            case 4, 5: await request(of: device)
            default:
                guard isOn else { break }
                put(.readPhone)
                let isValue = await radio.read(own.key)
                watcher.withLock { $0.phoneAnswered(withValue: isValue) }
            }
        }

        // MARK: The user

        private mutating func carryOut(_ transition: AppTransition, _ index: Int) async {
            // The user who opens an app has unlocked the phone.
            if isLocked, transition == .enterForeground { await unlock() }
            put(.user(index, transition))
            await apps[index].carryOut(transition)
        }

        /// The process of an app is about to end.
        private mutating func prepareEnd(of index: Int, _ peripheral: Peripheral?) async {
            let launch = codes[index].state.withLock { $0.launches }
            if let peripheral, await apps[index].isRunning { left[index] = (peripheral, launch) }
            for call in calls where call.app == index {
                call.state.withLock { if !$0.isReleased { $0.isToFail = true } }
            }
        }

        private mutating func authorize(_ index: Int, _ peripheral: Peripheral?) async throws {
            let all: [BluetoothAuthorization] = [.allowedAlways, .allowedAlways, .denied, .restricted]
            let new = all.randomElement(using: &random) ?? .denied
            if watcher.withLock({ $0.ends(index, by: new) }) == true {
                await prepareEnd(of: index, peripheral)
            }
            put(.authorize(index, new))
            await apps[index].setAuthorization(new)
            try await settle()
        }

        /// Bluetooth is turned off or on; what that means for an app is by its version of iOS.
        private mutating func togglePower() async {
            isOn.toggle()
            if !isOn {
                let causes: [PhoneWatcher.PowerCause] = [.settings, .controlCenter, .airplaneMode]
                offCause = causes.randomElement(using: &random) ?? .settings
            }
            put(.power(isOn, by: offCause))
            let cause: RelaunchCause =
                switch offCause {
                case .settings: .settingsOff
                case .controlCenter, .restart: .controlCenterOff
                case .airplaneMode: .airplaneMode
                }
            for index in apps.indices where isOn && !codes[index].iOS.relaunch(after: cause).allowsRelaunch {
                await Self.forbidRelaunch(of: apps[index], on: phone)
            }
            await radio.setPower(isOn)
        }

        private static func forbidRelaunch(of app: App, on phone: isolated Phone) {
            _ = app.access.forbidRelaunch()
        }

        private mutating func restart() async throws {
            for index in apps.indices {
                let manager = codes[index].state.withLock { $0.manager }
                await prepareEnd(of: index, await manager?.peripheral(at: devices[0]))
            }
            put(.restart)
            isLocked = true
            for app in apps { await Self.restart(app, on: phone) }
            for index in apps.indices where !codes[index].iOS.relaunch(after: .restart).allowsRelaunch {
                await Self.forbidRelaunch(of: apps[index], on: phone)
            }
            for app in apps { await Self.setAwaitsUnlock(true, app, on: phone) }
            if isOn {
                await radio.setPower(false)
                await radio.setPower(true)
            }
            try await settle()
            if Bool.random(using: &random) { await unlock() }
        }

        private mutating func unlock() async {
            put(.unlock)
            isLocked = false
            for app in apps { await Self.setAwaitsUnlock(false, app, on: phone) }
        }

        private static func restart(_ app: App, on phone: isolated Phone) { app.access.restart() }

        private static func setAwaitsUnlock(_ awaits: Bool, _ app: App, on phone: isolated Phone) {
            app.access.setAwaitsUnlock(awaits)
        }

        // MARK: The air

        private func link(_ device: DeviceAddress) async throws {
            try await settle()
            guard watcher.withLock({ $0.air.wanted.contains(device) }) else { return }
            put(.heard(device, content: 4))
            // No scan response follows it, which a discovery would wait for.
            await radio.hear(device, "03030D18", .directed)
            try await idle()
            let isAnswered = await radio.isAnswerable(device)
            watcher.withLock { $0.heard(device, isAnswered: isAnswered) }
            guard isAnswered else { return }
            put(.linked(device))
            await radio.answerAny(device)
        }

        private func releaseReads() async {
            put(.answers)
            for call in calls { call.state.withLock { $0.isReleased = true } }
            await radio.releaseReads()
        }

        /// A device requests connection parameters, which a phone with some version of iOS answers.
        private mutating func request(of device: DeviceAddress) async {
            let minimum = [8, 11, 12, 16, 20, 24, 1608].randomElement(using: &random) ?? 12
            let wanted = PhoneWatcher.Parameters(
                minimum: minimum, maximum: minimum + ([0, 4, 12, 16, 40].randomElement(using: &random) ?? 0),
                latency: [0, 0, 4, 5, 30, 31].randomElement(using: &random) ?? 0,
                timeout: [9, 10, 100, 199, 200, 600, 601, 1800, 1801].randomElement(using: &random) ?? 600)
            let iOS = [9, 10, 17, 18].randomElement(using: &random) ?? 18
            let range = ConnectionParameterRange(
                minimum: UInt16(wanted.minimum), maximum: UInt16(wanted.maximum),
                latency: UInt16(wanted.latency), timeout: UInt16(wanted.timeout))
            guard range.isValid else { return }
            let rules = ConnectionParameterRules(IOSVersion(iOS).parameterLimits)
            let refusal = rules.refusal(of: range)
            put(.request(wanted, iOS: iOS))
            await radio.request(range, refusal, of: device)
            watcher.withLock { $0.requested(wanted, iOS: iOS, isAccepted: refusal == nil) }
        }

        /// A central subscribes to an app's value, or is subscribed no more.
        private mutating func subscribe(_ index: Int) async throws {
            try await settle()
            let central = Int.random(in: 2001...2002, using: &random)
            let app: PhoneWatcher.App? = watcher.withLock { watcher in
                let app = watcher.apps[index]
                return watcher.isOn && app.publishes && app.isServed ? app : nil
            }
            guard let app else { return }
            let isOn = !app.subscribers.contains(central)
            put(isOn ? .subscribe(index, central) : .unsubscribe(index, central))
            await radio.subscribe(UInt32(central), to: codes[index].level.key, isOn)
        }

        // MARK: The code of apps

        /// An app discovers everything in a device that it holds a link to.
        private mutating func discover(_ index: Int, _ device: DeviceAddress, _ peripheral: Peripheral) async
        {
            put(.discover(index, device))
            let before = await radio.discoveryCount
            _ = try? await peripheral.discoverAll()
            let count = await radio.discoveryCount - before
            let services = await peripheral.services
            let types = Set(services.map(\.uuid))
            let battery = services.first { $0.uuid == FakeCentralRadio.battery.uuid }
            let moves = battery.map {
                Int($0.id.rawValue) - Int(FakeCentralRadio.battery.handles.lowerBound.rawValue)
            }
            watcher.withLock { $0.discovered(index, device, asking: count, types, moves: moves) }
            guard Bool.random(using: &random) else { return }
            _ = try? await peripheral.discoverServices([FakeCentralRadio.battery.uuid])
            let after = Set(await peripheral.services.map(\.uuid))
            watcher.withLock { $0.discoveredMore(index, types, after) }
        }

        private mutating func notify(_ index: Int, _ device: DeviceAddress, _ peripheral: Peripheral) async {
            guard await apps[index].isRunning else { return }
            if isLinked(index, device) { await discover(index, device, peripheral) }
            guard let rate = await peripheral.characteristic("2A37") else { return }
            let isOn = Int.random(in: 0..<4, using: &random) > 0
            guard (try? await peripheral.setNotifyValue(isOn, for: rate)) != nil else { return }
            put(.notify(index, device, isOn))
            // Values that come while it is suspended would be rare.
            if isOn, Int.random(in: 0..<4, using: &random) == 0 { await carryOut(.suspend, index) }
        }

        /// An app reads a value; its answer may come while the app is suspended, or not at all.
        private mutating func read(_ index: Int, _ peripheral: Peripheral) async throws {
            guard let location = await peripheral.characteristic("2A38"), await apps[index].isRunning else {
                return
            }
            let code = codes[index]
            let call = Call(of: index, in: code.state.withLock { $0.launches })
            await radio.holdReads()
            calls.append(call)
            Task(executorPreference: time.executor) {
                let value = try? await peripheral.readValue(for: location)
                let isWrong = call.state.withLock { state in
                    state.hasEnded = true
                    return value != nil && state.isToFail
                }
                if isWrong { code.answered(in: call.launch) }
            }
            try await idle()
            // A process that has ended asks as if it lived on.
            if let (old, launch) = left[index], (try? await old.discoverServices()) != nil {
                code.answered(in: launch)
            }
            guard Bool.random(using: &random) else { return }
            await carryOut(.suspend, index)
            await releaseReads()
        }

        private func addReserved(_ index: Int) async {
            guard await apps[index].isRunning, let manager = codes[index].state.withLock({ $0.peripheral })
            else { return }
            put(.addReserved(index))
            var code: Int?
            do throws(RadioError) {
                try await manager.add(ServiceDefinition(uuid: "180F", characteristics: []))
            } catch {
                code = error.coreBluetoothCode
            }
            watcher.withLock { $0.refused(index, with: code) }
        }

        /// An app reads what needs an encrypted link, of the device that has such a value.
        private mutating func secure() async throws {
            let device = devices[1]
            try await settle()
            let (apps, bond) = watcher.withLock { ($0.apps, $0.bonds[device] ?? .absent) }
            guard let index = apps.firstIndex(where: { $0.acts && $0.linked.contains(device) }),
                let manager = codes[index].state.withLock({ $0.manager })
            else { return }
            if bond == .bonded, Bool.random(using: &random) {
                put(.loseBond(device))
                await radio.setBond(.lost, with: device)
            }
            let peripheral = await manager.peripheral(at: device)
            let accepts = Int.random(in: 0..<3, using: &random) > 0
            screen.state.withLock { ($0.accepts, $0.dialogs) = (accepts, 0) }
            let before = watcher.withLock { $0.bonds[device] ?? .absent }
            put(.secure(index, device, accepts: accepts))
            let descriptor = RemoteDescriptor(uuid: GATT.clientConfiguration, handle: 4)
            let isDone = (try? await peripheral.readValue(for: descriptor)) != nil
            // The link of a device without its bond ends.
            try await idle()
            let dialogs = screen.state.withLock { $0.dialogs }
            watcher.withLock { $0.secured(before, isDone: isDone, dialogs: dialogs) }
        }

        private mutating func advertise(_ index: Int) async {
            guard isOn, await apps[index].isRunning,
                let manager = codes[index].state.withLock({ $0.peripheral })
            else { return }
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
            published: Set(published), channels: openChannels)
    }
}

extension Phone {
    /// The devices that it listens for.
    var wanted: [DeviceAddress] { central.scanner.compose().listensFor }
}
