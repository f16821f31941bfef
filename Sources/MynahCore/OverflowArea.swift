import MynahSupport

/// The overflow area of an iPhone's advertising: 128 bits, one of which each service UUID sets.
///
/// On the air it is Apple's manufacturer data of type 0x01, whose mask has no length before it: `14 FF 4C 00
/// 01` and 16 bytes. Apple does not document it. That a UUID's bit is the low seven bits of a CRC-8
/// (polynomial x⁸+x³+1, nothing reflected, initial value 0) over its 16 bytes as written was worked out from
/// 271 published observations, all of which it explains; that 32-bit UUIDs are expanded as 16-bit ones are is
/// an assumption.
package struct OverflowArea: Hashable, Sendable {
    /// Apple's company number.
    package static let company: UInt16 = 0x004C
    /// The type of Apple's data that the mask follows.
    package static let type: UInt8 = 0x01
    /// The bit on which iPhones within centimetres offer to set up an Apple Watch.
    package static let watchSetupIndex = 66
    /// How many bytes the mask has.
    package static let byteCount = 16

    /// The 16 bytes of the mask, in the air's order: bit `i` is bit `i & 7`, lowest first, of byte `i >> 3`.
    package private(set) var mask: [UInt8]

    /// An empty area.
    package init() {
        mask = Array(repeating: 0, count: Self.byteCount)
    }

    /// The area that these UUIDs set together.
    package init(_ uuids: some Sequence<BluetoothUUID>) {
        self.init()
        for uuid in uuids { insert(uuid) }
    }

    /// The area in a structure of advertising data; `nil` if it holds none.
    package init?(_ structure: ADStructure) {
        var reader = ByteReader(structure.data)
        guard structure.type == .manufacturerSpecificData, reader.readUInt16() == Self.company,
            reader.readUInt8() == Self.type, let mask = reader.readBytes(Self.byteCount), reader.isAtEnd
        else { return nil }
        self.mask = mask
    }

    /// The bit of a UUID, 0 to 127.
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

    /// Sets a UUID's bit.
    package mutating func insert(_ uuid: BluetoothUUID) {
        let index = Self.index(of: uuid)
        mask[index >> 3] |= 1 << (index & 7)
    }

    /// Whether a UUID's bit is set, by this UUID or by another one that shares it.
    package func contains(_ uuid: BluetoothUUID) -> Bool {
        let index = Self.index(of: uuid)
        return mask[index >> 3] & 1 << (index & 7) != 0
    }

    /// Whether iPhones within centimetres offer to set up an Apple Watch on seeing it.
    package var setsOffWatchSetup: Bool {
        mask[Self.watchSetupIndex >> 3] & 1 << (Self.watchSetupIndex & 7) != 0
    }

    /// Whether no bit is set.
    package var isEmpty: Bool { mask.allSatisfy { $0 == 0 } }

    /// The 21 bytes on the air.
    package var structure: ADStructure {
        var writer = ByteWriter(capacity: 19)
        writer.write(Self.company)
        writer.write(Self.type)
        writer.write(mask)
        return ADStructure(type: .manufacturerSpecificData, data: writer.bytes)
    }
}
