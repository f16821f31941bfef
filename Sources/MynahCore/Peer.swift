import MynahSupport

/// A 48-bit device address and its type (Core Specification, Vol 6, Part B, 1.3).
public struct DeviceAddress: Hashable, Sendable {
    /// The type of an address.
    public enum Kind: String, Hashable, Sendable {
        /// A public address, assigned by the IEEE.
        case `public`
        /// A random address: static or private.
        case random
    }

    /// The 48-bit address, whose first byte in text form is the most significant.
    public let value: UInt64
    /// The address type.
    public let kind: Kind

    /// Makes an address from the lower 48 bits of a number.
    public init(value: UInt64, kind: Kind) {
        self.value = value & 0xFFFF_FFFF_FFFF
        self.kind = kind
    }

    /// Parses `AA:BB:CC:DD:EE:FF`; returns `nil` for any other text.
    public init?(_ text: some StringProtocol, kind: Kind) {
        let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
        guard pairs.count == 6, pairs.allSatisfy({ $0.utf8.count == 2 }),
            let bytes = Hex.decode(pairs.joined()), bytes.count == 6
        else { return nil }
        value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        self.kind = kind
    }

    /// Makes an address from six bytes, least significant first as in packets.
    ///
    /// Returns `nil` for another number of bytes.
    package init?(littleEndian bytes: [UInt8], kind: Kind) {
        guard bytes.count == 6 else { return nil }
        value = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        self.kind = kind
    }
}

extension DeviceAddress {
    /// Whether this address comes before another one, in an order that is the same in every process.
    package func isBefore(_ other: DeviceAddress) -> Bool {
        (value, kind.rawValue) < (other.value, other.kind.rawValue)
    }
}

extension DeviceAddress: CustomStringConvertible {
    /// The address as text: `AA:BB:CC:DD:EE:FF`.
    public var description: String {
        String(unsafeUninitializedCapacity: 17) { buffer in
            for index in 0..<6 {
                let byte = UInt8(truncatingIfNeeded: value >> (40 - 8 * index))
                buffer[3 * index] = Hex.digit(byte >> 4)
                buffer[3 * index + 1] = Hex.digit(byte & 15)
                if index < 5 { buffer[3 * index + 2] = UInt8(ascii: ":") }
            }
            return 17
        }
    }
}

/// The device at the other end of a link.
public struct Peer: Hashable, Sendable {
    /// An identifier of a peer, valid as long as the radio runs.
    public struct ID: Hashable, Sendable {
        /// The number that the radio assigned.
        public let rawValue: UInt32

        /// Makes the identifier with this number.
        package init(_ rawValue: UInt32) {
            self.rawValue = rawValue
        }
    }

    /// The radio's identifier of the peer.
    package var id: ID
    /// The peer's address, or `nil` if the radio does not report it.
    package var address: DeviceAddress?
    /// The peer's name, or `nil` if the name is not known.
    package var name: String?
    /// `true` if the peer is paired.
    package var isPaired: Bool

    package init(id: ID, address: DeviceAddress? = nil, name: String? = nil, isPaired: Bool = false) {
        self.id = id
        self.address = address
        self.name = name
        self.isPaired = isPaired
    }
}
