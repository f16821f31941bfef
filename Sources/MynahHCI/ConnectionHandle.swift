public import MynahSupport

/// The 12-bit number with which a controller and its host identify a connection (Core Specification, Vol 4,
/// Part E, 5.4.2).
@usableFromInline package struct ConnectionHandle: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number, at most 0x0FFF.
    @usableFromInline package let rawValue: UInt16

    /// Makes a handle from the lowest 12 bits of a number; in packets, the other bits are flags or reserved.
    @inlinable package init(rawValue: UInt16) {
        self.rawValue = rawValue & 0x0FFF
    }

    /// The highest handle that a link can have; higher handles are reserved.
    package static let last: ConnectionHandle = 0x0EFF

    @inlinable package static func == (left: ConnectionHandle, right: ConnectionHandle) -> Bool {
        left.rawValue == right.rawValue
    }

    @inlinable package static func < (left: ConnectionHandle, right: ConnectionHandle) -> Bool {
        left.rawValue < right.rawValue
    }

    @inlinable package func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }
}

extension ConnectionHandle: ExpressibleByIntegerLiteral {
    /// Makes a handle from a literal; traps if the number has more than 12 bits.
    @inlinable package init(integerLiteral value: UInt16) {
        precondition(value <= 0x0FFF, "a connection handle has 12 bits")
        self.init(rawValue: value)
    }
}

extension ConnectionHandle: CustomStringConvertible {
    /// The handle in four hexadecimal digits, as in `0x0040`.
    @usableFromInline package var description: String { "0x" + Hex.encode(littleEndianBytes.reversed()) }

    /// The two bytes of the handle in a packet, least significant first.
    package var littleEndianBytes: [UInt8] { [UInt8(rawValue & 0xFF), UInt8(rawValue >> 8)] }
}

extension ByteReader {
    /// Reads the next two bytes as a connection handle, and ignores the upper four bits.
    ///
    /// Returns `nil` if fewer than two bytes are left.
    @inlinable package mutating func readConnectionHandle() -> ConnectionHandle? {
        readUInt16().map { ConnectionHandle(rawValue: $0) }
    }
}

extension ByteWriter {
    /// Appends a connection handle, least significant byte first.
    @inlinable package mutating func write(_ handle: ConnectionHandle) {
        write(handle.rawValue)
    }
}
