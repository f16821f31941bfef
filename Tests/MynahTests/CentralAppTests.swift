import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// An app's code with one central manager: everything it hears is in one list of words.
final class CentralApp: AppDelegate, CentralManagerSink {
    struct State {
        var words: [String] = []
        var manager: CentralManager?
        var restored: [RestoredCentralState] = []
        var options: [LaunchOptions] = []
        var error: RadioError?
    }

    let state = Lock(State())
    let restoreIdentifier: String?

    init(_ restoreIdentifier: String?) {
        self.restoreIdentifier = restoreIdentifier
    }

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
        state.withLock { state in
            state.words.append("launched" + (options.isInBackground ? " in background" : ""))
            state.options.append(options)
        }
        do throws(RadioError) {
            let manager = try app.makeCentralManager(restoreIdentifier: restoreIdentifier, sink: self)
            state.withLock { $0.manager = manager }
        } catch {
            state.withLock { $0.error = error }
        }
    }

    func app(_ app: isolated App, didChange change: AppChange) {
        add(change.word)
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        switch event {
        case .willRestoreState(let restored):
            state.withLock { $0.restored.append(restored) }
            add("willRestoreState")
        case .stateChanged(let new): add("state \(new)")
        case .discovered(let found): add("discovered \(found.advertisement.localName ?? "-")")
        case .connected(_, let isLocal): add("connected" + (isLocal ? " local" : ""))
        case .failedToConnect: add("failed")
        case .disconnected(_, let end): add("disconnected" + (end.wasPending ? " pending" : ""))
        case .valueUpdated(let update): add("value \(Hex.encode(update.value))")
        case .servicesChanged: add("services changed")
        case .connectionEvent(let event, _): add("\(event)")
        case .readyToWrite: add("ready")
        case .missed(let count): add("missed \(count)")
        case .nameUpdated: add("name")
        case .mtuChanged, .paired, .pairing, .lost, .recovered, .warning: break
        }
        return .none
    }

    func add(_ word: String) { state.withLock { $0.words.append(word) } }

    /// The events since the last call.
    func takeWords() -> [String] {
        state.withLock { state in
            defer { state.words = [] }
            return state.words
        }
    }

    var manager: CentralManager? { state.withLock { $0.manager } }
}

extension App {
    /// Whether a call of its code waits until the app runs again.
    fileprivate var isCodeWaiting: Bool { access.look { app, _ in !app.suspended.isEmpty } ?? false }
    /// Whether an event or an answer waits until the app runs again.
    fileprivate var hasQueued: Bool { access.look { app, _ in !app.mail.queue.isEmpty } ?? false }
}

/// An app as a central, through its life, on a radio without air.
@Suite(.timeLimit(.minutes(15))) struct CentralAppTests {
    private struct Rig {
        let radio = FakeCentralRadio()
        let clock = ManualClock()
        let code: CentralApp
        let phone: Phone
        let app: App
        let sink = RecordingSink()
        let strap = DeviceAddress(value: 1, kind: .public)

        init(hasMode: Bool, restoreIdentifier: String? = nil) async throws {
            code = CentralApp(restoreIdentifier)
            phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"), sink: sink)
            app = await Self.makeApp("test", hasMode: hasMode, code, on: phone, clock)
            try await phone.start()
            let code = code
            try await until("Bluetooth is on") {
                code.state.withLock { $0.words.contains("state poweredOn") }
            }
            _ = code.takeWords()
        }

        static func makeApp(
            _ name: String, hasMode: Bool, _ code: CentralApp, on phone: Phone, _ clock: ManualClock
        ) async -> App {
            var rules = AppRules()
            if hasMode { rules.backgroundModes = [.bluetoothCentral] }
            let app = await phone.makeApp(
                AppDescription(name: name, rules: rules), delegate: code, clock: clock)
            await app.enterForeground()
            return app
        }

        func manager() throws -> CentralManager { try #require(code.manager) }

        /// Connects the strap, and subscribes to its heart rate.
        func connect(_ options: ConnectOptions = ConnectOptions()) async throws -> Peripheral {
            let strap = try await wait(options)
            await radio.answer(self.strap, link: 1)
            try await strap.discoverAll()
            try await strap.setNotifyValue(true, for: try #require(await strap.characteristic("2A37")))
            // An app that was opened since has sent it to the background first.
            #expect(code.takeWords().filter { $0 != "background" } == ["connected"])
            return strap
        }

        /// Waits for the strap.
        func wait(_ options: ConnectOptions = ConnectOptions()) async throws -> Peripheral {
            let manager = try manager()
            let strap = await manager.peripheral(at: self.strap)
            try await manager.connect(strap, options: options)
            let (radio, address) = (radio, self.strap)
            try await until("the radio is asked to connect") { await radio.isAsked(for: address) }
            return strap
        }

        /// The alerts so far, in words.
        var alerts: [String] {
            sink.phoneEvents.compactMap { event in
                guard case .alert(let alert, let step) = event else { return nil }
                return "\(alert.app) \(alert.cause) \(step)"
            }
        }

        func sendValue() async {
            await radio.simulate(.notified(.init(1), 3, [0, 72], .notification))
        }

        func loseStrap() async {
            await radio.lose(strap)
        }
    }

    @Test func `a foreground-only app learns of a lost strap when it comes back, in order`() async throws {
        let rig = try await Rig(hasMode: false)
        let strap = try await rig.connect()
        await rig.app.suspend()
        await rig.sendValue()
        await rig.loseStrap()
        #expect(rig.code.takeWords() == ["background", "suspended"])
        #expect(await !strap.isConnected)
        await rig.app.enterForeground()
        #expect(rig.code.takeWords() == ["foreground", "value 0048", "disconnected"])
        await rig.phone.stop()
    }

    @Test func `an app that has just left the screen hears of its connections, and its scan is paused`()
        async throws
    {
        let rig = try await Rig(hasMode: false)
        _ = try await rig.connect()
        try await rig.manager().scanForPeripherals(withServices: ["180D"])
        #expect(await rig.radio.scanning != nil)
        await rig.app.enterBackground()
        await rig.sendValue()
        #expect(rig.code.takeWords() == ["background", "value 0048"])
        try await until("nothing is scanned for") { await rig.radio.scanning == nil }
        await rig.app.enterForeground()
        try await until("the scan goes on") { await rig.radio.scanning != nil }
        await rig.phone.stop()
    }

    @Test func `an app that joins a link has the name that the system has read on it`() async throws {
        let rig = try await Rig(hasMode: true)
        await rig.radio.setDeviceName("Strap 7", of: rig.strap)
        let code = CentralApp(nil)
        _ = await Rig.makeApp("second", hasMode: true, code, on: rig.phone, rig.clock)
        let manager = try #require(code.manager)
        let joined = await manager.peripheral(at: rig.strap)
        let first = try await rig.manager().peripheral(at: rig.strap)
        _ = try await rig.wait()
        await rig.radio.answer(rig.strap, link: 1)
        try await until("the name is read") { await first.name == "Strap 7" }
        #expect(await joined.name == nil)
        try await manager.connect(joined)
        #expect(await joined.isConnected)
        #expect(await joined.name == "Strap 7")
        await rig.phone.stop()
    }

    @Test func `an alert that is opened sends the app on the screen to the background`() async throws {
        let rig = try await Rig(hasMode: false)
        var options = ConnectOptions()
        options.notifyOnDisconnection = true
        _ = try await rig.connect(options)
        await rig.app.suspend()
        let code = CentralApp(nil)
        let other = await Rig.makeApp("second", hasMode: false, code, on: rig.phone, rig.clock)
        await rig.loseStrap()
        #expect(rig.alerts == ["test disconnection shown"])
        await rig.phone.openAlert()
        #expect(await rig.app.state == .foreground)
        #expect(await other.state == .background)
        await rig.phone.stop()
    }

    @Test func `a strap's value wakes a suspended app for ten seconds`() async throws {
        let rig = try await Rig(hasMode: true)
        _ = try await rig.connect()
        await rig.app.suspend()
        await rig.sendValue()
        #expect(rig.code.takeWords() == ["background", "suspended", "woken by notified", "value 0048"])
        try await rig.clock.waitForSleepers(1)
        rig.clock.advance(by: .seconds(10))
        try await until("it is suspended again") { rig.code.state.withLock { $0.words } == ["suspended"] }
        await rig.loseStrap()
        #expect(rig.code.takeWords() == ["suspended", "woken by disconnected", "disconnected"])
        await rig.phone.stop()
    }

    @Test func `a background scan reports each device once, although duplicates were asked for`() async throws
    {
        let rig = try await Rig(hasMode: true)
        let service = "03030D18"
        try await rig.manager().scanForPeripherals(
            withServices: ["180D"], options: ScanOptions(allowsDuplicates: true))
        let foreground = try #require(await rig.radio.scanning)
        #expect(foreground.allowsDuplicates)
        for _ in 0..<2 { await rig.radio.hear(rig.strap, service) }
        await rig.app.enterBackground()
        try await until("the phone scans slower") { await rig.radio.scanning?.allowsDuplicates == false }
        #expect(try #require(await rig.radio.scanning).interval > foreground.interval)
        await rig.app.suspend()
        // The first counts as reported already.
        await rig.radio.hear(rig.strap, service)
        let second = DeviceAddress(value: 2, kind: .public)
        for _ in 0..<3 { await rig.radio.hear(second, service) }
        #expect(
            rig.code.takeWords() == [
                "discovered -", "discovered -", "background", "suspended", "woken by discovered",
                "discovered -",
            ])
        await rig.phone.stop()
    }

    @Test func `a scan without services hears nothing in the background`() async throws {
        let rig = try await Rig(hasMode: true)
        try await rig.manager().scanForPeripherals()
        await rig.app.enterBackground()
        try await until("nothing is scanned for") { await rig.radio.scanning == nil }
        await rig.radio.hear(rig.strap, "03030D18")
        #expect(rig.code.takeWords() == ["background"])
        await rig.phone.stop()
    }

    @Test func `launched, restored, state, woken, connected, in this order`() async throws {
        let rig = try await Rig(hasMode: true, restoreIdentifier: "lock")
        _ = try await rig.wait()
        try await rig.manager().scanForPeripherals(withServices: ["180D"])
        await rig.app.terminate()
        try await until("the phone scans slower") { await rig.radio.scanning?.allowsDuplicates == false }
        #expect(rig.code.takeWords() == ["terminated system"])
        await rig.radio.answer(rig.strap, link: 1)
        #expect(
            rig.code.takeWords() == [
                "launched in background", "willRestoreState", "state poweredOn", "woken by connected",
                "connected",
            ])
        let (options, restored) = rig.code.state.withLock { ($0.options.last, $0.restored) }
        #expect(options?.centralRestoreIdentifiers == ["lock"])
        #expect(restored.count == 1)
        #expect(restored.first?.scanServices == ["180D"])
        let strap = try #require(restored.first?.peripherals.first)
        #expect(strap.address == rig.strap)
        #expect(await strap.state == .connected)
        #expect(try await strap.discoverServices().count == 2)
        await rig.phone.stop()
    }

    @Test func `connections and subscriptions are restored, and a value relaunches`() async throws {
        let rig = try await Rig(hasMode: true, restoreIdentifier: "strap")
        _ = try await rig.connect()
        await rig.app.crash()
        await rig.sendValue()
        #expect(
            rig.code.takeWords() == [
                "terminated crash", "launched in background", "willRestoreState", "state poweredOn",
                "woken by notified", "value 0048",
            ])
        let strap = try #require(rig.code.state.withLock { $0.restored.first?.peripherals.first })
        #expect(await strap.characteristic("2A37")?.delivery == .notification)
        #expect(await strap.services.count == 2)
        await rig.phone.stop()
    }

    @Test(arguments: [(true, nil), (false, "id")] as [(Bool, String?)])
    func `without an identifier or the mode nothing comes back`(
        hasMode: Bool, restoreIdentifier: String?
    ) async throws {
        let rig = try await Rig(hasMode: hasMode, restoreIdentifier: restoreIdentifier)
        let strap = try await rig.connect()
        try await rig.manager().scanForPeripherals(withServices: ["180D"])
        await rig.app.terminate()
        try await until("the link ends on the air") { await rig.radio.ended == [.init(1)] }
        try await until("nothing is scanned for") { await rig.radio.scanning == nil }
        #expect(await strap.state == .disconnected)
        #expect(rig.code.takeWords() == ["terminated system"])
        await rig.app.enterForeground()
        try await until("Bluetooth is on") {
            rig.code.state.withLock { $0.words.contains("state poweredOn") }
        }
        #expect(rig.code.takeWords() == ["launched", "state poweredOn", "foreground"])
        await rig.phone.stop()
    }

    @Test func `the user's quit cancels what is pending, and what was kept is forgotten`() async throws {
        let rig = try await Rig(hasMode: true, restoreIdentifier: "lock")
        _ = try await rig.wait()
        await rig.app.terminate()
        #expect(await rig.radio.wanted == [rig.strap])
        await rig.app.quit()
        try await until("the radio waits for nothing") { await rig.radio.wanted.isEmpty }
        await rig.app.enterForeground()
        #expect(rig.code.state.withLock { $0.restored.isEmpty })
        #expect(rig.code.state.withLock { $0.options.last?.centralRestoreIdentifiers } == [])
        await rig.phone.stop()
    }

    @Test func `an answer waits while a foreground-only app is suspended, and comes to nothing if it ends`()
        async throws
    {
        let rig = try await Rig(hasMode: false)
        let strap = try await rig.connect()
        let location = try #require(await strap.characteristic("2A38"))
        await rig.radio.holdReads()
        let code = rig.code
        let reading = Task {
            let value = try await strap.readValue(for: location)
            code.add("read \(Hex.encode(value))")
        }
        try await until("the read is on its way") { await rig.radio.heldCount == 1 }
        await rig.app.suspend()
        await rig.radio.releaseReads()
        try await until("the answer waits") { await rig.app.hasQueued }
        await rig.sendValue()
        await rig.app.enterForeground()
        try await reading.value
        #expect(Set(rig.code.takeWords()).isSuperset(of: ["foreground", "read 07", "value 0048"]))
        #expect(await strap.hasAnswerWaited)
        _ = try await strap.readValue(for: location)
        #expect(await !strap.hasAnswerWaited)

        await rig.radio.holdReads()
        let second = Task { _ = try await strap.readValue(for: location) }
        try await until("the read is on its way") { await rig.radio.heldCount == 1 }
        await rig.app.suspend()
        await rig.radio.releaseReads()
        await rig.app.terminate()
        await #expect(throws: RequestError.self) { try await second.value }
        await rig.phone.stop()
    }

    @Test func `a request by the code of a suspended app is sent when the app runs again`() async throws {
        let rig = try await Rig(hasMode: false)
        let strap = try await rig.connect()
        let location = try #require(await strap.characteristic("2A38"))
        await rig.app.suspend()
        await rig.radio.holdReads()
        let code = rig.code
        let reading = Task {
            let value = try await strap.readValue(for: location)
            code.add("read \(Hex.encode(value))")
        }
        try await until("the code of the app waits") { await rig.app.isCodeWaiting }
        #expect(await rig.radio.heldCount == 0)
        await rig.app.enterForeground()
        try await until("the read is on its way") { await rig.radio.heldCount == 1 }
        await rig.radio.releaseReads()
        try await reading.value
        #expect(rig.code.takeWords().contains("read 07"))
        #expect(await !strap.hasAnswerWaited)

        await rig.app.suspend()
        let second = Task { _ = try await strap.readValue(for: location) }
        try await until("the code of the app waits") { await rig.app.isCodeWaiting }
        await rig.app.terminate()
        await #expect(throws: RequestError.self) { try await second.value }
        await rig.phone.stop()
    }

    @Test func `an answer to a process that has ended comes to nothing after a relaunch`() async throws {
        let rig = try await Rig(hasMode: true, restoreIdentifier: "strap")
        let strap = try await rig.connect()
        let location = try #require(await strap.characteristic("2A38"))
        await rig.radio.holdReads()
        let reading = Task { _ = try await strap.readValue(for: location) }
        try await until("the read is on its way") { await rig.radio.heldCount == 1 }
        await rig.app.crash()
        await rig.sendValue()
        #expect(rig.code.takeWords().contains("willRestoreState"))
        await rig.radio.releaseReads()
        await #expect(throws: RequestError.self) { try await reading.value }
        await rig.phone.stop()
    }

    @Test func `an answer wakes an app with the mode`() async throws {
        let rig = try await Rig(hasMode: true)
        let strap = try await rig.connect()
        let location = try #require(await strap.characteristic("2A38"))
        await rig.radio.holdReads()
        let reading = Task { try await strap.readValue(for: location) }
        try await until("the read is on its way") { await rig.radio.heldCount == 1 }
        await rig.app.suspend()
        await rig.radio.releaseReads()
        #expect(try await reading.value == [7])
        #expect(rig.code.takeWords() == ["background", "suspended", "woken by answered"])
        await rig.phone.stop()
    }

    @Test(arguments: [false, true])
    func `without Bluetooth peripherals are disconnected without a callback, and a scan has ended`(
        hasMode: Bool
    ) async throws {
        let rig = try await Rig(hasMode: hasMode)
        let strap = try await rig.connect()
        try await rig.manager().scanForPeripherals(withServices: ["180D"])
        await rig.app.suspend()
        await rig.radio.simulate(.disconnected(.init(1), RadioError(.lost, "the radio is gone")))
        await rig.radio.simulate(.stateChanged(.poweredOff))
        let wake = hasMode ? ["woken by state", "state poweredOff"] : []
        #expect(rig.code.takeWords() == ["background", "suspended"] + wake)
        #expect(await strap.state == .disconnected)
        let manager = try rig.manager()
        #expect(await !manager.isScanning)
        await rig.radio.simulate(.stateChanged(.poweredOn))
        await rig.app.enterForeground()
        let states =
            hasMode
            ? ["state poweredOn", "foreground"] : ["foreground", "state poweredOff", "state poweredOn"]
        #expect(rig.code.takeWords() == states)
        await rig.phone.stop()
    }

    @Test func `two apps hear what each subscribed to, over one link`() async throws {
        let rig = try await Rig(hasMode: true)
        _ = try await rig.connect()
        let other = CentralApp(nil)
        _ = await Rig.makeApp("other", hasMode: true, other, on: rig.phone, rig.clock)
        let manager = try #require(other.manager)
        let strap = await manager.peripheral(at: rig.strap)
        try await manager.connect(strap)
        #expect(other.takeWords().suffix(1) == ["connected local"])
        await rig.sendValue()
        // Opening the other one has sent it to the background.
        #expect(rig.code.takeWords() == ["background", "value 0048"])
        #expect(other.takeWords() == [])
        try await strap.discoverAll()
        try await strap.setNotifyValue(true, for: try #require(await strap.characteristic("2A37")))
        await rig.sendValue()
        #expect(rig.code.takeWords() == ["value 0048"])
        #expect(other.takeWords() == ["value 0048"])
        try await rig.manager().cancelPeripheralConnection(rig.manager().peripheral(at: rig.strap))
        await manager.cancelPeripheralConnection(strap)
        try await until("the link is gone") {
            rig.sink.phoneEvents.contains { if case .linkEnded(rig.strap) = $0 { true } else { false } }
        }
        let kept = rig.sink.phoneEvents.compactMap { event -> [String]? in
            if case .linkKept(rig.strap, let apps) = event { apps } else { nil }
        }
        #expect(kept == [["other"]])
        await rig.phone.stop()
    }

    @Test func `a suspended app is shown an alert if it asked for one, and only then`() async throws {
        var options = ConnectOptions()
        options.notifyOnNotification = true
        options.notifyOnDisconnection = true
        let rig = try await Rig(hasMode: false)
        _ = try await rig.connect(options)
        await rig.sendValue()
        await rig.app.enterBackground()
        await rig.sendValue()
        #expect(rig.alerts == [])
        await rig.app.suspend()
        await rig.sendValue()
        await rig.loseStrap()
        #expect(rig.alerts == ["test notification shown", "test disconnection shown"])
        await rig.phone.openAlert()
        #expect(
            rig.alerts.dropFirst(2) == ["test disconnection opened", "test notification dismissed"])
        #expect(await rig.app.state == .foreground)
        #expect(rig.code.takeWords().suffix(3) == ["foreground", "value 0048", "disconnected"])
        await rig.phone.stop()
    }

    @Test(arguments: [false, true])
    func `a connection alerts a suspended app without the mode, and wakes one with it`(hasMode: Bool)
        async throws
    {
        var options = ConnectOptions()
        options.notifyOnConnection = true
        let rig = try await Rig(hasMode: hasMode)
        _ = try await rig.wait(options)
        await rig.app.suspend()
        await rig.radio.answer(rig.strap, link: 1)
        #expect(rig.alerts == (hasMode ? [] : ["test connection shown"]))
        let wake = hasMode ? ["woken by connected", "connected"] : []
        #expect(rig.code.takeWords() == ["background", "suspended"] + wake)
        await rig.phone.dismissAlert()
        #expect(rig.alerts.dropFirst() == (hasMode ? [] : ["test connection dismissed"]))
        await rig.phone.stop()
    }

    @Test func `an app that registered hears of devices that another app connects, and is woken for them`()
        async throws
    {
        let rig = try await Rig(hasMode: true)
        let other = CentralApp(nil)
        let listener = await Rig.makeApp("other", hasMode: true, other, on: rig.phone, rig.clock)
        let manager = try #require(other.manager)
        try await until("the other app is on") { await manager.state == .poweredOn }
        _ = other.takeWords()
        await manager.registerForConnectionEvents(ConnectionEventMatching(services: ["180D"]))
        await listener.suspend()
        // The service is known when the first app has discovered it.
        _ = try await rig.connect()
        await rig.loseStrap()
        #expect(rig.code.takeWords() == ["disconnected"])
        #expect(
            other.takeWords() == [
                "background", "suspended", "woken by connectionEvent", "peerConnected", "peerDisconnected",
            ])
        let strap = await manager.peripheral(at: rig.strap)
        await manager.registerForConnectionEvents(
            ConnectionEventMatching(peripherals: [PeripheralIdentifier(high: 1, low: 1)]))
        _ = try await rig.connect()
        #expect(other.takeWords() == [])
        await manager.registerForConnectionEvents(ConnectionEventMatching(peripherals: [strap.identifier]))
        #expect(other.takeWords() == ["peerConnected"])
        await manager.registerForConnectionEvents(nil)
        await rig.loseStrap()
        #expect(other.takeWords() == [])
        await rig.phone.stop()
    }

    @Test func `a value directly after the answer to its subscription is delivered`() async throws {
        let rig = try await Rig(hasMode: true)
        await rig.radio.notifyAtOnce()
        let strap = try await rig.wait()
        await rig.radio.answer(rig.strap, link: 1)
        try await strap.discoverAll()
        let rate = try #require(await strap.characteristic("2A37"))
        try await strap.setNotifyValue(true, for: rate)
        #expect(rig.code.takeWords() == ["connected", "value 0063"])
        // Unsubscribed, the app hears nothing.
        try await strap.setNotifyValue(false, for: rate)
        await rig.sendValue()
        #expect(rig.code.takeWords() == [])
        await rig.phone.stop()
    }

    @Test func `the user is asked for a pairing of an app, and a program for its own`() async throws {
        let rig = try await Rig(hasMode: true)
        _ = try await rig.connect()
        await rig.radio.simulate(.pairing(.init(1), .compare(7)))
        let steps = rig.sink.phoneEvents.compactMap { event -> (DeviceAddress?, PairingStep)? in
            if case .peripheralPairing(let peer, let step) = event { (peer.address, step) } else { nil }
        }
        #expect(steps.count == 1)
        #expect(steps.first?.0 == rig.strap && steps.first?.1 == .compare(7))
        await rig.phone.stop()
    }

    @Test func `a start delay is waited for on the app's clock`() async throws {
        let rig = try await Rig(hasMode: true)
        let manager = try rig.manager()
        let strap = await manager.peripheral(at: rig.strap)
        var options = ConnectOptions()
        options.startDelay = .seconds(5)
        try await manager.connect(strap, options: options)
        #expect(await strap.state == .connecting)
        try await rig.clock.waitForSleepers(1)
        #expect(await !rig.radio.isAsked(for: rig.strap))
        rig.clock.advance(by: .seconds(5))
        try await until("the radio is asked to connect") { await rig.radio.isAsked(for: rig.strap) }
        await rig.phone.stop()
    }

    @Test func `a start delay ends with its request, and when the phone stops`() async throws {
        let rig = try await Rig(hasMode: true)
        let manager = try rig.manager()
        let strap = await manager.peripheral(at: rig.strap)
        var options = ConnectOptions()
        options.startDelay = .seconds(365 * 86_400)
        try await manager.connect(strap, options: options)
        try await rig.clock.waitForSleepers(1)
        await manager.cancelPeripheralConnection(strap)
        try await until("nothing is waited for after the cancel") { rig.clock.sleeperCount == 0 }
        try await manager.connect(strap, options: options)
        try await rig.clock.waitForSleepers(1)
        await rig.phone.stop()
        try await until("nothing is waited for after the stop") { rig.clock.sleeperCount == 0 }
        #expect(rig.clock.sleeperCount == 0)
    }

    @Test func `an identifier is used once within an app, and by another app too`() async throws {
        let rig = try await Rig(hasMode: true, restoreIdentifier: "one")
        await #expect(throws: RadioError.self) {
            _ = try await rig.app.makeCentralManager(restoreIdentifier: "one")
        }
        await #expect(throws: RadioError.self) {
            _ = try await rig.app.makePeripheralManager(restoreIdentifier: "one")
        }
        let second = try await rig.app.makePeripheralManager(restoreIdentifier: "two")
        await #expect(throws: RadioError.self) {
            _ = try await rig.app.makeCentralManager(restoreIdentifier: "two")
        }
        let other = CentralApp("one")
        _ = await Rig.makeApp("other", hasMode: true, other, on: rig.phone, rig.clock)
        #expect(other.state.withLock { $0.error } == nil)
        #expect(other.manager != nil)
        // A manager that nobody holds is gone, and its identifier free.
        #expect(await second.services.isEmpty)
        await rig.phone.stop()
    }
}
