/// Reads integers and runs of bytes from the front of a byte array, little-endian unless said; never reads
/// past its end.
public struct ByteReader: Sendable {
    @usableFromInline let bytes: ArraySlice<UInt8>
    @usableFromInline var position: Int

    /// Reads `bytes` from their start.
    @inlinable public init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// Reads `bytes` from their start.
    @inlinable public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// How many bytes are left.
    @inlinable public var remaining: Int { bytes.endIndex - position }

    /// Whether all has been read.
    @inlinable public var isAtEnd: Bool { remaining == 0 }

    /// The next byte, or nil at the end.
    @inlinable public mutating func readUInt8() -> UInt8? {
        guard remaining >= 1 else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// The next two bytes as an integer, or nil when fewer are left.
    @inlinable public mutating func readUInt16() -> UInt16? { readInteger() }

    /// The next four bytes as an integer, or nil when fewer are left.
    @inlinable public mutating func readUInt32() -> UInt32? { readInteger() }

    /// The next eight bytes as an integer, or nil when fewer are left.
    @inlinable public mutating func readUInt64() -> UInt64? { readInteger() }

    /// The next bytes of an integer's width, least significant first, or nil when fewer are left.
    @inlinable public mutating func readInteger<I: FixedWidthInteger & UnsignedInteger>(
        as type: I.Type = I.self
    ) -> I? {
        let width = I.bitWidth / 8
        guard remaining >= width else { return nil }
        var value: I = 0
        for offset in 0..<width {
            value |= I(truncatingIfNeeded: bytes[position &+ offset]) &<< I(truncatingIfNeeded: 8 &* offset)
        }
        position += width
        return value
    }

    /// The next `count` bytes, or nil when fewer are left or `count` is negative.
    @inlinable public mutating func readBytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= remaining else { return nil }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    /// Reads all remaining bytes.
    @inlinable public mutating func readRest() -> [UInt8] {
        defer { position = bytes.endIndex }
        return Array(bytes[position...])
    }
}
