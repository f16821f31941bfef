import MynahCore
import MynahHCI
import MynahSupport

/// Translates packets from the air to HCI packets: those that the central's controller would have sent to
/// its host.
struct AirTranslator {
    /// An access address, which is unique for each interface of a capture.
    struct Access: Hashable {
        var source: Int
        var accessAddress: UInt32
    }

    /// A device with extended advertising, whose data may be split into several PDUs.
    private struct Advertiser {
        var address: DeviceAddress
        var mode: UInt8
        /// The interval of its periodic advertising, in units of 1.25 ms, or 0 if it has none.
        var periodicInterval: UInt16 = 0
    }

    private let keys: LongTermKeys
    private var links: [Access: AirLink] = [:]
    private var nextHandle: UInt16 = 1
    /// The advertisers of extended advertising, by the ADI (AdvDataInfo) of their PDUs.
    private var advertisers: [UInt16: Advertiser] = [:]
    /// The primary PHYs of the extended advertising sets, by the ADI (AdvDataInfo) of their PDUs.
    private var announcements: [UInt16: AdvertisingPHY] = [:]
    private var trains = AirTrains()
    private var isAskedForResponse = false
    /// The number of encrypted packets that could not be decrypted, by peripheral.
    ///
    /// The key is `nil` for a connection that began before the capture.
    private(set) var unreadable: [DeviceAddress?: Int] = [:]

    /// Whether a link was encrypted, so that a long-term key might help to decrypt it.
    private(set) var hasEncryptedLink = false

    /// The maximum number of links, and of advertisers, that are tracked at a time; only a forged capture has
    /// more.
    private static let limit = 1000

    init(_ keys: LongTermKeys) { self.keys = keys }

    /// Returns the HCI packets that the controller would have sent for a packet from the air.
    mutating func take(_ packet: AirPacket, source: Int, time: Int64) -> [CapturedPacket] {
        let access = Access(source: source, accessAddress: packet.accessAddress)
        let packets: Packets
        if packet.accessAddress == AirPacket.advertisingAccess {
            packets = advertising(packet.pdu, packet.phy, source)
        } else if packet.isAuxiliary || trains.contains(access) {
            packets = trains.take(packet, source: source, at: time).map { ($0.packet, true) }
        } else {
            packets = data(packet, source)
        }
        return packets.map { packet, isFromController in
            CapturedPacket(source: source, time: time, isFromController: isFromController, packet: packet)
        }
    }

    private typealias Packets = [(packet: H4Packet, isFromController: Bool)]

    // MARK: Advertising (Core Specification, Vol 6, Part B, 2.3)

    private mutating func advertising(_ pdu: [UInt8], _ phy: AdvertisingPHY?, _ source: Int) -> Packets {
        var reader = ByteReader(Array(pdu[2...]))
        let kind: UInt8 = pdu[0] & 0x40 != 0 ? 1 : 0
        switch pdu[0] & 0x0F {
        case 0, 2, 4, 6:
            guard let address = reader.readAddress(kind: kind), reader.remaining <= 31 else { return [] }
            // HCI (Vol 4, Part E, 7.7.65.2) numbers the event types in another order.
            let type: UInt8 = [0: 0, 2: 3, 4: 4, 6: 2][pdu[0] & 0x0F] ?? 0
            let data = reader.readRest()
            var event = ByteWriter()
            event.write([0x02, 1, type, kind])
            event.write(address)
            event.write([UInt8(data.count)] + data + [0x7F])
            return [Self.event(HCIEvent.leMeta, event.bytes)]
        case 3:
            isAskedForResponse = true
            return []
        case 5: return connection(pdu[0], &reader, source)
        case 7:
            defer { isAskedForResponse = false }
            return extended(kind, phy, &reader, source)
        default: return []
        }
    }

    /// Translates CONNECT_IND and AUX_CONNECT_REQ (2.3.3.1).
    private mutating func connection(_ header: UInt8, _ reader: inout ByteReader, _ source: Int) -> Packets {
        let kind: UInt8 = header & 0x80 != 0 ? 1 : 0
        guard reader.readBytes(6) != nil, let address = reader.readAddress(kind: kind),
            let access = reader.readUInt32(), reader.readBytes(6) != nil,
            let parameters = reader.readBytes(6)
        else { return [] }
        let link = open(Access(source: source, accessAddress: access), address)
        var event = ByteWriter()
        event.write([0x01, 0x00])
        event.write(link.handle.rawValue)
        event.write([0x00, kind])
        event.write(address)
        event.write(parameters + [0])
        return [Self.event(HCIEvent.leMeta, event.bytes)]
    }

    /// Translates PDUs with the Common Extended Advertising Payload Format (2.3.4).
    private mutating func extended(
        _ kind: UInt8, _ phy: AdvertisingPHY?, _ reader: inout ByteReader, _ source: Int
    ) -> Packets {
        guard let first = reader.readUInt8(), let bytes = reader.readBytes(Int(first & 0x3F)) else {
            return []
        }
        var header = ByteReader(bytes)
        let flags = header.readUInt8() ?? 0
        var address: DeviceAddress?
        if flags & 0x01 != 0 { address = header.readAddress(kind: kind) }
        if flags & 0x02 != 0 { _ = header.readBytes(6) }
        if flags & 0x04 != 0 { _ = header.readUInt8() }
        let identifier = flags & 0x08 != 0 ? header.readUInt16() : nil
        // On the primary channels, AuxPtr points to the data; here, it points to the rest of the data.
        let hasMore = flags & 0x10 != 0
        if hasMore { _ = header.readBytes(3) }
        let sync = flags & 0x20 != 0 ? AirTrains.SyncInfo(&header) : nil
        let data = reader.readRest()
        if let identifier {
            if let address, advertisers[identifier] != nil || advertisers.count < Self.limit {
                advertisers[identifier] = Advertiser(
                    address: address, mode: first >> 6, periodicInterval: sync?.interval ?? 0)
            }
        }
        if let identifier, let phy, hasMore, data.isEmpty,
            announcements[identifier] != nil || announcements.count < Self.limit
        {
            announcements[identifier] = phy
        }
        let known = identifier.flatMap { advertisers[$0] }
        guard let from = address ?? known?.address else { return [] }
        // An announcement on the primary channels has no data, and points to the PDU with the data.
        guard !data.isEmpty || address != nil && !hasMore else { return [] }
        // A chained PDU does not repeat the advertising mode.
        let mode = address == nil ? known?.mode ?? 0 : first >> 6
        var packets: Packets = []
        let set = UInt8(truncatingIfNeeded: (identifier ?? 0) >> 12)
        if let sync, let event = trains.add(sync, of: from, set, phy ?? .le1M, source: source) {
            packets.append((event.packet, true))
        }
        var rest = data[...]
        repeat {
            let piece = rest.prefix(Self.longestReport)
            rest = rest.dropFirst(piece.count)
            let more: UInt16 = hasMore || !rest.isEmpty ? 0x20 : 0
            var event = ByteWriter()
            event.write([0x0D, 1])
            event.write(UInt16(isAskedForResponse && mode == 0 ? 0x0A : mode & 3) | more)
            event.write([from.kind == .random ? 1 : 0])
            event.write(from)
            let primary = identifier.flatMap { announcements[$0] } ?? .le1M
            event.write([primary.rawValue, (phy ?? .le1M).rawValue, set, 0x7F, 0x7F])
            event.write(sync?.interval ?? known?.periodicInterval ?? 0)
            event.write([UInt8](repeating: 0, count: 7))
            event.write([UInt8(piece.count)] + piece)
            packets.append(Self.event(HCIEvent.leMeta, event.bytes))
        } while !rest.isEmpty
        return packets
    }

    /// The longest data in one LE Extended Advertising Report, in bytes (Vol 4, Part E, 7.7.65.13).
    private static let longestReport = 229

    // MARK: Connections

    private mutating func open(_ key: Access, _ peripheral: DeviceAddress?) -> AirLink {
        if links.count >= Self.limit { links = [:] }
        let link = AirLink(ConnectionHandle(rawValue: nextHandle), peripheral, keys)
        // The highest handle is 0x0EFF.
        nextHandle = nextHandle % 0x0EFF + 1
        links[key] = link
        return link
    }

    private mutating func data(_ packet: AirPacket, _ source: Int) -> Packets {
        let key = Access(source: source, accessAddress: packet.accessAddress)
        var link = links[key] ?? open(key, nil)
        let meanings = link.take(packet)
        links[key] = link
        return meanings.compactMap { meaning in
            switch meaning {
            case .unreadable:
                hasEncryptedLink = true
                unreadable[link.peripheral, default: 0] += 1
                return nil
            case .encrypted:
                hasEncryptedLink = true
                return Self.event(HCIEvent.encryptionChange, [0] + link.handle.littleEndianBytes + [1])
            case .disconnected(let reason):
                links[key] = nil
                return Self.event(
                    HCIEvent.disconnectionComplete, [0] + link.handle.littleEndianBytes + [reason])
            case .data(let bytes, let isFirst, let side):
                let isFromController = side == .peripheral
                let first: ACLPacket.Boundary = isFromController ? .firstFlushable : .first
                let acl = ACLPacket(handle: link.handle, boundary: isFirst ? first : .continuing, data: bytes)
                return (acl.packet, isFromController)
            }
        }
    }

    private static func event(_ code: UInt8, _ parameters: [UInt8]) -> (H4Packet, Bool) {
        (HCIEvent(code, parameters).packet, true)
    }
}
