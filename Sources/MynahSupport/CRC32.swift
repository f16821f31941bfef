/// Computes the CRC-32 of Ethernet and zip (polynomial 0x04C11DB7, reflected), piece by piece.
package struct CRC32: Hashable, Sendable {
    private static let table: [UInt32] = (0..<256).map { (byte: UInt32) in
        (0..<8).reduce(byte) { value, _ in value >> 1 ^ (value & 1 == 0 ? 0 : 0xEDB8_8320) }
    }

    private var register = UInt32.max

    package init() {}

    /// The CRC of the bytes added so far.
    package var value: UInt32 { ~register }

    /// Adds bytes to the CRC.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            register = register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register) ^ byte)]
        }
    }
}
