import MynahSupport

/// A Link Layer packet as a sniffer records it, in the format LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR (256).
struct LinkLayerPacket: Hashable, Sendable {
    /// The PDU types of the capture format.
    enum Kind: UInt16, Sendable {
        /// A PDU on an advertising channel, or on a link whose roles are unknown.
        case unspecified = 0
        /// An advertising PDU on a data channel.
        case auxiliary = 1
        case fromCentral = 2
        case fromPeripheral = 3
    }

    /// The channel index, 0 to 39; 37, 38 and 39 are the primary advertising channels.
    var channel: UInt8
    var access: UInt32
    /// The initial value of the CRC's shift register.
    var crcStart: UInt32
    var kind = Kind.unspecified
    /// The PHY: 1 for LE 1M, 2 for LE 2M, 3 for LE Coded.
    var phy: UInt8 = 1
    /// `true` if the link is encrypted, and the packet contains decrypted bytes.
    var isDecrypted = false
    /// The header and the payload.
    var pdu: [UInt8]

    /// The link type of these packets in a capture file.
    static let linkType: UInt16 = 256
    /// The access address of all advertising PDUs (Core Specification, Vol 6, Part B, 2.1.2 and 3.1.1).
    static let advertisingAccess: UInt32 = 0x8E89_BED6
    static let advertisingCRCStart: UInt32 = 0x55_5555

    /// The packet in the format of a capture file: a pseudo-header, the access address, the PDU and its CRC.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 18 + pdu.count)
        writer.write(Self.radioChannel(of: channel))
        // This air has no signal power, noise power or bit errors; their flags remain clear.
        writer.write([0, 0, 0] as [UInt8])
        writer.write(access)
        // The flags: dewhitened, reference access address valid, CRC checked and valid.
        var flags: UInt16 = 0x0001 | 0x0010 | 0x0400 | 0x0800
        if isDecrypted { flags |= 0x0008 }
        flags |= kind.rawValue << 7 | UInt16(phy - 1) << 14
        writer.write(flags)
        writer.write(access)
        // The coding indicator for S=8, which is eight symbols a bit.
        if phy == 3 { writer.write(0 as UInt8) }
        writer.write(pdu)
        let crc = Self.crc(of: pdu, start: crcStart)
        for shift: UInt32 in [0, 8, 16] { writer.write(UInt8(truncatingIfNeeded: crc >> shift)) }
        return writer.bytes
    }

    /// Returns the RF channel for a channel index, as in the pseudo-header (Vol 6, Part B, 1.4.1).
    ///
    /// RF channels are counted from 2402 MHz.
    static func radioChannel(of index: UInt8) -> UInt8 {
        switch index {
        case 37: 0
        case 38: 12
        case 39: 39
        case 0...10: index + 1
        default: index + 2
        }
    }

    /// Returns the CRC of a PDU, whose lowest byte is sent first (Vol 6, Part B, 3.1.1).
    static func crc(of pdu: [UInt8], start: UInt32) -> UInt32 {
        // The register is stored in reverse bit order, because the lowest bit of each byte is processed
        // first.
        var register = reversed(start)
        for byte in pdu {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 0 ? 0 : 0xDA_6000) }
        }
        return register
    }

    private static func reversed(_ value: UInt32) -> UInt32 {
        var found: UInt32 = 0
        for bit in 0..<24 where value >> UInt32(bit) & 1 == 1 { found |= 1 << UInt32(23 - bit) }
        return found
    }
}
