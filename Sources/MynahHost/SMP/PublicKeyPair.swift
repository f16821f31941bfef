import MynahSupport

/// A device's key pair for one LE Secure Connections pairing (Core Specification, Vol 3, Part H, 2.3.5.6.1).
struct PublicKeyPair: Sendable {
    /// The private key, most significant byte first.
    private let privateKey: [UInt8]
    /// The X coordinate of the public key, least significant byte first.
    let x: [UInt8]
    /// The Y coordinate of the public key, least significant byte first.
    let y: [UInt8]

    /// The X coordinate of the debug key.
    ///
    /// The private key is public, so that sniffers can decrypt; pairing with it is not secure.
    static let debugX: [UInt8] = [
        0xE6, 0x9D, 0x35, 0x0E, 0x48, 0x01, 0x03, 0xCC, 0xDB, 0xFD, 0xF4, 0xAC, 0x11, 0x91, 0xF4, 0xEF, 0xB9,
        0xA5,
        0xF9, 0xE9, 0xA7, 0x83, 0x2C, 0x5E, 0x2C, 0xBE, 0x97, 0xF2, 0xD2, 0x03, 0xB0, 0x20,
    ]

    /// Makes a new, random key pair.
    init(from random: inout SecurityRandom) {
        // One number in 2^32 is not a private key. After 16 of them, the generator must be broken, and the
        // system's generator is used.
        var system = SecurityRandom()
        var draws = 0
        while true {
            let drawn = draws < 16 ? random.bytes(32) : system.bytes(32)
            if let pair = PublicKeyPair(privateKey: drawn), pair.x != Self.debugX {
                self = pair
                return
            }
            draws += 1
        }
    }

    /// Makes the pair of a private key of 32 bytes, least significant byte first.
    ///
    /// The result is `nil` if the bytes are not a private key.
    init?(privateKey: [UInt8]) {
        let key = Array(privateKey.reversed())
        guard key.count == 32, let point = P256.publicKey(of: key) else { return nil }
        self.privateKey = key
        x = point.prefix(32).reversed()
        y = point.suffix(32).reversed()
    }

    /// The Diffie-Hellman key shared with the owner of this public key.
    ///
    /// Throws `dhKeyCheckFailed` if the key is not on the curve, and `invalidParameters` if it is this side's
    /// own key or the debug key (2.3.5.6.1, 3.5.5).
    func secret(withX peerX: [UInt8], y peerY: [UInt8]) throws(SMPReason) -> [UInt8] {
        guard peerX != x, peerX != Self.debugX else { throw .invalidParameters }
        guard let point = P256.sharedPoint(of: privateKey, and: Array((peerY + peerX).reversed())) else {
            throw .dhKeyCheckFailed
        }
        return point.prefix(32).reversed()
    }
}

extension PublicKeyPair: CustomStringConvertible, CustomReflectable {
    var description: String { "(secret)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
