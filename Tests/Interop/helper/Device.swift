import Mynah
import MynahCore
import MynahFaults
import MynahHCI
import MynahHost
import MynahSupport

/// A device with one value of each kind and two channels that answer with what they are sent, through the
/// public library.
struct Device {
    /// How it is to be.
    struct Choices {
        var io = IOCapability.noInputNoOutput
        var isSecure = true
        var scans = false
        var hasFaults = false

        init(_ words: [String]) {
            for word in words {
                if let io = IOCapability(rawValue: word) { self.io = io }
                if word == "legacy" { isSecure = false }
                if word == "scans" { scans = true }
                if word == "faults" { hasFaults = true }
            }
        }
    }

    let phone: Mynah.Phone
    private let manager: PeripheralManager
    private let attributes = Attributes()
    private let ears = Ears()
    /// The layer of faults around the radio, or `nil` if the device has none.
    private let layer: FaultyRadio?

    init(_ transport: any HCITransport, _ choices: Choices) async throws {
        var options = HostRadio.Options()
        options.hasSecureConnections = choices.isSecure
        let radio = HostRadio(transport: transport, options: options)
        if choices.scans {
            // It is a central first, and plays a peripheral besides.
            try await radio.start(DeviceIdentity(name: "Mynah interop"), central: ears)
            try await radio.scan(ScanOptions())
        }
        layer = choices.hasFaults ? Faults.layer(around: radio, of: attributes) : nil
        phone = Mynah.Phone(
            radio: layer ?? radio,
            identity: DeviceIdentity(name: "Mynah interop", ioCapability: choices.io), sink: attributes)
        try await phone.start()
        manager = await phone.makePeripheralManager(sink: attributes)
        try await manager.add(attributes.service)
        for isEncrypted in [false, true] {
            let psm = try await manager.publishL2CAPChannel(withEncryption: isEncrypted)
            Helper.say("psm", "\(psm)")
        }
        var advertisement = Advertisement()
        advertisement.localName = "Mynah interop"
        advertisement.interval = .milliseconds(20)
        try await manager.startAdvertising(advertisement)
        Helper.say("ready")
    }

    /// Does what the driver says: `update HEX`, `latency low`, `fault NAME on`.
    func `do`(_ line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        if words.count == 3, words[0] == "fault" {
            _ = try await layer?.turn(words[1], isOn: words[2] == "on")
            return Helper.say(line)
        }
        guard words.count == 2 else { return }
        switch words[0] {
        case "update":
            guard let value = Hex.decode(words[1]) else { return }
            Helper.say("sent", "\(try await manager.updateValue(value, for: attributes.ticks.key))")
        case "latency":
            guard let latency = ConnectionLatency(rawValue: words[1]),
                let central = await phone.connectedCentrals.first
            else { return }
            Helper.say(
                "latency", "\(try await manager.setDesiredConnectionLatency(latency, for: central.id))")
        default: return
        }
    }
}

/// The device's values, and what it says of what happens to them.
final class Attributes: PeripheralSink, PhoneSink {
    static func uuid(_ number: UInt8) -> BluetoothUUID {
        BluetoothUUID("F0DE00\(Hex.encode([number]))-0000-4000-8000-00C0FFEE0000")
            ?? BluetoothUUID(0xFFF0 as UInt16)
    }

    let value = CharacteristicDefinition(uuid: uuid(2), properties: [.read, .write])
    let long = CharacteristicDefinition(uuid: uuid(3), properties: [.read, .write])
    let ticks = CharacteristicDefinition(uuid: uuid(4), properties: [.notify, .indicate])
    let locked = CharacteristicDefinition(
        uuid: uuid(5), properties: .read, permissions: AttributePermissions(read: .encrypted))
    let command = CharacteristicDefinition(uuid: uuid(6), properties: [.read, .writeWithoutResponse])
    let strong = CharacteristicDefinition(
        uuid: uuid(7), properties: .read, permissions: AttributePermissions(read: .authenticated))
    private let values: Lock<[AttributeKey: [UInt8]]>

    /// The passkey to enter when one is needed.
    private static let passkey: UInt32 = 123_456

    init() {
        values = Lock([
            value.key: [1], long.key: (0..<300).map { UInt8($0 & 0xFF) }, locked.key: [5], command.key: [6],
            strong.key: [7],
        ])
    }

    var service: ServiceDefinition {
        ServiceDefinition(uuid: Self.uuid(1), characteristics: [value, long, ticks, locked, command, strong])
    }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .read(let request, _):
            let whole = values.withLock { $0[request.attribute] ?? [] }
            guard request.offset <= whole.count else { return .answer(.failure(.invalidOffset)) }
            return .answer(.success(Array(whole[request.offset...])))
        case .write(let request, _):
            values.withLock { values in
                for part in request.parts {
                    var whole = part.offset == 0 ? [] : values[part.attribute] ?? []
                    whole = Array(whole.prefix(part.offset)) + part.value
                    values[part.attribute] = whole
                }
            }
            Helper.say("written", Hex.encode(request.parts.flatMap(\.value)))
            return .answer(.success([]))
        case .subscribed(_, _, let delivery): Helper.say("subscribed", delivery?.rawValue ?? "")
        case .unsubscribed: Helper.say("unsubscribed")
        case .confirmed: Helper.say("confirmed")
        case .channelOpened(let channel, _):
            Task {
                while let piece = await channel.receive() { try await channel.send(piece) }
                Helper.say("channel closed")
            }
        default: break
        }
        return .none
    }

    func handle(_ event: PhoneEvent) -> RadioAnswer {
        switch event {
        case .pairing(_, .display(let number)): Helper.say("display", "\(number)")
        case .pairing(_, .compare(let number)): Helper.say("compare", "\(number)")
        case .pairing(_, .enter):
            Helper.say("enter")
            return .pairing(.passkey(Self.passkey))
        case .paired: Helper.say("paired")
        case .connected: Helper.say("connected")
        case .disconnected: Helper.say("disconnected")
        case .lost(let error): Helper.say("lost", "\(error)")
        default: break
        }
        return .none
    }
}
