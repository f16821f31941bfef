import MynahCore

/// How a link is protected, as far as access to attributes depends on it (Core Specification, Vol 3, Part C,
/// 10.2).
struct LinkSecurity: Hashable, Sendable {
    var isEncrypted = false
    /// The key was made with protection against a man in the middle.
    var isAuthenticated = false
    /// `true` if the key was made by LE Secure Connections.
    var isSecureConnections = false
    /// `true` if there is a bond with the peer.
    ///
    /// The key of the bond may not be in use yet.
    var isBonded = false
    /// The encryption key's size, in bytes.
    var keySize = 16

    /// Returns whether this protects less than `other`: against a man in the middle, by the pairing method,
    /// or by the size of the key.
    func isWeaker(than other: LinkSecurity) -> Bool {
        !isAuthenticated && other.isAuthenticated || !isSecureConnections && other.isSecureConnections
            || keySize < other.keySize
    }

    /// The error if a requirement is not met, or `nil` if it is met.
    ///
    /// If the link is not encrypted, a bonded peer is told to encrypt, and another peer to pair
    /// (10.3.1). `authorized` accepts a paired peer that has proved its identity by encrypting.
    func denial(_ requirement: SecurityRequirement) -> ATTError? {
        switch requirement {
        case .open:
            return nil
        case .encrypted:
            return unencrypted
        case .authenticated:
            return unencrypted ?? (isAuthenticated ? nil : .insufficientAuthentication)
        case .secure:
            return unencrypted
                ?? (!isAuthenticated || !isSecureConnections
                    ? .insufficientAuthentication : keySize < 16 ? .insufficientEncryptionKeySize : nil)
        case .authorized:
            if isEncrypted { return nil }
            return isBonded ? .insufficientEncryption : .insufficientAuthorization
        }
    }

    private var unencrypted: ATTError? {
        if isEncrypted { return nil }
        return isBonded ? .insufficientEncryption : .insufficientAuthentication
    }
}
