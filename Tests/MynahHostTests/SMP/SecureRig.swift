import MynahCore
import MynahFaults
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// The user of a device and a phone: reads numbers here and types them there.
final class PairingUser: Sendable {
    struct State {
        var consents = true
        var agrees = true
        var slip: UInt32 = 0
        /// The number to enter if none is shown.
        var ownNumber: UInt32?
        var shown: UInt32?
        var typing: [PendingPairingReply] = []
        var asked: [String] = []
        var compared: [UInt32] = []
        var held: [PendingPairingReply] = []
        var holds = false
    }
    let state = Lock(State())

    func take(_ step: PairingStep, _ side: String) -> RadioAnswer {
        let (answer, typed, number): (RadioAnswer, [PendingPairingReply], UInt32) = state.withLock { state in
            switch step {
            case .display(let number):
                state.asked.append("\(side) shows")
                state.shown = number
                defer { state.typing = [] }
                return (.none, state.typing, number &+ state.slip)
            case .compare(let number):
                state.asked.append("\(side) compares")
                state.compared.append(number)
                return (.pairing(state.agrees ? .agreed : .declined), [], 0)
            case .agree:
                state.asked.append("\(side) agrees")
                if state.holds {
                    let reply = PendingPairingReply()
                    state.held.append(reply)
                    return (.pairingLater(reply.pending), [], 0)
                }
                return (state.consents ? .none : .pairing(.declined), [], 0)
            case .enter:
                state.asked.append("\(side) types")
                if let number = state.ownNumber ?? state.shown.map({ $0 &+ state.slip }) {
                    return (.pairing(.passkey(number)), [], 0)
                }
                let reply = PendingPairingReply()
                state.typing.append(reply)
                return (.pairingLater(reply.pending), [], 0)
            }
        }
        for reply in typed { reply.answer(.passkey(number)) }
        return answer
    }

    var asked: [String] { state.withLock { $0.asked } }
}

/// A peripheral's sink with a user, or a central's.
final class SecureSink: RadioSink, CentralSink {
    let user: PairingUser
    private let words = Lock<[String]>([])
    private let peers = Lock<[Peer]>([])
    private let addresses = Lock<Set<DeviceAddress>>([])
    /// The private addresses of bonded devices that were heard.
    let resolved = Lock<Set<DeviceAddress>>([])
    private let channels = Lock<[any L2CAPChannel]>([])
    private let reported = Lock<[AdvertisingReport]>([])

    /// The radio's own reports of its advertising.
    var reports: [AdvertisingReport] { reported.withLock { $0 } }

    init(_ user: PairingUser) {
        self.user = user
    }

    func handle(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .pairing(_, let step): return user.take(step, "device")
        case .paired: add("paired")
        case .connected(let peer):
            peers.withLock { $0.append(peer) }
            add("connected")
        case .peerChanged(let peer): peers.withLock { $0.append(peer) }
        case .disconnected: add("disconnected")
        case .subscribed(_, _, let delivery): add("subscribed \(delivery?.rawValue ?? "")")
        case .unsubscribed: add("unsubscribed")
        case .write(let request):
            add("write \(Hex.encode(request.parts[0].value)) \(request.wantsResponse)")
            return request.wantsResponse ? .answer(.success([])) : .none
        case .read: return .answer(.success([0x63]))
        case .channelOpened(let channel): channels.withLock { $0.append(channel) }
        case .advertisingChanged(let report): reported.withLock { $0.append(report) }
        case .warning(let warning): add("warning \(warning.code)")
        default: break
        }
        return .none
    }

    func handle(_ event: CentralEvent) -> RadioAnswer {
        switch event {
        case .pairing(_, let step): return user.take(step, "phone")
        case .paired: add("paired")
        case .connected(let peer): peers.withLock { $0.append(peer) }
        case .peerChanged(let peer): peers.withLock { $0.append(peer) }
        case .disconnected(_, let error):
            add("disconnected")
            if let reason = error?.reason { add("reason \(Hex.encode([reason]))") }
        case .heard(let report):
            addresses.withLock { _ = $0.insert(report.address) }
            if let address = report.resolvedAddress { resolved.withLock { _ = $0.insert(address) } }
        case .notified(_, let handle, let value, let delivery):
            add("\(delivery.rawValue) \(handle) \(Hex.encode(value))")
        case .servicesChanged(_, let range): add("services \(range.lowerBound) \(range.upperBound)")
        case .warning(let warning): add("warning \(warning.code)")
        default: break
        }
        return .none
    }

    /// The first channel that a central opened.
    func firstChannel() async throws -> any L2CAPChannel {
        try await until("a channel is open") { channels.withLock { !$0.isEmpty } }
        return try #require(channels.withLock { $0.first })
    }

    private func add(_ word: String) { words.withLock { $0.append(word) } }
    var all: [String] { words.withLock { $0 } }
    var lastPeer: Peer? { peers.withLock { $0.last } }
    /// The addresses that were heard.
    var heard: Set<DeviceAddress> { addresses.withLock { $0 } }
    func wait(for word: String, times: Int = 1) async throws {
        try await until("\"\(word)\" is reported \(times) times") { all.count { $0 == word } >= times }
    }
}

/// A device with values that want security, and a phone, both on our own host, with nothing but an air
/// between them.
struct SecureRig {
    let air = LiveAir(seed: 1)
    let user = PairingUser()
    let deviceSink: SecureSink
    let phoneSink: SecureSink
    let device: HostRadio
    /// The layer of faults around the device, or `nil` if it has none.
    let layer: FaultyRadio?
    let phone: HostRadio
    let address: DeviceAddress
    let phoneAddress: DeviceAddress

    static func secured(_ number: UInt16, _ requirement: SecurityRequirement) -> CharacteristicDefinition {
        CharacteristicDefinition(
            uuid: BluetoothUUID(number), properties: [.read, .write],
            permissions: AttributePermissions(read: requirement, write: requirement), value: nil)
    }

    let encrypted = Self.secured(0xAA01, .encrypted)
    let authenticated = Self.secured(0xAA02, .authenticated)
    let secure = Self.secured(0xAA03, .secure)
    let rate = CharacteristicDefinition(
        uuid: "2A37", properties: [.notify, .indicate],
        permissions: AttributePermissions(notify: .encrypted))
    let signed = CharacteristicDefinition(
        uuid: BluetoothUUID(0xAA04 as UInt16), properties: [.authenticatedSignedWrites, .read])

    init(
        device: IOCapability = .noInputNoOutput, phone: IOCapability = .noInputNoOutput,
        deviceOptions: HostRadio.Options = .init(), phoneOptions: HostRadio.Options = .init(),
        clock: ManualClock? = nil, faults: [Fault] = []
    ) async throws {
        address = try #require(DeviceAddress("C0:00:00:00:00:01", kind: .public))
        phoneAddress = try #require(DeviceAddress("C0:00:00:00:00:02", kind: .public))
        deviceSink = SecureSink(user)
        phoneSink = SecureSink(user)
        let transport = air.transport(ControllerConfiguration(address: address))
        if let clock {
            self.device = HostRadio(
                transport: transport, options: deviceOptions,
                clock: clock)
        } else {
            self.device = HostRadio(transport: transport, options: deviceOptions)
        }
        layer = faults.isEmpty ? nil : FaultyRadio(self.device, faults: faults, seed: 1)
        self.phone = HostRadio(
            transport: air.transport(ControllerConfiguration(address: phoneAddress)), options: phoneOptions)
        try await play(device)
        try await self.phone.start(DeviceIdentity(name: "Phone", ioCapability: phone), central: phoneSink)
    }

    var services: [ServiceDefinition] {
        [
            ServiceDefinition(
                uuid: "180D", characteristics: [encrypted, authenticated, secure, rate, signed])
        ]
    }

    func play(_ capability: IOCapability) async throws {
        let radio: any PeripheralRadio = layer ?? device
        _ = try await radio.start(
            DeviceIdentity(name: "Mynah", ioCapability: capability), sink: deviceSink)
        _ = try await radio.publish(services)
        var advertisement = Advertisement()
        advertisement.interval = .milliseconds(20)
        _ = try await radio.advertise(advertisement)
    }

    func connect() async throws -> Peer.ID {
        try await phone.connect(address, timeout: .seconds(20)).id
    }

    func disconnect(_ peer: Peer.ID) async throws {
        let before = deviceSink.all.count { $0 == "disconnected" }
        await phone.disconnect(peer)
        try await deviceSink.wait(for: "disconnected", times: before + 1)
        // The phone's own controller may say so later.
        try await until("the phone has no link") { await phone.onlyLink == nil }
    }

    func handle(of characteristic: CharacteristicDefinition) async throws -> AttributeHandle {
        try #require(await device.handle(of: characteristic))
    }

    /// The code of the error of a read, or `nil` if it succeeds.
    func refusal(of characteristic: CharacteristicDefinition, _ peer: Peer.ID) async throws -> UInt8? {
        let handle = try await handle(of: characteristic)
        do throws(RequestError) {
            _ = try await phone.read(handle, of: peer)
            return nil
        } catch {
            guard case .refused(let code) = error else { throw error }
            return code.code
        }
    }

    func stop() async {
        await phone.stop()
        await device.stop()
    }
}

extension HostRadio {
    func handle(of characteristic: CharacteristicDefinition) -> AttributeHandle? {
        links.server.database.handle(of: characteristic.key)
    }
    var onlyLink: Link? { links.acl.table.values.first }
    var onlySecurity: LinkSecurity? { links.acl.table.handles.first.map { links.security[$0] } }
    var bonds: BondStore { links.security.bonds }
}
