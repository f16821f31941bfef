public import MynahCore
import MynahSupport

/// An LE controller that is none: it answers a host as a real one would, and sends to other stations of an air.
///
/// A machine without I/O: a packet of the host, a PDU of the air or a moment go in, packets and PDUs come out. Commands are those of
/// the Core Specification, Vol 4, Part E, 7; what it does with a PDU follows Vol 6, Part B.
public struct VirtualController: Sendable {
    /// What it wants done.
    public enum Output: Hashable, Sendable {
        /// A packet for the host.
        case host(H4Packet)
        /// A PDU for a station, or for all who hear it.
        case air(AirPDU, to: Station?)
    }

    /// Which generation of commands the host has begun with.
    enum Style: Sendable {
        case legacy
        case extended
    }

    let configuration: ControllerConfiguration
    var random: SplitMix
    var outputs: [Output] = []
    var now = AirTime.zero

    // What a reset brings back.
    var eventMask: UInt64 = 0x0000_1FFF_FFFF_FFFF
    var leEventMask: UInt64 = 0x1F
    var randomAddress: DeviceAddress?
    var style: Style?
    var sets = SortedMap<UInt8, AdvertisingSet>()
    var scan = ScanState()
    var initiation: Initiation?
    var acceptList: [DeviceAddress] = []
    var resolving = ResolvingList()
    var links = SortedMap<UInt16, VirtualLink>()
    var suggestedOctets: UInt16 = 27
    var suggestedTime: UInt16 = 328
    var defaultPHYs: (sending: UInt8, receiving: UInt8) = (7, 7)

    /// A controller that has just been switched on; whatever is drawn follows from the seed.
    public init(_ configuration: ControllerConfiguration, seed: UInt64) {
        self.configuration = configuration
        random = SplitMix(seed: seed)
    }

    /// Its public address.
    public var address: DeviceAddress { configuration.address }

    /// Whether it hears advertising at all now.
    public var isListening: Bool { scan.isOn || initiation != nil }

    /// How many links it has.
    public var linkCount: Int { links.count }

    /// When it wants to be called next though nothing came; nil: never.
    public var due: AirTime? {
        var earliest: AirTime?
        func consider(_ time: AirTime?) {
            if let time, earliest.map({ time < $0 }) ?? true { earliest = time }
        }
        for index in sets.indices where sets[at: index].isOn {
            consider(sets[at: index].next)
            consider(sets[at: index].end)
        }
        for index in links.indices { consider(links[at: index].wake) }
        if scan.isOn { consider(scan.end) }
        return earliest
    }

    /// Takes a packet of the host.
    public mutating func take(_ packet: H4Packet, at time: AirTime) -> [Output] {
        receive(packet, at: time)
        return drain()
    }

    /// As `take`, and leaves what it wants done where it is.
    mutating func receive(_ packet: H4Packet, at time: AirTime) {
        now = max(now, time)
        switch packet.type {
        case .command:
            // A body whose lengths disagree names a command all the same, if it has two bytes.
            var reader = ByteReader(packet.body)
            guard let opcode = reader.readUInt16() else { return }
            command(HCIOpcode(opcode), HCICommand(packet.body)?.parameters)
        case .aclData:
            if let data = ACLPacket(packet.body) { send(data) }
        case .event, .synchronousData, .isochronousData:
            break
        }
    }

    /// Takes what another station sent, and how loud it was.
    public mutating func take(_ pdu: AirPDU, from station: Station, rssi: Int8, at time: AirTime) -> [Output]
    {
        receive(pdu, from: station, rssi: rssi, at: time)
        return drain()
    }

    /// As `take`, and leaves what it wants done where it is.
    mutating func receive(_ pdu: AirPDU, from station: Station, rssi: Int8, at time: AirTime) {
        now = max(now, time)
        switch pdu {
        case .advertisement(let advertisement): hear(advertisement, from: station, rssi: rssi)
        case .scanRequest(let scanner, let advertiser):
            answerScan(from: station, scanner, advertiser)
        case .scanResponse(let response): hearResponse(response, rssi: rssi)
        case .connect(let connect): accept(connect, from: station, rssi: rssi)
        case .link(let frame): hear(frame, from: station, rssi: rssi)
        }
    }

    /// Does what is due.
    public mutating func advance(to time: AirTime) -> [Output] {
        pass(to: time)
        return drain()
    }

    /// As `advance`, and leaves what it wants done where it is.
    mutating func pass(to time: AirTime) {
        now = max(now, time)
        advertise()
        advanceScan()
        advanceLinks()
    }

    private mutating func drain() -> [Output] {
        defer { outputs = [] }
        return outputs
    }

    // MARK: - Events

    /// Tells the host, unless it does not want to be told (Core Specification, Vol 4, Part E, 7.3.1).
    mutating func tell(_ code: UInt8, _ parameters: [UInt8]) {
        let bit: Int? =
            switch code {
            case HCIEvent.commandComplete, HCIEvent.commandStatus, HCIEvent.numberOfCompletedPackets: nil
            default: Int(code) - 1
            }
        if let bit, bit < 64, eventMask & 1 << UInt64(bit) == 0 { return }
        outputs.append(.host(HCIEvent(code, parameters).packet))
    }

    /// Tells an LE event, unless the host does not want to be told (7.8.1); says whether it was told.
    @discardableResult mutating func tellLE(_ subevent: UInt8, _ parameters: [UInt8]) -> Bool {
        guard wantsLE(subevent) else { return false }
        tell(HCIEvent.leMeta, [subevent] + parameters)
        return true
    }

    /// Whether the host wants an LE event.
    func wantsLE(_ subevent: UInt8) -> Bool {
        eventMask & 1 << 61 != 0 && leEventMask & 1 << UInt64(max(Int(subevent) - 1, 0)) != 0
    }
}
