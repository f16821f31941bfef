public import MynahSupport

/// An attribute handle: the 16-bit number of an attribute on its server (Core Specification, Vol 3, Part
/// F, 3.2.2).
@frozen public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt16

    /// Makes the handle with a number.
    @inlinable public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The invalid handle 0x0000, which no attribute has.
    @inlinable package static var none: AttributeHandle { AttributeHandle(rawValue: 0x0000) }
    /// The lowest valid handle.
    @inlinable package static var first: AttributeHandle { AttributeHandle(rawValue: 0x0001) }
    /// The highest valid handle.
    @inlinable package static var last: AttributeHandle { AttributeHandle(rawValue: 0xFFFF) }
    /// All valid handles.
    @inlinable package static var all: ClosedRange<AttributeHandle> { first...last }

    /// Whether both handles are equal.
    @inlinable public static func == (left: AttributeHandle, right: AttributeHandle) -> Bool {
        left.rawValue == right.rawValue
    }

    /// Whether the first handle is lower.
    @inlinable public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Hashes the number.
    @inlinable public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }

    /// The next handle, or `nil` after the last one.
    @inlinable package var next: AttributeHandle? { self == .last ? nil : self + 1 }

    /// Returns the handle at a distance above this one; traps if it is not valid.
    @inlinable package static func + (handle: AttributeHandle, distance: Int) -> AttributeHandle {
        AttributeHandle(rawValue: UInt16(Int(handle.rawValue) + distance))
    }

    /// Returns the handle at a distance below this one; traps if it is not valid.
    @inlinable package static func - (handle: AttributeHandle, distance: Int) -> AttributeHandle {
        handle + -distance
    }
}

extension AttributeHandle: ExpressibleByIntegerLiteral {
    /// Makes a handle from a literal.
    @inlinable public init(integerLiteral value: UInt16) {
        self.init(rawValue: value)
    }
}

extension AttributeHandle: CustomStringConvertible {
    /// The number in decimal digits, as in the attribute name `@18`.
    public var description: String { rawValue.description }
}

extension ByteReader {
    /// Reads the next two bytes as an attribute handle, or returns `nil` if fewer are left.
    @inlinable package mutating func readAttributeHandle() -> AttributeHandle? {
        readUInt16().map { AttributeHandle(rawValue: $0) }
    }
}

extension ByteWriter {
    /// Appends an attribute handle, least significant byte first.
    @inlinable package mutating func write(_ handle: AttributeHandle) {
        write(handle.rawValue)
    }
}

extension JSON {
    /// An attribute handle as a JSON number.
    package static func handle(_ handle: AttributeHandle) -> JSON { .integer(Int(handle.rawValue)) }

    /// The JSON number as an attribute handle, or `nil` if it is not a valid handle.
    package var handleValue: AttributeHandle? {
        integerValue.flatMap { UInt16(exactly: $0) }.map { AttributeHandle(rawValue: $0) }
            .flatMap { $0 == .none ? nil : $0 }
    }
}
