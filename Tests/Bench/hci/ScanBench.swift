import Mynah
import MynahCore
import MynahHCI
import MynahHost
import MynahLifecycle
import MynahSupport

/// How an iPhone's app scans in the foreground and in the background, as its controller and its devices see
/// it.
enum ScanBench {
    private static func address(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC200_0000_0000 + UInt64(number), kind: .public)
    }

    /// `count` devices advertise every second; prints what the controller was told, and how long a device
    /// takes to be discovered.
    static func run(_ count: Int) async throws {
        for isInForeground in [true, false] {
            let air = LiveAir()
            let spy = ScanSpy(air.transport(ControllerConfiguration(address: address(count))))
            let code = ScanningApp()
            let phone = Phone(radio: HostRadio(transport: spy), identity: DeviceIdentity(name: "iPhone"))
            var rules = AppRules()
            rules.backgroundModes = [.bluetoothCentral]
            let app = await phone.makeApp(
                AppDescription(name: "bench", rules: rules), delegate: code, clock: ContinuousClock())
            await app.enterForeground()
            try await phone.start()
            await code.wait { $0.isOn }
            if !isInForeground { await app.enterBackground() }
            var devices: [Device] = []
            for number in 0..<count {
                devices.append(
                    try await Device(
                        on: air.transport(ControllerConfiguration(address: address(number))),
                        interval: .seconds(1)))
            }
            let began = Bench.now
            try await code.manager?.scanForPeripherals(withServices: ["180D"])
            await code.wait { $0.times.count >= count }
            let times = code.times.map { ($0 - began) / 1000 }.sorted()
            let name = isInForeground ? "foreground" : "background"
            if let (interval, window) = spy.last {
                print("\(name)_interval_ms \(Double(interval) * 0.625)")
                print("\(name)_window_ms \(Double(window) * 0.625)")
            }
            print("\(name)_discovered_ms_median \(times[times.count / 2])")
            print("\(name)_discovered_ms_mean \(times.reduce(0, +) / Int64(times.count))")
            print("\(name)_discovered_ms_last \(times[times.count - 1])")
            await phone.stop()
            for device in devices { await device.radio.stop() }
        }
    }
}

/// Notes the parameters of scans on their way to a controller.
private final class ScanSpy: HCITransport {
    private let controller: any HCITransport
    private let noted = Lock<(interval: UInt16, window: UInt16)?>(nil)

    init(_ controller: any HCITransport) {
        self.controller = controller
    }

    /// The scan interval and the scan window that were set last, in units of 625 µs.
    var last: (interval: UInt16, window: UInt16)? { noted.withLock { $0 } }

    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        try await controller.open(receive: receive, ended: ended)
    }

    func send(_ packet: H4Packet) {
        if packet.type == .command, let command = HCICommand(packet.body) { note(command) }
        controller.send(packet)
    }

    func close() { controller.close() }

    private func note(_ command: HCICommand) {
        let offset: Int
        switch command.opcode {
        case .leSetScanParameters: offset = 1
        case .leSetExtendedScanParameters: offset = 4
        default: return
        }
        var reader = ByteReader(Array(command.parameters.dropFirst(offset)))
        guard let interval = reader.readUInt16(), let window = reader.readUInt16() else { return }
        noted.withLock { $0 = (interval, window) }
    }
}

/// An app that notes when it discovers each device.
private final class ScanningApp: AppDelegate, CentralManagerSink {
    struct State {
        var manager: CentralManager?
        var isOn = false
        /// In microseconds.
        var times: [Int64] = []
        var found: Set<DeviceAddress> = []
    }

    private let state = Lock(State())

    var manager: CentralManager? { state.withLock { $0.manager } }
    var times: [Int64] { state.withLock { $0.times } }

    /// Returns when the condition holds, which it looks at every 10 ms.
    func wait(_ condition: (State) -> Bool) async {
        while !condition(state.withLock { $0 }) { try? await Task.sleep(for: .milliseconds(10)) }
    }

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
        let manager = try? app.makeCentralManager(sink: self)
        state.withLock { $0.manager = manager }
    }

    func app(_ app: isolated App, didChange change: AppChange) {}

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        state.withLock { state in
            switch event {
            case .stateChanged(let new): state.isOn = new == .poweredOn
            case .discovered(let found):
                if state.found.insert(found.peripheral.address).inserted { state.times.append(Bench.now) }
            default: break
            }
        }
        return .none
    }
}
