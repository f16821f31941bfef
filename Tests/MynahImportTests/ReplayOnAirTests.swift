import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI
@testable import MynahHost
@testable import MynahImport

/// Each shipped accessory is played to a phone on the virtual air, captured, imported and played again.
@Suite(.timeLimit(.minutes(15))) struct ReplayOnAirTests {
    /// The accessories among the shipped profiles, and how many of their characteristics send values by
    /// themselves.
    private static let shipped = [
        ("battery", 1), ("bike-trainer", 3), ("current-time", 0), ("cycling-power", 1),
        ("cycling-speed-and-cadence", 1), ("device-information", 0), ("environmental-sensing", 1),
        ("esp32-uart", 1), ("everything-accessory", 3), ("fitness-machine", 1), ("flaky-heart-rate", 1),
        ("glucose", 0),
        ("glucose-meter", 1), ("health-thermometer", 2), ("heart-rate", 1), ("lock", 0), ("mcumgr", 0),
        ("nordic-dfu", 0), ("nordic-uart", 0),
    ]

    private static let profiles =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/profiles/"

    /// The host of the capture, which is the device.
    private static func device(in path: String) throws -> ObservedDevice {
        let analysis = Lock(CaptureAnalysis())
        _ = try CaptureReader.read(ImportFile.contents(of: path)) { packet in
            analysis.withLock { $0.add(packet) }
        }
        let devices = analysis.withLock { $0.devices }
        return try #require(devices.first { $0.linkCount > 0 })
    }

    @Test(arguments: shipped)
    func `a shipped accessory sends the same values at the same times when it is imported`(
        name: String, senders: Int
    ) async throws {
        let directory = try TemporaryDirectory()
        let first = try await ReplayStage.play(
            Self.profiles + name + ".yaml", capture: directory.path + "/first.pcapng", for: .seconds(12))
        let result = try CaptureImport.profile(
            from: ImportFile.contents(of: first.capture), named: "first.pcapng"
        ) { _ in "again.jsonl" }
        try directory.write(result.profile, to: "again.yaml")
        if !result.recording.isEmpty { try directory.write(result.recording.text, to: "again.jsonl") }

        let again = try await ReplayStage.play(
            directory.path + "/again.yaml", capture: directory.path + "/again.pcapng", for: .seconds(13))
        #expect(first.sent.count == senders && first.heard.count == 1)
        #expect(again.heard == first.heard, "\(result.profile)")
        let (ours, theirs) = (
            try Self.device(in: first.capture).advertising.main,
            try Self.device(in: again.capture).advertising.main
        )
        #expect(ours.usualData == theirs.usualData && ours.usualScanResponse == theirs.usualScanResponse)
        #expect(ours.interval == theirs.interval && ours.interval != nil)

        #expect(Set(again.sent.keys) == Set(first.sent.keys))
        for (path, values) in first.sent {
            // A recording begins again after its last value, and a device may go on with others.
            let replayed = try #require(again.sent[path]).filter {
                $0.time <= (values.last?.time ?? .zero) + ReplayStage.tolerance
            }
            #expect(replayed.map(\.value) == values.map(\.value), "\(path)")
            for (one, other) in zip(values, replayed) {
                #expect(abs((one.time - other.time) / .milliseconds(1)) <= 10, "\(path): \(one), \(other)")
            }
        }
    }
}

/// A device and a phone on one air, whose time and the device's clock are moved by hand, together.
private final class ReplayStage: Sendable {
    /// A value that arrived at the phone, in the time after the device took the subscription.
    struct Sent: Hashable {
        var time: Duration
        var value: [UInt8]
    }

    /// A play, as the phone sees it.
    struct Play {
        var capture: String
        /// Values by the places of their characteristics.
        var sent: [String: [Sent]]
        /// Advertising data and scan responses.
        var heard: Set<[[UInt8]]>
    }

    static let tolerance = Duration.milliseconds(10)
    /// All times are multiples of it.
    private static let step = Duration.milliseconds(5)

    private let air = LiveAir(seed: 1, time: .manual)
    private let clock = ManualClock()
    /// The hosts' deadlines never come.
    private let still = ManualClock()
    private let log = DeviceLog()
    private let phoneLog = PhoneLog()
    private let device: HostRadio
    private let phone: HostRadio
    private let emulator: Emulator
    private let file: CaptureFile

    /// Plays a profile to a phone that listens for so long after it has subscribed to everything.
    static func play(_ profile: String, capture: String, for length: Duration) async throws -> Play {
        let stage = try ReplayStage(profile, capture)
        let sent = try await stage.play(for: length)
        stage.file.end()
        return Play(capture: capture, sent: sent, heard: stage.phoneLog.heard)
    }

    private init(_ profile: String, _ capture: String) throws {
        let (air, clock, still, log) = (air, clock, still, log)
        file = try CaptureFile(
            path: capture, application: "test", reports: .init(warn: { _ in }, fail: { _ in }),
            now: { air.now.microseconds })
        func host(_ transport: any HCITransport) -> HostRadio {
            HostRadio(transport: transport, clock: still)
        }
        func configuration(_ number: UInt64) -> ControllerConfiguration {
            ControllerConfiguration(
                address: DeviceAddress(value: 0xC000_0000_0000 + number, kind: .public),
                cipher: ControllerConfiguration.aes)
        }
        device = host(file.transport(air.transport(configuration(1)), named: "hci"))
        phone = host(air.transport(configuration(2)))
        var emulated = EmulatedDevice(try ProfileLoader.load(path: profile), seed: 11)
        // A request that is due once leaves no sleeper behind, and a step waits for one.
        emulated.parameterRequest = nil
        emulator = Emulator(
            [emulated], on: device, clock: clock, wallTime: { WallTime(microseconds: 0) },
            observer: { log.take($0, at: clock.now.offset) })
    }

    // MARK: Time

    /// Lets a step of time pass, and what is due in it happen.
    private func pass() async throws {
        let isDue = clock.pauses.contains { $0 <= Self.step }
        let (sleepers, sent) = (clock.sleeperCount, log.sentCount)
        clock.advance(by: Self.step)
        if isDue {
            let isEndless = log.hasRepeated
            try await until("the device has sent what is due") {
                clock.sleeperCount >= sleepers || !isEndless && log.sentCount > sent
            }
        }
        await device.settle()
        phoneLog.now(air.now.microseconds + 5000)
        air.advance(by: 5000)
        for host in [phone, device, phone] { await host.settle() }
    }

    /// Lets time pass until some work is done.
    private func passing<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let done = Lock(false)
        let task = Task {
            defer { done.withLock { $0 = true } }
            return try await work()
        }
        while !done.withLock({ $0 }) { try await pass() }
        return try await task.value
    }

    // MARK: The phone

    private func play(for length: Duration) async throws -> [String: [Sent]] {
        try await emulator.start()
        let manager = CentralManager(radio: phone, sink: phoneLog)
        try await passing { try await manager.start() }
        try await passing { try await manager.scanForPeripherals(options: .init(allowsDuplicates: true)) }
        for _ in 0..<600 { try await pass() }
        try await passing { await manager.stopScan() }
        let peripheral = await manager.peripheral(at: DeviceAddress(value: 0xC000_0000_0001, kind: .public))
        let paths = try await passing { try await Self.subscribe(to: peripheral, manager) }
        let start = clock.now.offset
        while clock.now.offset < start + length { try await pass() }
        let subscriptions = log.subscriptions
        var sent: [String: [Sent]] = [:]
        for value in phoneLog.values {
            let path = try #require(paths[value.handle])
            let since = try #require(subscriptions[path])
            sent[path, default: []].append(.init(time: value.time - since, value: value.value))
        }
        await manager.stop()
        await emulator.stop()
        return sent
    }

    /// Reads every value, and then subscribes to all that can be; returns their places by handle.
    private static func subscribe(
        to peripheral: Peripheral, _ manager: CentralManager
    ) async throws -> [AttributeHandle: String] {
        try await manager.connect(peripheral, timeout: nil)
        try await peripheral.exchangeMTU()
        let services = try await peripheral.discoverAll()
        let tree = AttributeTree(services)
        var paths: [AttributeHandle: String] = [:]
        for (service, content) in services.enumerated() {
            for (index, characteristic) in content.characteristics.enumerated() {
                paths[characteristic.id] = tree.path(of: .init(service: service, characteristic: index))
            }
        }
        for characteristic in services.flatMap(\.characteristics) {
            // A refusal is a part of the device.
            if characteristic.properties.contains(.read) {
                _ = try? await peripheral.readValue(for: characteristic)
            }
            for descriptor in characteristic.descriptors ?? [] {
                _ = try? await peripheral.readValue(for: descriptor)
            }
        }
        for characteristic in services.flatMap(\.characteristics)
        where !characteristic.properties.isDisjoint(with: [.notify, .indicate])
            && characteristic.uuid != "2A05"
        {
            try? await peripheral.setNotifyValue(true, for: characteristic)
        }
        return paths
    }
}

extension HostRadio {
    /// Returns when its executor has done what was queued before.
    fileprivate func settle() {}
}

/// The device's events.
private final class DeviceLog: Sendable {
    private struct State {
        var subscriptions: [String: Duration] = [:]
        var sent: [String: Int] = [:]
    }
    private let state = Lock(State())

    func take(_ event: DeviceEvent, at time: Duration) {
        let path =
            event.string("path")
            ?? "\(event.string("service") ?? "")/\(event.string("characteristic") ?? "")"
        state.withLock { state in
            switch event.name {
            case .subscribed: state.subscriptions[path] = time
            case .notified: state.sent[path, default: 0] += 1
            default: break
            }
        }
    }

    var subscriptions: [String: Duration] { state.withLock { $0.subscriptions } }
    var sentCount: Int { state.withLock { $0.sent.values.reduce(0, +) } }
    /// Whether a value was sent repeatedly, so that another follows.
    var hasRepeated: Bool { state.withLock { $0.sent.values.contains { $0 > 1 } } }
}

/// The values that the phone is sent, and the adverts that it hears.
private final class PhoneLog: CentralManagerSink {
    struct Value {
        var handle: AttributeHandle
        var time: Duration
        var value: [UInt8]
    }
    private struct State {
        var now: Int64 = 0
        var values: [Value] = []
        var heard: Set<[[UInt8]]> = []
    }
    private let state = Lock(State())

    func now(_ microseconds: Int64) { state.withLock { $0.now = microseconds } }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        state.withLock { state in
            switch event {
            case .discovered(let found):
                // Its scan response comes after its first advert.
                if !found.scanResponse.isEmpty || found.report.kind == .scanResponse {
                    state.heard.insert([found.data, found.scanResponse])
                }
            case .valueUpdated(let update):
                state.values.append(
                    .init(handle: update.handle, time: .microseconds(state.now), value: update.value))
            default: break
            }
        }
        if case .pairing(_, .agree) = event { return .pairing(.agreed) }
        return .none
    }

    var values: [Value] { state.withLock { $0.values } }
    var heard: Set<[[UInt8]]> { state.withLock { $0.heard } }
}
