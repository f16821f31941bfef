import Mynah
import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

extension AppChange {
    /// The change as a test lists it.
    var word: String {
        switch self {
        case .enteredForeground: "foreground"
        case .enteredBackground: "background"
        case .suspended: "suspended"
        case .woken(let kind, _, _): "woken by \(kind)"
        case .throttled: "throttled"
        case .extraneous: "extraneous"
        case .terminated(let reason): "terminated \(reason)"
        case .quit: "quit"
        case .authorizationChanged(let new): "authorization \(new)"
        }
    }
}

/// An app's code, as a test writes it: one manager, everything it hears in one list of words.
final class TestApp: AppDelegate, PeripheralSink {
    struct State {
        var words: [String] = []
        var manager: PeripheralManager?
        var options: [LaunchOptions] = []
        var restored: [RestoredState] = []
        var errors: [RadioError] = []
        var answer: RadioAnswer = .answer(.success([7]))
        var channels: [any L2CAPChannel] = []
    }

    let state = Lock(State())
    let restoreIdentifier: String?

    init(restoreIdentifier: String? = nil) {
        self.restoreIdentifier = restoreIdentifier
    }

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
        state.withLock { state in
            state.words.append("launched" + (options.isInBackground ? " in background" : ""))
            state.options.append(options)
        }
        do throws(RadioError) {
            let manager = try app.makePeripheralManager(restoreIdentifier: restoreIdentifier, sink: self)
            state.withLock { $0.manager = manager }
        } catch {
            state.withLock { $0.errors.append(error) }
        }
    }

    func app(_ app: isolated App, didChange change: AppChange) {
        state.withLock { $0.words.append(change.word) }
    }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        state.withLock { state in
            switch event {
            case .willRestoreState(let restored):
                state.words.append("willRestoreState")
                state.restored.append(restored)
            case .stateChanged(let new): state.words.append("state \(new)")
            case .read: state.words.append("read")
            case .write(let request, _): state.words.append("write \(Hex.encode(request.parts[0].value))")
            case .subscribed: state.words.append("subscribed")
            case .unsubscribed: state.words.append("unsubscribed")
            case .connected: state.words.append("connected")
            case .disconnected: state.words.append("disconnected")
            case .missed(let count): state.words.append("missed \(count)")
            case .channelOpened(let channel, _):
                state.words.append("channel \(channel.psm)")
                state.channels.append(channel)
            case .answeredRead, .mtuChanged, .confirmed, .readyToUpdateSubscribers, .advertisingChanged: break
            }
            return event.wantsResponse ? state.answer : .none
        }
    }

    var words: [String] { state.withLock { $0.words } }
    var manager: PeripheralManager? { state.withLock { $0.manager } }
    var channels: [any L2CAPChannel] { state.withLock { $0.channels } }
    var restored: [RestoredState] { state.withLock { $0.restored } }
    func answer(_ answer: RadioAnswer) { state.withLock { $0.answer = answer } }
    func forget() { state.withLock { $0.words = [] } }
}

extension App {
    /// The error of making a manager, or `nil` if it could be made.
    func makingPeripheralManager(restoreIdentifier: String) -> RadioError.Code? {
        do throws(RadioError) {
            _ = try makePeripheralManager(restoreIdentifier: restoreIdentifier)
            return nil
        } catch {
            return error.code
        }
    }
}

/// An app without managers, which says what happens to it with its name.
final class NamedApp: AppDelegate, Sendable {
    private let name: String
    private let say: @Sendable (String) -> Void

    init(_ name: String, say: @escaping @Sendable (String) -> Void) {
        self.name = name
        self.say = say
    }

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) { say("\(name) launched") }

    func app(_ app: isolated App, didChange change: AppChange) {
        switch change {
        case .enteredForeground: say("\(name) foreground")
        case .enteredBackground: say("\(name) background")
        case .suspended: say("\(name) suspended")
        case .terminated: say("\(name) terminated")
        case .quit: say("\(name) quit")
        case .woken, .throttled, .extraneous, .authorizationChanged: break
        }
    }
}

/// A phone with one app that runs, publishes and advertises.
struct AppRig {
    let radio: FakeRadio
    let clock = ManualClock()
    let code: TestApp
    let phone: Phone
    let app: App
    let sink = RecordingSink()
    let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .write, .notify])
    let fixed = CharacteristicDefinition(uuid: "2A29", properties: .read, value: [1, 2])
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))

    init(
        background: Bool = true, restoreIdentifier: String? = nil, directory: StateDirectory? = nil,
        radio: FakeRadio = FakeRadio(), publishes: Bool = true,
        authorization: BluetoothAuthorization = .allowedAlways
    ) async throws {
        self.radio = radio
        code = TestApp(restoreIdentifier: restoreIdentifier)
        phone = Phone(
            radio: radio, identity: DeviceIdentity(name: "iPhone"), stateDirectory: directory, sink: sink)
        var rules = AppRules()
        if background { rules.backgroundModes = [.bluetoothPeripheral] }
        var description = AppDescription(
            name: "test", rules: rules, restoreIdentifiers: restoreIdentifier.map { [$0] } ?? [])
        description.authorization = authorization
        app = await phone.makeApp(description, delegate: code, clock: clock)
        await app.enterForeground()
        try await phone.start()
        if publishes { try await publish() }
    }

    var service: ServiceDefinition { ServiceDefinition(uuid: "1810", characteristics: [level, fixed]) }

    func publish() async throws {
        let manager = try #require(code.manager)
        try await manager.add(service)
        var advertisement = Advertisement()
        advertisement.localName = "Fred"
        advertisement.serviceUUIDs = ["C007"]
        try await manager.startAdvertising(advertisement)
        code.forget()
    }

    /// Moves the time and lets what it wakes run.
    func advance(_ duration: Duration, expecting word: String) async throws {
        try await clock.waitForSleepers(1)
        clock.advance(by: duration)
        try await wait(for: word)
    }

    func wait(for word: String) async throws {
        try await until("the app has \"\(word)\"") { code.words.contains(word) }
    }

    func read(_ key: AttributeKey? = nil) async throws -> PendingReply.Outcome? {
        try await radio.request(.read(ReadRequest(central: peer.id, attribute: key ?? level.key)))
    }

    func write(_ bytes: [UInt8], wantsResponse: Bool = true) async throws -> PendingReply.Outcome? {
        let part = WriteRequest.Part(attribute: level.key, value: bytes)
        return try await radio.request(
            .write(WriteRequest(central: peer.id, parts: [part], wantsResponse: wantsResponse)))
    }

    /// The bytes that the radio was asked for, in hexadecimal: data and scan response.
    var air: [String]? {
        get async {
            guard let exact = await radio.advertisement?.exact else { return nil }
            return [Hex.encode(exact.data.bytes), Hex.encode(exact.scanResponse.bytes)]
        }
    }
}
