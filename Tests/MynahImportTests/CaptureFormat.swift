import MynahHCI
import MynahSupport

@testable import MynahImport

/// Writers of every format that is read.
enum CaptureFormat: CaseIterable {
    case btsnoop, btsnoopBare, btmon, pcap, pcapSwapped, pcapNano, pcapWithDirection, pcapng, pcapngSwapped,
        packetLogger, packetLoggerSwapped, linuxMonitor

    /// Big-endian or little-endian integers and bytes.
    private struct Writer {
        var isBigEndian: Bool
        var bytes: [UInt8] = []

        mutating func write(_ value: some FixedWidthInteger & UnsignedInteger) {
            withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) { bytes += $0 }
        }
    }

    func bytes(_ packets: [CapturedPacket]) -> [UInt8] {
        switch self {
        case .btsnoop: Self.btsnoop(packets, 1002)
        case .btsnoopBare: Self.btsnoop(packets, 1001)
        case .btmon: Self.btsnoop(packets, 2001)
        case .pcap: Self.pcap(packets, 187, isBigEndian: false)
        case .pcapSwapped: Self.pcap(packets, 187, isBigEndian: true)
        case .pcapNano: Self.pcap(packets, 201, isBigEndian: false, isNano: true)
        case .pcapWithDirection: Self.pcap(packets, 201, isBigEndian: true)
        case .linuxMonitor: Self.pcap(packets, 254, isBigEndian: false)
        case .pcapng: Self.pcapng(packets)
        case .pcapngSwapped: Self.pcapngSwapped(packets)
        case .packetLogger: Self.packetLogger(packets, isBigEndian: true)
        case .packetLoggerSwapped: Self.packetLogger(packets, isBigEndian: false)
        }
    }

    private static func opcode(of packet: CapturedPacket) -> UInt16 {
        switch packet.packet.type {
        case .command: 2
        case .event: 3
        default: packet.isFromController ? 5 : 4
        }
    }

    private static func btsnoop(_ packets: [CapturedPacket], _ link: UInt32) -> [UInt8] {
        var writer = Writer(isBigEndian: true, bytes: Array("btsnoop\0".utf8))
        writer.write(1 as UInt32)
        writer.write(link)
        for packet in packets {
            let data = link == 1002 ? packet.packet.bytes : packet.packet.body
            writer.write(UInt32(data.count))
            writer.write(UInt32(data.count))
            var flags: UInt32 = packet.isFromController ? 1 : 0
            if packet.packet.type != .aclData { flags |= 2 }
            writer.write(link == 2001 ? UInt32(opcode(of: packet)) : flags)
            writer.write(0 as UInt32)
            writer.write(UInt64(packet.time - 946_684_800_000_000) + 0x00E0_3AB4_4A67_6000)
            writer.bytes += data
        }
        return writer.bytes
    }

    private static func record(_ packet: CapturedPacket, _ link: UInt32) -> [UInt8] {
        switch link {
        case 201: [0, 0, 0, packet.isFromController ? 1 : 0] + packet.packet.bytes
        case 254: [0, 0, 0, UInt8(opcode(of: packet))] + packet.packet.body
        default: packet.packet.bytes
        }
    }

    private static func pcap(
        _ packets: [CapturedPacket], _ link: UInt32, isBigEndian: Bool, isNano: Bool = false
    ) -> [UInt8] {
        var writer = Writer(isBigEndian: isBigEndian)
        writer.write(isNano ? 0xA1B2_3C4D : 0xA1B2_C3D4 as UInt32)
        writer.write(2 as UInt16)
        writer.write(4 as UInt16)
        writer.write(0 as UInt64)
        writer.write(65535 as UInt32)
        writer.write(link)
        for packet in packets {
            let data = record(packet, link)
            writer.write(UInt32(packet.time / 1_000_000))
            writer.write(UInt32(packet.time % 1_000_000) * (isNano ? 1000 : 1))
            writer.write(UInt32(data.count))
            writer.write(UInt32(data.count))
            writer.bytes += data
        }
        return writer.bytes
    }

    private static func pcapng(_ packets: [CapturedPacket]) -> [UInt8] {
        var bytes =
            Pcapng.sectionHeader(application: "test") + Pcapng.interface(linkType: 256, name: "air")
            + Pcapng.packet(interface: 0, microseconds: 1, data: [1, 2, 3])
        let sources = Set(packets.map(\.source)).sorted()
        for source in sources { bytes += Pcapng.interface(linkType: 201, name: "hci \(source)") }
        for packet in packets {
            bytes += Pcapng.packet(
                interface: UInt32(1 + (sources.firstIndex(of: packet.source) ?? 0)),
                microseconds: UInt64(packet.time), data: record(packet, 201), comment: "a comment")
        }
        return bytes
    }

    /// Big-endian, with times in units of 1/2^20 s that begin a year later.
    private static func pcapngSwapped(_ packets: [CapturedPacket]) -> [UInt8] {
        var writer = Writer(isBigEndian: true)
        func block(_ type: UInt32, _ body: (inout Writer) -> Void) -> [UInt8] {
            var content = Writer(isBigEndian: true)
            body(&content)
            content.bytes += Array(repeating: 0, count: -content.bytes.count & 3)
            var block = Writer(isBigEndian: true)
            block.write(type)
            block.write(UInt32(content.bytes.count + 12))
            block.bytes += content.bytes
            block.write(UInt32(content.bytes.count + 12))
            return block.bytes
        }
        let offset: Int64 = 31_536_000
        writer.bytes += block(0x0A0D_0D0A) { content in
            content.write(0x1A2B_3C4D as UInt32)
            content.write(1 as UInt16)
            content.write(0 as UInt16)
            content.write(UInt64.max)
        }
        writer.bytes += block(1) { content in
            content.write(187 as UInt16)
            content.write(0 as UInt16)
            content.write(0 as UInt32)
            content.write(9 as UInt16)
            content.write(1 as UInt16)
            content.bytes += [0x94, 0, 0, 0]
            content.write(14 as UInt16)
            content.write(8 as UInt16)
            content.write(UInt64(offset))
            content.write(0 as UInt32)
        }
        for packet in packets {
            let seconds = UInt64(packet.time / 1_000_000 - offset)
            // Rounded up, so that the microsecond comes back.
            let fraction = (UInt64(packet.time % 1_000_000) << 20 + 999_999) / 1_000_000
            let units = seconds << 20 + fraction
            writer.bytes += block(6) { content in
                content.write(0 as UInt32)
                content.write(UInt32(units >> 32))
                content.write(UInt32(truncatingIfNeeded: units))
                let data = packet.packet.bytes
                content.write(UInt32(data.count))
                content.write(UInt32(data.count))
                content.bytes += data
            }
        }
        return writer.bytes
    }

    private static func packetLogger(_ packets: [CapturedPacket], isBigEndian: Bool) -> [UInt8] {
        var writer = Writer(isBigEndian: isBigEndian)
        for packet in packets {
            writer.write(UInt32(packet.packet.body.count + 9))
            writer.write(UInt32(packet.time / 1_000_000))
            writer.write(UInt32(packet.time % 1_000_000))
            let type: UInt8 =
                switch packet.packet.type {
                case .command: 0
                case .event: 1
                default: packet.isFromController ? 3 : 2
                }
            writer.bytes.append(type)
            writer.bytes += packet.packet.body
        }
        return writer.bytes
    }
}
