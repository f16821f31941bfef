/// Reads integers (little-endian) and runs of bytes from the front of a byte array, never past its end.
public struct ByteReader: Sendable {
    @usableFromInline let bytes: ArraySlice<UInt8>
    @usableFromInline var position: Int

    /// Makes a reader that begins at the start of an array.
    @inlinable public init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// Makes a reader that begins at the start of a slice.
    @inlinable public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The number of bytes not yet read.
    @inlinable public var remaining: Int { bytes.endIndex - position }

    /// Whether all bytes were read.
    @inlinable public var isAtEnd: Bool { remaining == 0 }

    /// Reads the next byte; returns `nil` at the end.
    @inlinable public mutating func readUInt8() -> UInt8? {
        guard remaining >= 1 else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads the next two bytes as an integer; returns `nil` if fewer are left.
    @inlinable public mutating func readUInt16() -> UInt16? { readInteger() }

    /// Reads the next four bytes as an integer; returns `nil` if fewer are left.
    @inlinable public mutating func readUInt32() -> UInt32? { readInteger() }

    /// Reads the next eight bytes as an integer; returns `nil` if fewer are left.
    @inlinable public mutating func readUInt64() -> UInt64? { readInteger() }

    /// Reads an integer of this type, the least significant byte first; returns `nil` if too few bytes are
    /// left.
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

    /// Reads the next `count` bytes; returns `nil` if fewer are left or `count` is negative.
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
