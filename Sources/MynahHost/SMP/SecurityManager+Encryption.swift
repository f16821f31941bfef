import MynahCore
import MynahHCI
import MynahSupport

// Keys for the controller, and its reports about encryption.
extension SecurityManager {
    /// Encrypts a link as the central: with a sufficient bond, or else by pairing (Core Specification, Vol 3,
    /// Part H, 2.4.6).
    mutating func secure(
        _ index: Int, _ requirements: AuthenticationRequirements, at now: Duration,
        _ actions: inout [Action]
    ) {
        guard entries[at: index].role == .central, entries[at: index].encryption == .idle else { return }
        let bond = entries[at: index].peer.address.flatMap { bonds[$0] }
        guard let bond, let key = bond.peerKey, bond.satisfies(requirements) else {
            return step(index, at: now, &actions) { $0.start(at: $1) }
        }
        let security = entries[at: index].security
        // The link is already encrypted with a sufficient key.
        if security.isEncrypted, !bond.security.isWeaker(than: security) {
            return end(index, nil, &actions)
        }
        entries[at: index].encryption = .bond(bond.identity)
        actions.append(.encrypt(link: entries.keys[index], entries[at: index].peer.id, key))
    }

    /// Answers the controller's request for the key of a link on which the central starts encryption (Vol 4,
    /// Part E, 7.7.65.5).
    ///
    /// `random` has eight bytes, the least significant first.
    mutating func keyRequested(
        _ link: ConnectionHandle, random: [UInt8], diversifier: UInt16, _ actions: inout [Action]
    ) {
        guard let index = entries.index(of: link) else { return }
        var reader = ByteReader(random)
        let rand = reader.readUInt64() ?? 0
        var key: SecretKey?
        if let new = entries[at: index].machine?.longTermKey(ediv: diversifier, rand: rand) {
            entries[at: index].encryption = .pairing
            key = new
        } else if let address = entries[at: index].peer.address, let identity = identity(of: address),
            let kept = bonds.key(for: address, ediv: diversifier, rand: rand)
        {
            entries[at: index].encryption = .bond(identity)
            key = kept
        }
        actions.append(.giveKey(key, link: link))
    }

    /// Handles the controller's report that a link was encrypted or its key refreshed, or that this failed.
    mutating func encryptionChanged(
        _ link: ConnectionHandle, _ status: HCIStatus, at now: Duration, _ actions: inout [Action]
    ) {
        guard let index = entries.index(of: link) else { return }
        let encryption = entries[at: index].encryption
        entries[at: index].encryption = .idle
        let isOn = status == .success
        if case .bond(let identity) = encryption {
            if isOn { encrypted(index, by: identity, &actions) } else { keyRefused(index, status, &actions) }
        }
        guard entries[at: index].machine != nil else { return }
        step(index, at: now, &actions) { $0.encryptionChanged(isOn, at: $1) }
    }

    /// Handles the end of encryption on a link; in LE, the link must then end.
    mutating func encryptionStopped(_ link: ConnectionHandle) {
        guard let index = entries.index(of: link) else { return }
        entries[at: index].security = LinkSecurity(isBonded: entries[at: index].security.isBonded)
        entries[at: index].isBondDeleted = false
    }

    private mutating func encrypted(_ index: Int, by identity: DeviceAddress, _ actions: inout [Action]) {
        guard let bond = bonds[identity] else {
            let error = RadioError(
                .pairingFailed, "the bond was forgotten while the link was encrypted with its key",
                remedy: "pair again")
            return end(index, error, &actions)
        }
        let link = entries.keys[index]
        entries[at: index].security = bond.security
        entries[at: index].isBondDeleted = false
        if !entries[at: index].isRestored {
            entries[at: index].isRestored = true
            actions.append(.restore(bond, link: link))
        }
        actions.append(.secured(link: link, by: bond))
        end(index, nil, &actions)
    }

    private mutating func keyRefused(_ index: Int, _ status: HCIStatus, _ actions: inout [Action]) {
        let forgot = status == .pinOrKeyMissing
        let peer = entries[at: index].peer.address.map { "\($0)" } ?? "the other side"
        let error = RadioError(
            .pairingFailed,
            forgot
                ? "\(peer) no longer has the bond"
                : "encrypting failed: status 0x\(Hex.encode([status.code]))",
            remedy: forgot ? "forget it here too, and pair again" : nil, reason: status.code)
        guard entries[at: index].waiters.isEmpty else { return end(index, error, &actions) }
        guard entries[at: index].role == .central else { return }
        actions.append(.centralEvent(.warning(RadioWarning("encryptionFailed", "\(error)"))))
    }
}
