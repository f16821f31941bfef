import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Keeps what a radio tells its central's half, in words.
final class CentralWords: CentralSink {
    private struct State {
        var words: [String] = []
        var reports: [ScanReport] = []
    }
    private let state = Lock(State())

    func handle(_ event: CentralEvent) -> RadioAnswer {
        state.withLock { state in
            switch event {
            case .heard(let report): state.reports.append(report)
            case .stateChanged(let new): state.words.append("state \(new)")
            case .lost: state.words.append("lost")
            case .recovered: state.words.append("recovered")
            case .connected: state.words.append("connected")
            case .disconnected(_, let error): state.words.append("disconnected \(error?.message ?? "here")")
            case .mtuChanged(_, let mtu): state.words.append("mtu \(mtu)")
            case .notified(_, let handle, let value, let delivery):
                state.words.append("\(delivery.rawValue) \(handle) \(Hex.encode(value))")
            case .servicesChanged(_, let range): state.words.append("services \(range)")
            case .paired: state.words.append("paired")
            case .parameters(_, let report): state.words.append(report.word)
            case .readyToWrite: state.words.append("ready to write")
            case .peerChanged, .pairing, .warning, .capabilitiesChanged: break
            }
        }
        return .none
    }

    var words: [String] { state.withLock { $0.words } }
    var reports: [ScanReport] { state.withLock { $0.reports } }

    func wait(for word: String) async throws {
        try await until("\"\(word)\" is reported") { words.contains(word) }
    }
}

/// A device of our own and a phone of our own, on one air; nothing but the air is between them.
struct CentralRig {
    let air: LiveAir
    let sink = HostSink()
    let phoneSink = CentralWords()
    let clock = ManualClock()
    let device: HostRadio
    let phone: HostRadio
    let address: DeviceAddress
    let phoneAddress: DeviceAddress

    let rate = CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify, .indicate])
    let control = CharacteristicDefinition(uuid: "2A39", properties: [.read, .write, .writeWithoutResponse])
    let text = CharacteristicDefinition(
        uuid: "0F0E0D0C-0B0A-0908-0706-050403020100", properties: .read,
        value: (0..<300).map { UInt8(truncatingIfNeeded: $0) },
        descriptors: [DescriptorDefinition(uuid: "2901", value: Array("Pulse".utf8))])

    init(isExtended: Bool = true, starts: Bool = true) async throws {
        air = LiveAir(seed: 1)
        address = try #require(DeviceAddress("C0:00:00:00:00:01", kind: .public))
        phoneAddress = try #require(DeviceAddress("C0:00:00:00:00:02", kind: .public))
        device = HostRadio(transport: air.transport(ControllerConfiguration(address: address)))
        var configuration = ControllerConfiguration(address: phoneAddress)
        configuration.isExtended = isExtended
        let clock = clock
        phone = HostRadio(
            transport: air.transport(configuration),
            clock: clock)
        guard starts else { return }
        try await playDevice()
        try await phone.start(DeviceIdentity(name: "Phone"), central: phoneSink)
    }

    func playDevice() async throws {
        _ = try await device.start(DeviceIdentity(name: "Mynah"), sink: sink)
        let battery = ServiceDefinition(uuid: "180F", isPrimary: false)
        _ = try await device.publish([
            battery,
            ServiceDefinition(uuid: "180D", includes: [battery.key], characteristics: [rate, control, text]),
        ])
        var advertisement = Advertisement()
        advertisement.localName = "Mynah"
        advertisement.serviceUUIDs = ["180D"]
        advertisement.interval = .milliseconds(20)
        _ = try await device.advertise(advertisement)
    }

    func connect() async throws -> Peer.ID {
        try await phone.connect(address, timeout: nil).id
    }

    func stop() async {
        await phone.stop()
        await device.stop()
    }
}

extension ConnectionParameterReport {
    fileprivate var word: String {
        switch content {
        case .changed(let new): return "interval \(new.minimum)"
        case .requested(let request):
            let answer = request.refusal?.rule.rawValue ?? (request.isAccepted ? "accepted" : "rejected")
            return "\(request.procedure) \(answer)"
        }
    }
}
