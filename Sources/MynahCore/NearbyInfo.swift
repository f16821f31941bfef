import MynahSupport

/// Apple's Nearby Info, which iPhones advertise for one another.
///
/// On the air it is Apple's manufacturer data of type 0x10, with its length and five or six bytes: status and
/// action, data flags and an authentication tag, as reverse engineered (furiousMAC, continuity). Apple does
/// not document it.
package struct NearbyInfo: Hashable, Sendable {
    /// The type of Apple's data that the length follows.
    package static let type: UInt8 = 0x10
    /// How many bytes were captured.
    package static let lengths = 5...6

    /// The bytes, without type and length.
    package let bytes: [UInt8]

    /// Nearby Info with these bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The Nearby Info in a structure of advertising data, alone; `nil` if it holds something else.
    package init?(_ structure: ADStructure) {
        var reader = ByteReader(structure.data)
        guard structure.type == .manufacturerSpecificData, reader.readUInt16() == OverflowArea.company,
            reader.readUInt8() == Self.type, let length = reader.readUInt8(),
            let bytes = reader.readBytes(Int(length)), reader.isAtEnd
        else { return nil }
        self.bytes = bytes
    }

    /// The 11 or 12 bytes on the air.
    package var structure: ADStructure {
        var writer = ByteWriter(capacity: 4 + bytes.count)
        writer.write(OverflowArea.company)
        writer.write(Self.type)
        writer.write(UInt8(bytes.count))
        writer.write(bytes)
        return ADStructure(type: .manufacturerSpecificData, data: writer.bytes)
    }
}
