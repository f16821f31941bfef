import MynahCore
import MynahSupport

/// Converts the frames of a virtual air to the Link Layer PDUs that a sniffer would record.
///
/// The virtual air has no preamble, channel, sequence bits or CRC. The encoder adds them, so that each
/// packet is valid and consistent with the packets before it. An encrypted link appears decrypted.
struct LinkLayerEncoder: Sendable {
    enum Role: Sendable {
        case central, peripheral

        var other: Role { self == .central ? .peripheral : .central }
        var kind: LinkLayerPacket.Kind { self == .central ? .fromCentral : .fromPeripheral }
    }

    /// The state of one side of a link.
    struct Side: Sendable {
        /// The sequence bit of the side's last PDU, or `nil` if it has sent none.
        var sequenceBit: Bool?
        /// The sequence number of the next frame that is not a repetition.
        var fresh: UInt16 = 0
        var phy: UInt8 = 1
    }

    struct Link: Sendable {
        let central: Station
        let crcStart: UInt32
        let hop: UInt8
        var channel: UInt8 = 0
        /// The number of connection events so far.
        var events: UInt16 = 0
        var ofCentral = Side()
        var ofPeripheral = Side()
        var isEncrypted = false
        /// The encoder's count of uses at the last use of the link, which is smallest for the least recently
        /// used link.
        var lastUse: UInt64 = 0

        subscript(role: Role) -> Side {
            get { role == .central ? ofCentral : ofPeripheral }
            set { if role == .central { ofCentral = newValue } else { ofPeripheral = newValue } }
        }
    }

    /// Identifies an advertising set by the advertiser's address and the Advertising SID.
    struct Advertiser: Hashable, Sendable {
        var address: DeviceAddress
        var identifier: UInt8?
    }

    /// The channel and the PHY of the auxiliary packets of an extended advertising set.
    struct Auxiliary: Sendable {
        var channel: UInt8
        var phy: UInt8
    }

    /// The most links, and the most extended advertising sets, that are stored.
    ///
    /// The number of links and sets on an air is not limited.
    static let limit = 1024
    /// The largest length of a PDU's payload, in bytes (Core Specification, Vol 6, Part B, 2.3 and 2.4).
    static let longestPayload = 255
    static let longestLegacyData = 31
    static let longestData = 251

    var links: [UInt32: Link] = [:]
    var auxiliaries: [Advertiser: Auxiliary] = [:]
    private var uses: UInt64 = 0

    /// Returns the packets for a frame, in order.
    mutating func packets(of frame: AirFrame) -> [LinkLayerPacket] {
        switch frame.pdu {
        case .advertisement(let advertisement): advertising(advertisement)
        case .scanResponse(let response): scanResponse(response)
        case .scanRequest(let scanner, let advertiser, let identifier):
            [scanRequest(of: scanner, to: Advertiser(address: advertiser, identifier: identifier))]
        case .connect(let connect): [connectRequest(connect, from: frame.from)]
        case .link(let content): link(content, from: frame.from)
        case .periodic(let event): periodic(event)
        }
    }

    // MARK: - Links

    /// Adds a new link, which replaces the least recently used one if `limit` links are stored.
    mutating func addLink(_ access: UInt32, central: Station) -> Link {
        if links.count >= Self.limit, let oldest = links.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            links[oldest.key] = nil
        }
        uses += 1
        // The central may choose both values (Vol 6, Part B, 2.3.3.1).
        let mixed = SeededRandom.mix(UInt64(access))
        var link = Link(
            central: central, crcStart: Self.crcStart(of: access),
            hop: UInt8(5 + mixed >> 24 % 12))
        link.lastUse = uses
        links[access] = link
        return link
    }

    /// The initial CRC value of a link or a train, which its central or its advertiser chooses.
    static func crcStart(of access: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: SeededRandom.mix(UInt64(access))) & 0xFF_FFFF
    }

    private mutating func link(_ frame: LinkFrame, from station: Station) -> [LinkLayerPacket] {
        guard var link = links[frame.access] else { return [unknownLink(frame)] }
        let role: Role = station == link.central ? .central : .peripheral
        // On this air, an empty PDU has no sequence number, so it is never a repetition.
        let isRepeated = frame.content != nil && Int16(bitPattern: frame.sequence &- link[role].fresh) < 0
        if frame.content != nil, !isRepeated { link[role].fresh = frame.sequence &+ 1 }
        let pdus =
            frame.content.map { Self.pdus(of: $0, from: role, event: link.events) }
            ?? [.empty(role)]
        uses += 1
        link.lastUse = uses
        var packets: [LinkLayerPacket] = []
        // On this air, the peripheral sends first; on a real link, it responds to the central's first PDU.
        if role == .peripheral, link.ofCentral.sequenceBit == nil {
            packets.append(packet(.empty(.central), of: frame.access, &link, isRepeated: false))
        }
        for pdu in pdus { packets.append(packet(pdu, of: frame.access, &link, isRepeated: isRepeated)) }
        if let content = frame.content, !isRepeated { link.follow(content, from: role) }
        links[frame.access] = link
        return packets
    }

    private func packet(
        _ pdu: LinkLayerPDU, of access: UInt32, _ link: inout Link, isRepeated: Bool
    ) -> LinkLayerPacket {
        let role = pdu.role
        // The central begins each connection event, on the next channel.
        if role == .central {
            link.events &+= 1
            link.channel = (link.channel + link.hop) % 37
        }
        // A repeated PDU keeps its bit. Several repeated PDUs count as one, because the link layer has one
        // bit.
        let last = link[role].sequenceBit
        let bit = isRepeated ? last ?? false : !(last ?? true)
        link[role].sequenceBit = bit
        let expected = link[role.other].sequenceBit.map { !$0 } ?? false
        var packet = LinkLayerPacket(
            channel: link.channel, access: access, crcStart: link.crcStart, kind: role.kind,
            phy: link[role].phy, pdu: pdu.bytes(sequence: bit, expected: expected))
        packet.isDecrypted = link.isEncrypted
        return packet
    }

    /// Returns the packet for a frame of a link whose beginning was not captured.
    ///
    /// The roles and the initial CRC value of such a link are not known.
    private func unknownLink(_ frame: LinkFrame) -> LinkLayerPacket {
        let pdu = frame.content.flatMap { Self.pdus(of: $0, from: .central, event: 0).first }
        return LinkLayerPacket(
            channel: 0, access: frame.access, crcStart: 0,
            pdu: (pdu ?? .empty(.central)).bytes(
                sequence: frame.sequence & 1 == 1, expected: frame.expected & 1 == 1))
    }
}

extension LinkLayerEncoder.Link {
    /// Updates the state of the link by a PDU that affects the encoding of later PDUs.
    fileprivate mutating func follow(_ content: LinkPDU, from role: LinkLayerEncoder.Role) {
        switch content {
        case .startEncryption: isEncrypted = true
        case .phyUpdate(let sending, let receiving):
            guard (1...3).contains(sending), (1...3).contains(receiving) else { return }
            self[role].phy = sending
            self[role.other].phy = receiving
        default: break
        }
    }
}
