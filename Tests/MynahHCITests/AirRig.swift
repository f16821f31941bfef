import MynahCore
import MynahHCI
import MynahSupport

/// An air in a test's hands, with a host's view of each controller: what was told, in order.
struct AirRig {
    var air: Air
    private(set) var told: [Station: [H4Packet]] = [:]

    init(seed: UInt64 = 1) {
        air = Air(seed: seed)
    }

    /// A controller that tells everything it can.
    mutating func join(_ number: UInt8, _ change: (inout ControllerConfiguration) -> Void = { _ in })
        -> Station
    {
        var configuration = ControllerConfiguration(address: Self.address(number), cipher: Self.cipher)
        change(&configuration)
        let station = air.join(configuration)
        told[station] = []
        send(.setEventMask, "FFFFFFFFFFFFFFFF", station)
        send(.leSetEventMask, "FFFFFFFFFFFFFFFF", station)
        told[station] = []
        return station
    }

    static func address(_ number: UInt8) -> DeviceAddress {
        guard let address = DeviceAddress(littleEndian: [number, 0, 0, 0, 0, 0xC0], kind: .public) else {
            preconditionFailure("six bytes are an address")
        }
        return address
    }

    /// Not a real cipher: it mixes each byte of key and block into each byte of the result.
    static let cipher: ControllerConfiguration.Cipher = { key, block in
        var state: UInt64 = 7
        for byte in key + block { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 &+ state >> 29 }
        return (0..<16).map { round in
            state = state &* 0x5851_F42D_4C95_7F2D &+ UInt64(round) &+ 1
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    mutating func send(_ opcode: HCIOpcode, _ hex: String = "", _ station: Station) {
        keep(air.handle(HCICommand(opcode, Hex.decode(hex) ?? []).packet, of: station))
    }

    mutating func send(_ packet: H4Packet, _ station: Station) {
        keep(air.handle(packet, of: station))
    }

    /// Takes a frame of another process.
    mutating func take(_ frame: AirFrame) {
        keep(air.handle(frame))
    }

    mutating func pass(milliseconds: Int64) {
        keep(air.advance(to: air.now + milliseconds * 1000))
    }

    private mutating func keep(_ outputs: [Air.Output]) {
        for case .host(let station, let packet) in outputs { told[station, default: []].append(packet) }
    }

    /// The packets to a host since the last call.
    mutating func take(_ station: Station) -> [H4Packet] {
        defer { told[station] = [] }
        return told[station] ?? []
    }

    mutating func events(_ station: Station) -> [HCIEventContent] {
        take(station).compactMap { packet in
            packet.type == .event ? HCIEvent(packet.body).flatMap { HCIEventContent($0) } : nil
        }
    }

    /// The status of the last command, as Command Complete or Command Status says it.
    mutating func ask(_ opcode: HCIOpcode, _ hex: String = "", _ station: Station) -> HCIStatus? {
        send(opcode, hex, station)
        for event in events(station).reversed() {
            switch event {
            case .commandComplete(opcode, _, let values): return values.first.map { HCIStatus($0) }
            case .commandStatus(opcode, _, let status): return status
            default: continue
            }
        }
        return nil
    }

    /// The return parameters of a command, after its status.
    mutating func values(_ opcode: HCIOpcode, _ hex: String = "", _ station: Station) -> [UInt8] {
        send(opcode, hex, station)
        for case .commandComplete(opcode, _, let values) in events(station).reversed() {
            return Array(values.dropFirst())
        }
        return []
    }

    /// Lets one advertise by legacy commands, every 100 ms.
    mutating func advertise(
        _ station: Station, data: String = "020106", type: String = "00", ownType: String = "00"
    ) {
        send(.leSetAdvertisingParameters, "A000 A000 \(type) \(ownType) 00 000000000000 07 00", station)
        let bytes = Hex.decode(data) ?? []
        let padded = [UInt8(bytes.count)] + bytes + [UInt8](repeating: 0, count: 31 - bytes.count)
        send(.leSetAdvertisingData, Hex.encode(padded), station)
        send(.leSetAdvertisingEnable, "01", station)
    }

    mutating func connect(_ central: Station, to peripheral: UInt8) {
        let peer = Hex.encode([peripheral, 0, 0, 0, 0, 0xC0])
        send(.leCreateConnection, "1000 1000 00 00 \(peer) 00 1800 1800 0000 4800 0000 0000", central)
    }

    /// Two that are linked, each by handle 0x0040; what they were told is forgotten.
    static func linked(loss: Double = 0) -> (AirRig, central: Station, peripheral: Station) {
        var rig = AirRig()
        let central = rig.join(1)
        let peripheral = rig.join(2)
        rig.advertise(peripheral)
        rig.connect(central, to: 2)
        rig.pass(milliseconds: 50)
        _ = (rig.take(central), rig.take(peripheral))
        rig.air.loss = loss
        return (rig, central, peripheral)
    }
}
