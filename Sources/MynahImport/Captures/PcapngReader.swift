import MynahSupport

/// Reads pcapng files (IETF draft-ietf-opsawg-pcapng).
enum PcapngReader {
    private struct Interface {
        var linkType: UInt32
        var number: Int
        /// The number of units of time in a second.
        var unitsPerSecond: UInt64 = 1_000_000
        /// The number of seconds that is added to the interface's times.
        var offset: Int64 = 0
    }

    private enum Block {
        static let section: UInt32 = 0x0A0D_0D0A
        static let interface: UInt32 = 1
        static let obsoletePacket: UInt32 = 2
        static let simplePacket: UInt32 = 3
        static let enhancedPacket: UInt32 = 6
    }

    /// The longest block of a packet, in bytes: the packet, and a few options of 64 KiB, such as comments.
    private static let longestPacketBlock = CaptureRecords.longestRecord * 4

    static func read(_ bytes: [UInt8], into records: inout CaptureRecords) throws(ImportProblem) {
        var cursor = CaptureCursor(bytes)
        var interfaces: [Interface] = []
        var count = 0
        while !cursor.isAtEnd {
            let start = cursor.offset
            guard let type: UInt32 = cursor.integer() else { return records.endEarly(at: start) }
            if type == Block.section {
                guard bytes.count >= start + 12 else { return records.endEarly(at: start) }
                switch bytes[(start + 8)..<(start + 12)] {
                case [0x1A, 0x2B, 0x3C, 0x4D]: cursor.isBigEndian = true
                case [0x4D, 0x3C, 0x2B, 0x1A]: cursor.isBigEndian = false
                default:
                    throw ImportProblem(
                        "a section of pcapng has no byte order; the file is damaged: copy it again",
                        at: start + 8)
                }
                interfaces = []
            }
            guard let length: UInt32 = cursor.integer() else { return records.endEarly(at: start) }
            // Blocks of other types, such as keys for other protocols, are skipped at any length.
            let isPacket = [Block.obsoletePacket, Block.simplePacket, Block.enhancedPacket].contains(type)
            guard length >= 12, length % 4 == 0, !isPacket || length <= longestPacketBlock else {
                throw ImportProblem(
                    """
                    a block says that it has \(length.counting("byte")), which no such block has; the \
                    file is damaged: record or copy it again
                    """, at: start + 4)
            }
            guard let body = cursor.bytes(Int(length) - 12), cursor.bytes(4) != nil else {
                return records.endEarly(at: start)
            }
            var content = CaptureCursor(body)
            content.isBigEndian = cursor.isBigEndian
            switch type {
            case Block.interface:
                interfaces.append(
                    interface(&content, number: count) ?? Interface(linkType: .max, number: count))
                count += 1
            case Block.enhancedPacket, Block.obsoletePacket:
                try packet(
                    &content, isObsolete: type == Block.obsoletePacket, interfaces, at: start, &records)
            // A simple packet has no time, and Bluetooth captures do not use it.
            case Block.simplePacket: records.add([], .bare, time: 0)
            default: break
            }
        }
    }

    private static func interface(_ content: inout CaptureCursor, number: Int) -> Interface? {
        guard let link: UInt16 = content.integer(), content.bytes(6) != nil else { return nil }
        var interface = Interface(linkType: UInt32(link), number: number)
        while let code: UInt16 = content.integer(), code != 0, let length: UInt16 = content.integer(),
            let value = content.bytes(Int(length))
        {
            _ = content.bytes(-Int(length) & 3)
            switch code {
            // if_tsresol: a power of 10, or of 2 with the upper bit.
            case 9 where value.count == 1:
                let exponent = Int(value[0] & 0x7F)
                if value[0] & 0x80 != 0 {
                    interface.unitsPerSecond = exponent < 63 ? 1 << UInt64(exponent) : 1_000_000
                } else if exponent <= 18 {
                    interface.unitsPerSecond = (0..<exponent).reduce(1) { unit, _ in unit * 10 }
                }
            // if_tsoffset.
            case 14 where value.count == 8:
                var time = CaptureCursor(value)
                time.isBigEndian = content.isBigEndian
                interface.offset = time.integer(UInt64.self).map { Int64(bitPattern: $0) } ?? 0
            default: break
            }
        }
        return interface
    }

    private static func packet(
        _ content: inout CaptureCursor, isObsolete: Bool, _ interfaces: [Interface], at start: Int,
        _ records: inout CaptureRecords
    ) throws(ImportProblem) {
        let number: Int?
        if isObsolete {
            number = content.integer(UInt16.self).map(Int.init)
            _ = content.bytes(2)
        } else {
            number = content.integer(UInt32.self).map(Int.init)
        }
        guard let number, let high: UInt32 = content.integer(), let low: UInt32 = content.integer(),
            let included: UInt32 = content.integer(), let original: UInt32 = content.integer()
        else {
            throw ImportProblem(
                "a packet's block is too short; the file is damaged: record or copy it again", at: start)
        }
        guard interfaces.indices.contains(number) else {
            throw ImportProblem(
                """
                a packet is of interface \(number), which the file does not describe; the file is damaged: \
                record or copy it again
                """, at: start + 8)
        }
        let interface = interfaces[number]
        guard let body = content.bytes(try CaptureRecords.length(included, at: start + 20)) else {
            throw ImportProblem(
                """
                a packet says that it has \(included) bytes, more than its block; the file is damaged: \
                record or copy it again
                """, at: start + 20)
        }
        guard let encoding = CaptureRecords.encoding(ofLinkType: interface.linkType) else {
            return records.takeAnother(linkType: interface.linkType)
        }
        records.add(
            body, encoding, source: interface.number, time: time(high, low, interface),
            isShortened: original > included)
    }

    /// Converts a time to microseconds since 1970.
    private static func time(_ high: UInt32, _ low: UInt32, _ interface: Interface) -> Int64 {
        let (seconds, rest) = (UInt64(high) << 32 | UInt64(low)).quotientAndRemainder(
            dividingBy: interface.unitsPerSecond)
        let fraction = rest.multipliedFullWidth(by: 1_000_000)
        let microseconds = interface.unitsPerSecond.dividingFullWidth(fraction).quotient
        return (Int64(truncatingIfNeeded: seconds) &+ interface.offset) &* 1_000_000
            &+ Int64(truncatingIfNeeded: microseconds)
    }
}
