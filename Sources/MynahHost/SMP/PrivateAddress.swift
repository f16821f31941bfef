import MynahCore
import MynahSupport

/// Generates and resolves random device addresses (Core Specification, Vol 6, Part B, 1.3.2).
enum PrivateAddress {
    /// Generates a resolvable private address (1.3.2.2).
    static func resolvable(_ key: SecretKey, from random: inout SecurityRandom) -> DeviceAddress {
        let part = randomPart(22, from: &random) | 0b01 << 22
        return address(part << 24 | hash(of: part, key))
    }

    /// Generates a static random address (1.3.2.1).
    static func fixed(from random: inout SecurityRandom) -> DeviceAddress {
        address(randomPart(46, from: &random) | 0b11 << 46)
    }

    /// Whether a resolvable private address was generated with this key (1.3.2.3).
    static func resolves(_ address: DeviceAddress, with key: SecretKey) -> Bool {
        address.isResolvable && address.value & 0xFF_FFFF == hash(of: address.value >> 24, key)
    }

    private static func hash(of part: UInt64, _ key: SecretKey) -> UInt64 {
        var writer = ByteWriter(capacity: 8)
        writer.write(part)
        return SecurityToolbox.ah(key, Array(writer.bytes.prefix(3))).reversed().reduce(0) {
            $0 << 8 | UInt64($1)
        }
    }

    // The random part must be neither all zeros nor all ones.
    private static func randomPart(_ bits: UInt64, from random: inout SecurityRandom) -> UInt64 {
        UInt64.random(in: 1..<(1 << bits) - 1, using: &random)
    }

    private static func address(_ value: UInt64) -> DeviceAddress {
        DeviceAddress(random: value)
    }
}

extension DeviceAddress {
    /// `true` for a resolvable private address.
    var isResolvable: Bool { kind == .random && value >> 46 & 0b11 == 0b01 }

    /// Whether the address can be an identity address: public, or static random.
    var isIdentity: Bool { kind == .public || value >> 46 & 0b11 == 0b11 }

    /// `true` for a valid static random address (Core Specification, Vol 6, Part B, 1.3.2.1).
    ///
    /// The two highest bits are set, and the other 46 bits are neither all 0 nor all 1.
    var isStatic: Bool {
        let ones: UInt64 = (1 << 46) - 1
        return kind == .random && value >> 46 == 0b11 && value & ones != 0 && value & ones != ones
    }

    fileprivate init(random value: UInt64) {
        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        guard let address = DeviceAddress(littleEndian: bytes, kind: .random) else {
            preconditionFailure("an address has six bytes")
        }
        self = address
    }
}

/// Generates a new resolvable private address at regular intervals.
///
/// The default is 15 minutes, as on an iPhone (Core Specification, Vol 3, Part C, Appendix A,
/// TGAP(private_addr_int)). If the address cannot change at the time, for example during a connection
/// attempt, the change waits.
struct AddressRotation: Sendable {
    static let interval = Duration.seconds(15 * 60)

    private let key: SecretKey
    private let interval: Duration
    private var random: SecurityRandom
    /// The current address.
    private(set) var address: DeviceAddress
    /// The time of the next change.
    private(set) var due: Duration

    init(
        _ key: SecretKey, every interval: Duration = AddressRotation.interval, at now: Duration,
        random: SecurityRandom = SecurityRandom()
    ) {
        self.key = key
        self.interval = interval
        self.random = random
        address = PrivateAddress.resolvable(key, from: &self.random)
        due = now + interval
    }

    /// Returns a new address if the time for it has come, or else `nil`.
    mutating func rotate(at now: Duration) -> DeviceAddress? {
        guard now >= due else { return nil }
        address = PrivateAddress.resolvable(key, from: &random)
        due = now + interval
        return address
    }
}
