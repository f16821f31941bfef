/// The CRC of 16 bits whose generator is x^16 + x^12 + x^5 + 1, with the least significant bit of each byte
/// first, and with ones in the register at the start (CRC-16/MCRF4XX).
package enum CRC16 {
    /// Returns the CRC of bytes.
    package static func of(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0xFFFF) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte)) { crc, _ in crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x8408 }
        }
    }
}
