package import MynahCore

/// The role of a device in a pairing.
enum PairingRole: Hashable, Sendable {
    /// The central.
    case initiator
    /// The peripheral.
    case responder
}

/// The way in which two devices authenticate each other (Core Specification, Vol 3, Part H, 2.3.5.1).
package enum PairingMethod: Hashable, Sendable {
    case justWorks
    /// Passkey entry: the initiator shows the passkey, and the user enters it on the responder.
    case initiatorDisplays
    /// Passkey entry: the responder shows the passkey, and the user enters it on the initiator.
    case responderDisplays
    /// Passkey entry: the user enters the same passkey on both devices.
    case bothEnter
    case numericComparison

    /// Whether the method protects against man-in-the-middle attacks.
    package var isAuthenticated: Bool { self != .justWorks }

    /// The method for two IO capabilities, if a side requests MITM protection (Table 2.8).
    package static func of(
        initiator: IOCapability, responder: IOCapability, isSecureConnections: Bool
    ) -> PairingMethod {
        switch (initiator, responder) {
        case (.noInputNoOutput, _), (_, .noInputNoOutput): .justWorks
        case (.displayOnly, .displayOnly), (.displayOnly, .displayYesNo), (.displayYesNo, .displayOnly):
            .justWorks
        case (.displayYesNo, .displayYesNo): isSecureConnections ? .numericComparison : .justWorks
        case (.keyboardOnly, .keyboardOnly): .bothEnter
        case (.displayOnly, .keyboardOnly), (.displayOnly, .keyboardDisplay), (.displayYesNo, .keyboardOnly),
            (.keyboardDisplay, .keyboardOnly):
            .initiatorDisplays
        case (.keyboardOnly, .displayOnly), (.keyboardOnly, .displayYesNo), (.keyboardOnly, .keyboardDisplay),
            (.keyboardDisplay, .displayOnly):
            .responderDisplays
        case (.displayYesNo, .keyboardDisplay), (.keyboardDisplay, .keyboardDisplay):
            isSecureConnections ? .numericComparison : .initiatorDisplays
        case (.keyboardDisplay, .displayYesNo):
            isSecureConnections ? .numericComparison : .responderDisplays
        }
    }
}

/// The role, the features, and the resulting method and key size, after phase 1 (Core Specification, Vol 3,
/// Part H, 2.3.1).
struct PairingContext: Hashable, Sendable {
    var role: PairingRole
    var request: PairingFeatures
    var response: PairingFeatures
    var initiator: DeviceAddress
    var responder: DeviceAddress
    var method: PairingMethod
    /// The size of the resulting key, in bytes.
    var keySize: Int

    var isInitiator: Bool { role == .initiator }
    var isSecureConnections: Bool {
        request.authentication.contains(.secureConnections)
            && response.authentication.contains(.secureConnections)
    }
    /// Whether both sides request a bond.
    var isBonding: Bool { request.authentication.isBonding && response.authentication.isBonding }

    /// Whether this side displays the passkey.
    var displays: Bool { method == (isInitiator ? .initiatorDisplays : .responderDisplays) }
    /// Whether the user enters the passkey at this side.
    var enters: Bool {
        method == .bothEnter || method == (isInitiator ? .responderDisplays : .initiatorDisplays)
    }

    /// The keys that one side distributes; LE Secure Connections distributes no LTK (3.6.1).
    func keys(of role: PairingRole) -> KeyDistribution {
        let keys =
            role == .initiator
            ? request.initiatorKeys.intersection(response.initiatorKeys)
            : request.responderKeys.intersection(response.responderKeys)
        return keys.intersection(isSecureConnections ? [.identity, .signing] : .all)
    }

    /// The security of a link that is encrypted with this pairing's key.
    var security: LinkSecurity {
        LinkSecurity(
            isEncrypted: true, isAuthenticated: method.isAuthenticated,
            isSecureConnections: isSecureConnections, isBonded: false, keySize: keySize)
    }

    init(
        role: PairingRole, request: PairingFeatures, response: PairingFeatures, initiator: DeviceAddress,
        responder: DeviceAddress, demands: PairingDemands
    ) throws(SMPReason) {
        let authentication = request.authentication.intersection(response.authentication)
        let isSecureConnections = authentication.contains(.secureConnections)
        guard isSecureConnections || !demands.onlySecureConnections else { throw .authenticationRequirements }
        // With LE Secure Connections, data on one side is enough for the out-of-band method (Table 2.7). This
        // side never has such data.
        if isSecureConnections, request.hasOOBData || response.hasOOBData { throw .oobNotAvailable }
        let wantsAuthentication = !request.authentication.union(response.authentication).isDisjoint(
            with: .mitm)
        let method =
            wantsAuthentication
            ? PairingMethod.of(
                initiator: request.ioCapability, responder: response.ioCapability,
                isSecureConnections: isSecureConnections) : .justWorks
        guard method.isAuthenticated || !demands.authentication else { throw .authenticationRequirements }
        let keySize = Int(min(request.maximumKeySize, response.maximumKeySize))
        guard keySize >= demands.minimumKeySize else { throw .encryptionKeySize }
        self.role = role
        self.request = request
        self.response = response
        self.initiator = initiator
        self.responder = responder
        self.method = method
        self.keySize = keySize
    }
}

/// The requirements that a pairing must meet; otherwise it is refused.
struct PairingDemands: Hashable, Sendable {
    /// Whether MITM protection is required, so that Just Works is refused.
    var authentication = false
    /// Whether LE Secure Connections with a key of 16 bytes is required (Core Specification, Vol 3, Part C,
    /// 10.2.4).
    var onlySecureConnections = false
    /// The smallest size of the key in bytes, 7 to 16.
    var minimumKeySize: Int {
        get { onlySecureConnections ? 16 : shortest }
        set { shortest = min(max(newValue, 7), 16) }
    }
    private var shortest = 7
}
