public import MynahSupport

/// The number by which a controller and its host name a connection, 12 bits (Core Specification, Vol 4, Part
/// E, 5.4.2).
@usableFromInline package struct ConnectionHandle: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number, at most 0x0FFF.
    @usableFromInline package let rawValue: UInt16

    /// The lowest 12 bits of a number; the others mean something else, or nothing, in every packet that has a
    /// handle.
    @inlinable package init(rawValue: UInt16) {
        self.rawValue = rawValue & 0x0FFF
    }

    /// The last handle that a link may have; those after it are reserved.
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
    /// A handle written in a program; one of more than 12 bits is a mistake of the program and traps.
    @inlinable package init(integerLiteral value: UInt16) {
        precondition(value <= 0x0FFF, "a connection handle has 12 bits")
        self.init(rawValue: value)
    }
}

extension ConnectionHandle: CustomStringConvertible {
    /// Four hexadecimal digits, as in `0x0040`.
    @usableFromInline package var description: String { "0x" + Hex.encode(littleEndianBytes.reversed()) }

    /// The two bytes in the order of a packet, least significant first.
    package var littleEndianBytes: [UInt8] { [UInt8(rawValue & 0xFF), UInt8(rawValue >> 8)] }
}

extension ByteReader {
    /// The next two bytes as a connection handle, or `nil` if fewer are left; the upper four bits do not
    /// count.
    @inlinable package mutating func readConnectionHandle() -> ConnectionHandle? {
        readUInt16().map { ConnectionHandle(rawValue: $0) }
    }
}

extension ByteWriter {
    /// Appends a connection handle, its least significant byte first.
    @inlinable package mutating func write(_ handle: ConnectionHandle) {
        write(handle.rawValue)
    }
}
