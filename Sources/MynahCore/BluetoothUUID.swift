import MynahSupport

/// A Bluetooth UUID: its 128-bit value, and the width in which it was written (Core Specification, Vol 3,
/// Part B, 2.5.1).
///
/// A 16-bit or 32-bit number means `xxxxxxxx-0000-1000-8000-00805F9B34FB` with the number in place of
/// the `x` digits. Two UUIDs with the same value are equal and have the same hash value, even if their
/// widths differ. A UUID is sent in its own width: Apple sends a 16-bit UUID that was written in 128 bits as
/// 128 bits.
public struct BluetoothUUID: Sendable {
    /// The width in which a UUID is written and sent.
    public enum Width: Int, Sendable, CaseIterable {
        /// Two bytes, `180D`.
        case bits16 = 2
        /// Four bytes, `0000180D`.
        case bits32 = 4
        /// Sixteen bytes, `0000180D-0000-1000-8000-00805F9B34FB`.
        case bits128 = 16

        /// The number of bytes on the air.
        package var byteCount: Int { rawValue }
    }

    private let high: UInt64
    private let low: UInt64

    /// The width in which the UUID was written.
    public let width: Width

    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    /// Makes a 16-bit UUID, which the SIG has assigned.
    public init(_ value: UInt16) {
        self.init(high: UInt64(value) << 32 | Self.baseHigh, low: Self.baseLow, width: .bits16)
    }

    /// Makes a 32-bit UUID.
    public init(_ value: UInt32) {
        self.init(high: UInt64(value) << 32 | Self.baseHigh, low: Self.baseLow, width: .bits32)
    }

    /// Makes a UUID from 2, 4 or 16 bytes, least significant first; returns `nil` for another number of
    /// bytes.
    public init?(littleEndian bytes: some Collection<UInt8>) {
        var reader = ByteReader(Array(bytes))
        switch bytes.count {
        case 2:
            guard let value = reader.readUInt16() else { return nil }
            self.init(value)
        case 4:
            guard let value = reader.readUInt32() else { return nil }
            self.init(value)
        case 16:
            guard let low = reader.readUInt64(), let high = reader.readUInt64() else { return nil }
            self.init(high: high, low: low, width: .bits128)
        default:
            return nil
        }
    }

    /// Parses a UUID of 4, 8 or 32 hexadecimal digits; returns `nil` for any other text.
    ///
    /// The long form may have dashes, and the short forms may begin with `0x`.
    public init?(_ text: some StringProtocol) {
        var digits = Array(text.utf8)
        if digits.count == 6 || digits.count == 10, digits[0] == UInt8(ascii: "0"),
            digits[1] | 0x20 == UInt8(ascii: "x")
        {
            digits.removeFirst(2)
        }
        if digits.count == 36 {
            for dash in [23, 18, 13, 8] {
                guard digits[dash] == UInt8(ascii: "-") else { return nil }
                digits.remove(at: dash)
            }
        }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for digit in digits {
            guard let value = Hex.value(ofDigit: digit) else { return nil }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(value)
        }
        switch digits.count {
        case 4: self.init(UInt16(truncatingIfNeeded: low))
        case 8: self.init(UInt32(truncatingIfNeeded: low))
        case 32: self.init(high: high, low: low, width: .bits128)
        default: return nil
        }
    }

    private init(high: UInt64, low: UInt64, width: Width) {
        self.high = high
        self.low = low
        self.width = width
    }

    /// The same UUID in a width of 128 bits.
    package var in128Bits: BluetoothUUID { BluetoothUUID(high: high, low: low, width: .bits128) }

    /// The same UUID in the smallest width that can hold the value.
    package var shortest: BluetoothUUID {
        guard let value = shortValue else { return self }
        return UInt16(exactly: value).map { BluetoothUUID($0) } ?? BluetoothUUID(value)
    }

    /// The number that replaces the first bits of the Bluetooth base UUID, or `nil` for a custom UUID.
    package var shortValue: UInt32? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
        return UInt32(truncatingIfNeeded: high >> 32)
    }

    /// The 16-bit number, or `nil` if the UUID has no 16-bit form.
    package var assignedNumber: UInt16? { shortValue.flatMap { UInt16(exactly: $0) } }

    /// The bytes in the UUID's width, least significant first.
    public var littleEndianBytes: [UInt8] {
        var writer = ByteWriter(capacity: width.byteCount)
        switch width {
        case .bits16: writer.write(UInt16(truncatingIfNeeded: high >> 32))
        case .bits32: writer.write(UInt32(truncatingIfNeeded: high >> 32))
        case .bits128:
            writer.write(low)
            writer.write(high)
        }
        return writer.bytes
    }

    /// All sixteen bytes, most significant first.
    public var bigEndianBytes: [UInt8] { in128Bits.littleEndianBytes.reversed() }
}

extension BluetoothUUID: Hashable {
    /// Whether the 128 bits are equal.
    public static func == (left: BluetoothUUID, right: BluetoothUUID) -> Bool {
        left.high == right.high && left.low == right.low
    }

    /// Hashes the 128 bits, but not the width.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The hexadecimal digits in the UUID's width, in upper case, with dashes in the long form.
    public var description: String {
        let bytes = width == .bits128 ? bigEndianBytes : littleEndianBytes.reversed()
        let digits = Hex.encode(bytes)
        guard width == .bits128 else { return digits }
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}

extension BluetoothUUID: ExpressibleByStringLiteral {
    /// Makes a UUID from a literal, as in `"180D"`; traps if the literal is not a UUID.
    public init(stringLiteral text: String) {
        guard let uuid = BluetoothUUID(text) else { preconditionFailure("\(text) is not a Bluetooth UUID") }
        self = uuid
    }
}
