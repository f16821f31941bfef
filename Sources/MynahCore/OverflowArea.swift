import MynahSupport

/// The overflow area in an iPhone's advertising: 128 bits, in which each service UUID sets one bit.
///
/// The overflow area is manufacturer-specific data of Apple with the type 0x01 and without a length: `14 FF
/// 4C 00 01` and 16 bytes. Apple does not document it. The number of a UUID's bit is the low seven bits of a
/// CRC-8 (polynomial x⁸+x³+1, not reflected, initial value 0) over the 16 bytes of the UUID as written. This
/// was derived from 271 published observations, and agrees with all of them. It is an assumption that 32-bit
/// UUIDs are expanded like 16-bit ones.
package struct OverflowArea: Hashable, Sendable {
    /// Apple's company identifier.
    package static let company: UInt16 = 0x004C
    /// The type in Apple's data, which precedes the mask.
    package static let type: UInt8 = 0x01
    /// The bit that makes nearby iPhones, at a distance of centimetres, offer to set up an Apple Watch.
    package static let watchSetupIndex = 66
    /// The number of bytes of the mask.
    package static let byteCount = 16

    /// The 16 bytes of the mask, in their order on the air.
    ///
    /// Bit `i` of the area is bit `i & 7` of byte `i >> 3`, counted from the least significant bit.
    package private(set) var mask: [UInt8]

    /// Makes an empty area.
    package init() {
        mask = Array(repeating: 0, count: Self.byteCount)
    }

    /// Makes the area in which the bits of these UUIDs are set.
    package init(_ uuids: some Sequence<BluetoothUUID>) {
        self.init()
        for uuid in uuids { insert(uuid) }
    }

    /// Parses an AD structure; returns `nil` if it does not contain an overflow area.
    package init?(_ structure: ADStructure) {
        var reader = ByteReader(structure.data)
        guard structure.type == .manufacturerSpecificData, reader.readUInt16() == Self.company,
            reader.readUInt8() == Self.type, let mask = reader.readBytes(Self.byteCount), reader.isAtEnd
        else { return nil }
        self.mask = mask
    }

    /// Returns the number of a UUID's bit, 0 to 127.
    package static func index(of uuid: BluetoothUUID) -> Int {
        var register: UInt8 = 0
        for byte in uuid.bigEndianBytes {
            register ^= byte
            for _ in 0..<8 {
                register = register & 0x80 != 0 ? register << 1 ^ 0x09 : register << 1
            }
        }
        return Int(register & 0x7F)
    }

    /// Sets the bit of a UUID.
    package mutating func insert(_ uuid: BluetoothUUID) {
        let index = Self.index(of: uuid)
        mask[index >> 3] |= 1 << (index & 7)
    }

    /// Whether the bit of a UUID is set; other UUIDs may have the same bit.
    package func contains(_ uuid: BluetoothUUID) -> Bool {
        let index = Self.index(of: uuid)
        return mask[index >> 3] & 1 << (index & 7) != 0
    }

    /// Whether nearby iPhones, at a distance of centimetres, would offer to set up an Apple Watch.
    package var setsOffWatchSetup: Bool {
        mask[Self.watchSetupIndex >> 3] & 1 << (Self.watchSetupIndex & 7) != 0
    }

    /// Whether no bit is set.
    package var isEmpty: Bool { mask.allSatisfy { $0 == 0 } }

    /// The AD structure, which has 21 bytes.
    package var structure: ADStructure {
        var writer = ByteWriter(capacity: 19)
        writer.write(Self.company)
        writer.write(Self.type)
        writer.write(mask)
        return ADStructure(type: .manufacturerSpecificData, data: writer.bytes)
    }
}
