/// Makes blocks of a pcapng capture file, little-endian (IETF draft-ietf-opsawg-pcapng).
public enum Pcapng {
    /// The first block of a file, with the name of the program that writes the file.
    public static func sectionHeader(application: String) -> [UInt8] {
        block(0x0A0D_0D0A) { writer in
            writer.write(0x1A2B_3C4D as UInt32)
            writer.write(1 as UInt16)
            writer.write(0 as UInt16)
            // The section's length is unknown while it is written.
            writer.write(UInt64.max)
            writer.writeOptions([(4, application)])
        }
    }

    /// The block that describes an interface.
    ///
    /// Interfaces are numbered from 0 in the order of their blocks, and packets refer to these numbers.
    public static func interface(linkType: UInt16, name: String) -> [UInt8] {
        block(1) { writer in
            writer.write(linkType)
            writer.write(0 as UInt16)
            // Packets are not shortened.
            writer.write(0 as UInt32)
            writer.writeOptions([(2, name)])
        }
    }

    /// The block of one packet.
    ///
    /// The time is in microseconds since 1970. Wireshark shows the comment.
    public static func packet(
        interface: UInt32, microseconds: UInt64, data: [UInt8], comment: String? = nil
    ) -> [UInt8] {
        block(6, capacity: 36 + data.count) { writer in
            writer.write(interface)
            writer.write(UInt32(truncatingIfNeeded: microseconds >> 32))
            writer.write(UInt32(truncatingIfNeeded: microseconds))
            writer.write(UInt32(data.count))
            writer.write(UInt32(data.count))
            writer.write(data)
            writer.align()
            if let comment { writer.writeOptions([(1, comment)]) }
        }
    }

    /// The length of the whole blocks at the beginning of these bytes, which must begin with a block.
    public static func wholeBlocks(in bytes: ArraySlice<UInt8>) -> Int {
        var reader = ByteReader(bytes)
        var whole = 0
        while reader.readUInt32() != nil, let length = reader.readUInt32(), length >= 12,
            reader.readBytes(Int(length) - 8) != nil
        {
            whole += Int(length)
        }
        return whole
    }

    /// Returns a block: the type, the length, the body, and the length again.
    private static func block(
        _ type: UInt32, capacity: Int = 64, _ body: (inout ByteWriter) -> Void
    ) -> [UInt8] {
        var content = ByteWriter(capacity: capacity)
        body(&content)
        let length = UInt32(content.bytes.count + 12)
        var writer = ByteWriter(capacity: Int(length))
        writer.write(type)
        writer.write(length)
        writer.write(content.bytes)
        writer.write(length)
        return writer.bytes
    }
}

extension ByteWriter {
    /// Appends zeros up to a multiple of four bytes.
    fileprivate mutating func align() {
        write(repeatElement(0, count: -bytes.count & 3))
    }

    /// Appends options, each a code and a text, and the end of options.
    fileprivate mutating func writeOptions(_ options: [(code: UInt16, text: String)]) {
        for (code, text) in options {
            // The length field has 16 bits.
            let bytes = Array(text.prefix(utf8: Int(UInt16.max)).utf8)
            write(code)
            write(UInt16(bytes.count))
            write(bytes)
            align()
        }
        write(0 as UInt32)
    }
}
