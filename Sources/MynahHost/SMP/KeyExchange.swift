import MynahCore

/// Phase 3 of pairing: each side distributes its keys, the responder first (Core Specification, Vol 3, Part
/// H, 2.4.3, 3.6.1).
struct KeyExchange: Sendable {
    private let context: PairingContext
    private var own: PairingIdentity
    /// The codes of the PDUs that the peer must still send, in order.
    private var expected: [SMPPDU.Code]
    private var hasSent = false
    private(set) var bond: Bond

    init(_ context: PairingContext, longTermKey: SecretKey, own: PairingIdentity, isSimulated: Bool) {
        self.context = context
        self.own = own
        expected = context.keys(of: context.isInitiator ? .responder : .initiator).codes
        bond = Bond(
            isSimulated: isSimulated,
            identity: context.isInitiator ? context.responder : context.initiator)
        bond.keySize = context.keySize
        bond.isAuthenticated = context.method.isAuthenticated
        bond.isSecureConnections = context.isSecureConnections
        if context.isSecureConnections {
            bond.ownKey = Bond.LongTermKey(value: longTermKey)
            bond.peerKey = bond.ownKey
        }
    }

    var isDone: Bool { hasSent && expected.isEmpty }

    /// Returns the PDUs to send now.
    ///
    /// An initiator that must receive keys sends its own keys later.
    mutating func start(_ random: inout SecurityRandom) -> [PairingAction] {
        context.isInitiator && !expected.isEmpty ? [] : send(&random)
    }

    mutating func receive(
        _ pdu: SMPPDU, _ random: inout SecurityRandom
    ) throws(SMPReason) -> [PairingAction] {
        guard pdu.code == expected.first else { throw .unspecifiedReason }
        expected.removeFirst()
        switch pdu {
        case .encryptionInformation(let key):
            // The bits above the agreed key size are zero.
            bond.peerKey = Bond.LongTermKey(value: key.masked(to: context.keySize))
        case .centralIdentification(let ediv, let rand):
            bond.peerKey?.ediv = ediv
            bond.peerKey?.rand = rand
        case .identityInformation(let key):
            // A key of zeros means that the peer has no private addresses.
            bond.identityResolvingKey = key == .zero ? nil : key
        case .identityAddressInformation(let address):
            bond.identity = address
        case .signingInformation(let key):
            bond.peerSigningKey = Bond.SigningKey(value: key)
        default:
            throw .unspecifiedReason
        }
        return expected.isEmpty && !hasSent ? send(&random) : []
    }

    private mutating func send(_ random: inout SecurityRandom) -> [PairingAction] {
        hasSent = true
        let keys = context.keys(of: context.role)
        var pdus: [SMPPDU] = []
        if keys.contains(.encryption) {
            let key = Bond.LongTermKey(
                value: SecretKey(from: &random).masked(to: context.keySize),
                ediv: UInt16.random(in: 1...UInt16.max, using: &random), rand: random.next())
            bond.ownKey = key
            pdus += [
                .encryptionInformation(key.value), .centralIdentification(ediv: key.ediv, rand: key.rand),
            ]
        }
        if keys.contains(.identity) {
            pdus += [
                .identityInformation(own.resolvingKey ?? .zero), .identityAddressInformation(own.address),
            ]
        }
        if keys.contains(.signing) {
            let key = SecretKey(from: &random)
            bond.ownSigningKey = Bond.SigningKey(value: key)
            pdus.append(.signingInformation(key))
        }
        return pdus.map { .send($0) }
    }
}

/// The identity that a device distributes (Core Specification, Vol 3, Part C, 10.7).
struct PairingIdentity: Hashable, Sendable {
    /// The identity address, public or static random.
    var address: DeviceAddress
    /// The IRK of the device's private addresses, or `nil` if it does not use any.
    var resolvingKey: SecretKey?
}

extension KeyDistribution {
    /// The codes of the PDUs that carry these keys, in order.
    fileprivate var codes: [SMPPDU.Code] {
        (contains(.encryption) ? [.encryptionInformation, .centralIdentification] : [])
            + (contains(.identity) ? [.identityInformation, .identityAddressInformation] : [])
            + (contains(.signing) ? [.signingInformation] : [])
    }
}
