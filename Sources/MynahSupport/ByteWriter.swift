/// Appends integers (little-endian) and runs of bytes to an array.
public struct ByteWriter: Sendable {
    @usableFromInline var stored: [UInt8] = []

    /// The bytes written so far.
    @inlinable public var bytes: [UInt8] { stored }

    /// Makes an empty writer with room for `capacity` bytes.
    @inlinable public init(capacity: Int = 0) {
        stored.reserveCapacity(capacity)
    }

    /// Appends an integer in little-endian order.
    @inlinable public mutating func write<I: FixedWidthInteger & UnsignedInteger>(_ value: I) {
        withUnsafeBytes(of: value.littleEndian) { stored.append(contentsOf: $0) }
    }

    /// Appends bytes as they are.
    @inlinable public mutating func write(_ more: some Sequence<UInt8>) {
        stored.append(contentsOf: more)
    }
}
