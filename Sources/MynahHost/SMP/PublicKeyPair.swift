import Crypto
import MynahSupport

/// A device's key pair for one LE Secure Connections pairing (Core Specification, Vol 3, Part H, 2.3.5.6.1).
struct PublicKeyPair: Sendable {
    private let privateKey: P256.KeyAgreement.PrivateKey
    /// The public key's X, least significant byte first.
    let x: [UInt8]
    /// The public key's Y.
    let y: [UInt8]

    /// X of the key whose private half everyone knows, so that sniffers can follow; no pairing with it is
    /// safe.
    static let debugX: [UInt8] = [
        0xE6, 0x9D, 0x35, 0x0E, 0x48, 0x01, 0x03, 0xCC, 0xDB, 0xFD, 0xF4, 0xAC, 0x11, 0x91, 0xF4, 0xEF, 0xB9,
        0xA5,
        0xF9, 0xE9, 0xA7, 0x83, 0x2C, 0x5E, 0x2C, 0xBE, 0x97, 0xF2, 0xD2, 0x03, 0xB0, 0x20,
    ]

    /// A new pair.
    init(from random: inout SecurityRandom) {
        // One draw in 2^32 is none of the curve.
        for _ in 0..<16 {
            if let pair = PublicKeyPair(privateKey: random.bytes(32)), pair.x != Self.debugX {
                self = pair
                return
            }
        }
        self.init(P256.KeyAgreement.PrivateKey())
    }

    /// The pair of a private key, least significant byte first; nil if it is none.
    init?(privateKey: [UInt8]) {
        guard
            let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: Array(privateKey.reversed()))
        else { return nil }
        self.init(key)
    }

    private init(_ key: P256.KeyAgreement.PrivateKey) {
        privateKey = key
        let point = Array(key.publicKey.rawRepresentation)
        x = point.prefix(32).reversed()
        y = point.suffix(32).reversed()
    }

    /// The secret shared with the owner of this public key.
    ///
    /// Throws `dhKeyCheckFailed` if the key is off the curve, and `invalidParameters` if it is our own or the
    /// debug key (2.3.5.6.1, 3.5.5).
    func secret(withX peerX: [UInt8], y peerY: [UInt8]) throws(SMPReason) -> [UInt8] {
        guard peerX != x, peerX != Self.debugX else { throw .invalidParameters }
        do {
            let key = try P256.KeyAgreement.PublicKey(rawRepresentation: Array((peerY + peerX).reversed()))
            let secret = try privateKey.sharedSecretFromKeyAgreement(with: key)
            return secret.withUnsafeBytes { $0.reversed() }
        } catch {
            throw .dhKeyCheckFailed
        }
    }
}
