import MynahCore
import MynahSupport

/// The encryption start procedure of a connection (Core Specification, Vol 6, Part B, 5.1.3).
///
/// The virtual air encrypts nothing. The two sides prove to each other that they have the same key. If they
/// do not, the connection ends as if the first encrypted PDU could not be decrypted.
struct EncryptionProcedure: Sendable {
    private enum Stage: Sendable {
        case idle
        /// Central: has sent its request.
        case requested(key: [UInt8], nonce: UInt64)
        /// Central: has proved that it has the key.
        case proved(key: [UInt8])
        /// Peripheral: waits for its host to return the key.
        case awaitingKey(nonce: UInt64)
        /// Peripheral: waits for the central's proof.
        case awaitingProof(key: [UInt8], nonce: UInt64, own: UInt64)
    }

    /// The procedure response timeout, in microseconds (5.2).
    private static let timeout: Int64 = 40_000_000

    private(set) var isEncrypted = false
    private var stage = Stage.idle
    /// The time by which the peer must answer, or `nil` if no procedure is running.
    private(set) var deadline: AirTime?
    /// The host's packets that are held until the procedure ends.
    private var held: [LinkPDU] = []

    /// Whether the procedure is running, so that the host's packets are held.
    var isUnderWay: Bool {
        if case .idle = stage { return false }
        return true
    }

    /// Whether the controller waits for its host to return the key.
    var awaitsKey: Bool {
        if case .awaitingKey = stage { return true }
        return false
    }

    /// The number of held packets.
    var heldCount: Int { held.count }

    /// Holds a packet of the host until the procedure ends.
    mutating func hold(_ content: LinkPDU) {
        held.append(content)
    }

    // MARK: The host

    /// Begins the procedure as the central, with the parameters of LE Enable Encryption; `nonce` is a new
    /// random number.
    mutating func begin(
        _ key: [UInt8], random value: [UInt8], diversifier: UInt16, nonce: UInt64, at now: AirTime,
        _ actions: inout [ConnectionAction]
    ) {
        stage = .requested(key: key, nonce: nonce)
        deadline = now + Self.timeout
        actions.append(.begin(.encryptionRequest(random: value, diversifier: diversifier, nonce: nonce)))
    }

    /// Continues as the peripheral with the host's key; `own` is a new random number.
    mutating func reply(_ key: [UInt8], own: UInt64, _ actions: inout [ConnectionAction]) {
        guard case .awaitingKey(let nonce) = stage else { return }
        stage = .awaitingProof(key: key, nonce: nonce, own: own)
        actions.append(.send(.startEncryption(nonce: own)))
    }

    /// Rejects the procedure, because the host has no key.
    ///
    /// If the connection was encrypted before, it ends, because it cannot continue unencrypted (5.1.3.2).
    mutating func refuse(_ actions: inout [ConnectionAction]) {
        if isEncrypted { return actions.append(.terminate(.pinOrKeyMissing)) }
        finish(&actions)
        actions.append(.send(.encryptionRejected(.pinOrKeyMissing)))
    }

    // MARK: The peer

    /// Handles an encryption PDU of the peer.
    ///
    /// A PDU that is out of order is ignored.
    ///
    /// `takesRequest` is `true` if the host enabled LE Long Term Key Request.
    mutating func receive(
        _ content: LinkPDU, on endpoints: ConnectionEndpoints, takesRequest: Bool, at now: AirTime,
        _ actions: inout [ConnectionAction]
    ) {
        switch (content, stage) {
        case (.encryptionRequest(let value, let diversifier, let nonce), .idle)
        where endpoints.role == .peripheral:
            guard takesRequest else { return refuse(&actions) }
            stage = .awaitingKey(nonce: nonce)
            deadline = now + Self.timeout
            var writer = ByteWriter()
            writer.write(endpoints.handle)
            writer.write(value)
            writer.write(diversifier)
            actions.append(.reportLE(HCIEvent.LESubevent.longTermKeyRequest, writer.bytes))
        case (.startEncryption(let other), .requested(let key, let nonce)):
            stage = .proved(key: key)
            actions.append(.send(.encryptionProof(Self.proof(key, nonce, other))))
        case (.encryptionProof(let found), .awaitingProof(let key, let nonce, let own)):
            // A real central would detect this by the supervision timeout; this one is informed.
            guard found == Self.proof(key, nonce, own) else { return actions.append(.terminate(.micFailure)) }
            actions.append(.send(.encrypted))
            succeed(endpoints, &actions)
        case (.encrypted, .proved):
            succeed(endpoints, &actions)
        case (.encryptionRejected(let reason), .requested):
            finish(&actions)
            actions.append(.report(HCIEvent.encryptionChange, [reason.code] + endpoints.handleBytes + [0]))
        default:
            break
        }
    }

    private mutating func succeed(_ endpoints: ConnectionEndpoints, _ actions: inout [ConnectionAction]) {
        if isEncrypted {
            actions.append(.report(HCIEvent.encryptionKeyRefreshComplete, [0] + endpoints.handleBytes))
        } else {
            actions.append(.report(HCIEvent.encryptionChange, [0] + endpoints.handleBytes + [1]))
        }
        isEncrypted = true
        finish(&actions)
    }

    /// Ends the procedure, and sends the held packets.
    private mutating func finish(_ actions: inout [ConnectionAction]) {
        stage = .idle
        deadline = nil
        for content in held { actions.append(.send(content)) }
        held = []
    }

    /// A number that proves the knowledge of the key and both nonces.
    static func proof(_ key: [UInt8], _ nonce: UInt64, _ own: UInt64) -> UInt64 {
        key.reduce(SeededRandom.mix(nonce) ^ SeededRandom.mix(own &+ 1)) {
            SeededRandom.mix($0 &+ UInt64($1) &+ 1)
        }
    }
}
