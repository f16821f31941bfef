import MynahSupport

/// Apple's Nearby Info, which iPhones advertise to one another.
///
/// Nearby Info is manufacturer-specific data of Apple: the type 0x10, a length, and five or six bytes. These
/// are status and action, data flags and an authentication tag. Apple does not document the format, which
/// was reverse engineered (furiousMAC, continuity).
package struct NearbyInfo: Hashable, Sendable {
    /// The type in Apple's data, which precedes the length.
    package static let type: UInt8 = 0x10
    /// The possible numbers of bytes, as captured.
    package static let lengths = 5...6

    /// The bytes, without type and length.
    package let bytes: [UInt8]

    /// Makes Nearby Info with these bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses an AD structure; returns `nil` if it does not contain Nearby Info.
    package init?(_ structure: ADStructure) {
        var reader = ByteReader(structure.data)
        guard structure.type == .manufacturerSpecificData, reader.readUInt16() == OverflowArea.company,
            reader.readUInt8() == Self.type, let length = reader.readUInt8(),
            let bytes = reader.readBytes(Int(length)), reader.isAtEnd
        else { return nil }
        self.bytes = bytes
    }

    /// The AD structure, which has 11 or 12 bytes.
    package var structure: ADStructure {
        var writer = ByteWriter(capacity: 4 + bytes.count)
        writer.write(OverflowArea.company)
        writer.write(Self.type)
        writer.write(UInt8(bytes.count))
        writer.write(bytes)
        return ADStructure(type: .manufacturerSpecificData, data: writer.bytes)
    }
}
