import MynahCore
import MynahSupport

/// A secret of 128 bits, least significant byte first as in PDUs.
///
/// Descriptions, dumps and logs do not show it.
struct SecretKey: Hashable, Sendable {
    let bytes: [UInt8]

    /// Makes a key of sixteen bytes, or `nil` if there are more or fewer.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Makes a key from bytes, which are cut or padded with zeros to a length of 16 bytes.
    init(fitting bytes: [UInt8]) {
        self.bytes = Array((bytes + Array(repeating: 0, count: 16)).prefix(16))
    }

    /// Makes a new, random key.
    init(from random: inout SecurityRandom) {
        bytes = random.bytes(16)
    }

    static let zero = SecretKey(fitting: [])

    /// The key with only its `size` least significant bytes; the others are zero (Core Specification, Vol 3,
    /// Part H, 2.3.4).
    func masked(to size: Int) -> SecretKey {
        SecretKey(fitting: Array(bytes.prefix(max(0, size))))
    }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "(secret)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The source of keys, nonces and passkeys: the system's generator, or a seed if no real device can be
/// reached.
struct SecurityRandom: RandomNumberGenerator, Sendable {
    private var base: any RandomNumberGenerator & Sendable
    /// `true` if the numbers are derived from a seed, so that keys made from them give no protection.
    let isSimulated: Bool

    init(_ base: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.base = base
        isSimulated = false
    }

    /// Makes a source of numbers that are derived from a seed; only `PrivateAir` may use it.
    init(simulated seed: UInt64) {
        base = SeededRandom(seed: seed)
        isSimulated = true
    }

    mutating func next() -> UInt64 { base.next() }

    /// Returns an independent generator, so that no number is used twice.
    mutating func split() -> SecurityRandom {
        isSimulated ? SecurityRandom(simulated: next()) : self
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}
