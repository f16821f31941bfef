/// Puts integers and runs of bytes one behind the other, little-endian.
public struct ByteWriter: Sendable {
    /// What has been written so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer, with room for `capacity` bytes.
    public init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends an integer, its least significant byte first.
    public mutating func write<I: FixedWidthInteger & UnsignedInteger>(_ value: I) {
        for offset in 0..<(I.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * offset)))
        }
    }

    /// Appends bytes as they are.
    public mutating func write(_ more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }
}
