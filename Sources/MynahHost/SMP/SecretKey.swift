import MynahSupport

/// 128 secret bits, least significant byte first as in PDUs; they show in no description, no dump and no log.
struct SecretKey: Hashable, Sendable {
    let bytes: [UInt8]

    /// Sixteen bytes; nil for another number of them.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Bytes that are cut or filled up with zeros to sixteen.
    init(fitting bytes: [UInt8]) {
        self.bytes = Array((bytes + Array(repeating: 0, count: 16)).prefix(16))
    }

    /// A new key.
    init(from random: inout SecurityRandom) {
        bytes = random.bytes(16)
    }

    static let zero = SecretKey(fitting: [])

    /// The key with all but its lowest bytes zeroed (Core Specification, Vol 3, Part H, 2.3.4).
    func masked(to size: Int) -> SecretKey {
        SecretKey(fitting: Array(bytes.prefix(max(0, size))))
    }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "(secret)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Where keys, nonces and passkeys come from: the system, or a seed in tests.
struct SecurityRandom: RandomNumberGenerator, Sendable {
    private var base: any RandomNumberGenerator & Sendable

    init(_ base: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.base = base
    }

    mutating func next() -> UInt64 { base.next() }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}
