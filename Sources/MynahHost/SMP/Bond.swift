import MynahCore
import MynahSupport

/// The keys and other data that are stored about a bonded peer (Core Specification, Vol 3, Part C, 9.4.4).
struct Bond: Hashable, Sendable {
    /// A long-term key with its EDIV and Rand, which are zero with LE Secure Connections.
    struct LongTermKey: Hashable, Sendable {
        var value: SecretKey
        var ediv: UInt16 = 0
        var rand: UInt64 = 0
    }

    /// A CSRK, and the lowest sign counter that is still valid.
    struct SigningKey: Hashable, Sendable {
        var value: SecretKey
        var counter: UInt32 = 0
    }

    /// `true` if the keys were derived from a seed, so that they give no protection.
    var isSimulated = false
    /// The peer's identity address.
    var identity: DeviceAddress
    /// The address with which the peer has paired, or `nil` if that is a private address or the identity
    /// address.
    ///
    /// Some devices distribute an identity address that they do not use.
    var usedAddress: DeviceAddress?
    /// The long-term key that the controller requests when this side is the peripheral.
    var ownKey: LongTermKey?
    /// The long-term key with which this side encrypts as the central.
    var peerKey: LongTermKey?
    var keySize = 16
    var isAuthenticated = false
    var isSecureConnections = false
    /// The IRK, which resolves the peer's private addresses.
    var identityResolvingKey: SecretKey?
    /// The local CSRK.
    var ownSigningKey: SigningKey?
    /// The peer's CSRK.
    var peerSigningKey: SigningKey?
    /// The Client Characteristic Configurations that the peer has written, by handle.
    var configurations: [AttributeHandle: UInt16] = [:]
    /// The Client Supported Features that the peer has written.
    var clientFeatures: [UInt8] = []
    /// The value handle of the peer's Service Changed, or `nil` if this side is not subscribed.
    var serviceChanged: AttributeHandle?
    /// The Database Hash of the services that the peer knows.
    var databaseHash: [UInt8]?

    /// The security of a link that is encrypted with this bond.
    var security: LinkSecurity {
        LinkSecurity(
            isEncrypted: true, isAuthenticated: isAuthenticated, isSecureConnections: isSecureConnections,
            isBonded: true, keySize: keySize)
    }

    /// Whether encryption with the bond is sufficient after a Security Request of the peer.
    ///
    /// If not, pairing is needed (Core Specification, Vol 3, Part H, 2.4.6).
    func satisfies(_ requirements: AuthenticationRequirements) -> Bool {
        (isAuthenticated || !requirements.contains(.mitm))
            && (isSecureConnections || !requirements.contains(.secureConnections))
    }

    /// The highest requirements of a Security Request that the bond satisfies.
    var requirements: AuthenticationRequirements {
        var requirements: AuthenticationRequirements = .bonding
        if isAuthenticated { requirements.insert(.mitm) }
        if isSecureConnections { requirements.insert(.secureConnections) }
        return requirements
    }

    /// Whether both bonds are with the same peer: they have the same identity address or the same IRK.
    func isOfSamePeer(as other: Bond) -> Bool {
        identity == other.identity
            || identityResolvingKey != nil && identityResolvingKey == other.identityResolvingKey
    }

    /// Whether a link encrypted with this bond is less secure than one encrypted with `other`.
    func isWeaker(than other: Bond) -> Bool {
        security.isWeaker(than: other.security)
    }

    /// Checks that a PDU has a valid signature of the peer with a counter that was not used before.
    mutating func verify(signed pdu: [UInt8]) -> Bool {
        guard let key = peerSigningKey, key.counter < .max,
            let counter = SignedWrite.counter(of: pdu, with: key.value, from: key.counter), counter < .max
        else { return false }
        peerSigningKey?.counter = counter + 1
        return true
    }

    /// The PDU with this side's signature, or `nil` if there is no key or the counter is exhausted.
    mutating func sign(_ pdu: [UInt8]) -> [UInt8]? {
        guard let key = ownSigningKey, key.counter < .max else { return nil }
        ownSigningKey?.counter = key.counter + 1
        return pdu + SignedWrite.signature(of: pdu, counter: key.counter, with: key.value)
    }
}

extension Bond: CustomStringConvertible {
    /// The peer and the security of the bond, without keys.
    var description: String {
        "bond with \(identity), \(isSecureConnections ? "LE Secure Connections" : "LE legacy"), "
            + "\(isAuthenticated ? "authenticated" : "unauthenticated"), \(keySize) bytes"
    }
}
