public import MynahCore

/// The UUID by which a phone's apps identify a device (CBPeer.identifier).
///
/// The phone generates the identifier, and keeps it when it learns another address of the device.
public struct PeripheralIdentifier: Hashable, Sendable {
    /// The identifier as a 128-bit UUID.
    public let uuid: BluetoothUUID

    /// Makes an identifier of these 128 bits, marked as a random UUID (RFC 9562, 5.4).
    package init(high: UInt64, low: UInt64) {
        let high = high & ~0xF000 | 0x4000
        let low = low & ~(0b11 << 62) | 0b10 << 62
        let bytes = [low, high].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        guard let uuid = BluetoothUUID(littleEndian: bytes) else {
            preconditionFailure("16 bytes are a UUID")
        }
        self.uuid = uuid
    }

    /// Parses an identifier of 32 hexadecimal digits with dashes, or returns `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 36, let uuid = BluetoothUUID(text) else { return nil }
        self.uuid = uuid
    }
}

extension PeripheralIdentifier: CustomStringConvertible {
    /// The identifier in upper-case hexadecimal digits with dashes.
    public var description: String { uuid.in128Bits.description }
}
