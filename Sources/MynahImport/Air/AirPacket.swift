import MynahCore
import MynahSupport

/// A packet that a sniffer received on the air (Core Specification, Vol 6, Part B, 2).
struct AirPacket: Hashable {
    /// The header that a capture file has before each link-layer packet.
    ///
    /// The file's link type determines the header (https://www.tcpdump.org/linktypes.html).
    enum Format: Hashable, Sendable {
        /// No header (link type 251), so the sender of a packet is not known.
        case bare
        /// The pseudo-header of link type 256.
        case withPseudoHeader
        /// The header of the nRF Sniffer (link type 272).
        case nordic
    }

    enum Side: Int, Hashable, Sendable {
        case central
        case peripheral

        var other: Side { self == .central ? .peripheral : .central }
    }

    var accessAddress: UInt32
    /// The PDU without its CRC: the header and the payload.
    var pdu: [UInt8]
    /// The sender on a connection, or `nil` if the capture does not record it.
    var side: Side?
    /// Whether the sniffer has decrypted the packet.
    var isDecrypted = false

    /// Whether the sniffer recorded that this is an advertising PDU on a data channel.
    var isAuxiliary = false
    /// The PHY of the packet, or `nil` if the capture does not record it.
    var phy: AdvertisingPHY?

    /// The access address of advertising (2.1.2).
    static let advertisingAccess: UInt32 = 0x8E89_BED6

    /// Parses a packet from a record, or returns `nil` if the record has no valid packet.
    init?(_ bytes: [UInt8], _ format: Format) {
        var reader = ByteReader(bytes)
        var isCoded = false
        switch format {
        case .bare: break
        case .withPseudoHeader:
            guard reader.readBytes(8) != nil, let flags = reader.readUInt16() else { return nil }
            // The sniffer found that the CRC is wrong.
            if flags & 0x0C00 == 0x0400 { return nil }
            isDecrypted = flags & 0x0008 != 0
            isCoded = flags >> 14 == 2
            phy = Self.phy(flags >> 14)
            switch flags >> 7 & 7 {
            case 1: isAuxiliary = true
            case 2: side = .central
            case 3: side = .peripheral
            // Isochronous streams are not imported.
            case 4...: return nil
            default: break
            }
        case .nordic:
            guard let head = reader.readBytes(7), let length = reader.readUInt8(), length >= 2,
                let content = reader.readBytes(Int(length) - 1), let flags = content.first
            else { return nil }
            // Only advertising and data PDUs with a valid CRC are imported.
            guard head[6] == 2 || head[6] == 6, flags & 0x01 != 0 else { return nil }
            side = flags & 0x02 != 0 ? .central : .peripheral
            // The sniffer has the key, and the message integrity code is valid.
            isDecrypted = flags & 0x0C == 0x0C
            isCoded = flags >> 4 & 7 == 2
            phy = Self.phy(UInt16(flags >> 4 & 7))
        }
        guard let access = reader.readUInt32() else { return nil }
        accessAddress = access
        // The Coding Indicator.
        if isCoded { guard reader.readUInt8() != nil else { return nil } }
        guard let first = reader.readUInt8(), let length = reader.readUInt8(),
            let payload = reader.readBytes(Int(length))
        else { return nil }
        pdu = [first, length] + payload
    }

    /// Returns the PHY for its number in a header: 0 for LE 1M, 1 for LE 2M, 2 for LE Coded.
    private static func phy(_ number: UInt16) -> AdvertisingPHY? {
        AdvertisingPHY(rawValue: UInt8(truncatingIfNeeded: number) + 1)
    }
}
