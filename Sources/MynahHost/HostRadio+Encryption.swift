import MynahCore
import MynahHCI
import MynahSupport

// Keys for the controller, and what it says of encryption.
extension HostRadio {
    /// As the central: encrypts by a bond that is good enough, or pairs (Core Specification, Vol 3, Part H, 2.4.6).
    func secure(_ handle: UInt16, _ requirements: AuthenticationRequirements) {
        guard let link = links[handle], link.role == .central, link.pairing.encryption == .idle else {
            return
        }
        let bond = link.peer.address.flatMap { security.bonds[$0] }
        guard let bond, let key = bond.peerKey, bond.satisfies(requirements) else {
            return pairing(handle) { $0.start(at: $1) }
        }
        // By that bond already.
        if link.security.isEncrypted, !bond.security.isWeaker(than: link.security) {
            return endPairing(handle, .success(()))
        }
        links[handle]?.pairing.encryption = .bond(bond.identity)
        enableEncryption(handle, key)
    }

    func enableEncryption(_ handle: UInt16, _ key: Bond.LongTermKey) {
        var writer = ByteWriter(capacity: 28)
        writer.write(handle)
        writer.write(key.rand)
        writer.write(key.ediv)
        writer.write(key.value.bytes)
        guard let peer = links[handle]?.peer.id else { return }
        send(.encrypt, of: handle, peer, HCICommand(.leEnableEncryption, writer.bytes))
    }

    /// The peripheral's controller asks for the key that the central encrypts with (Vol 4, Part E, 7.7.65.5).
    func giveKey(_ handle: UInt16, _ random: [UInt8], _ diversifier: UInt16) {
        guard let link = links[handle] else { return }
        var reader = ByteReader(random)
        let rand = reader.readUInt64() ?? 0
        let key: SecretKey?
        if let fresh = link.pairing.machine?.longTermKey(ediv: diversifier, rand: rand) {
            links[handle]?.pairing.encryption = .pairing
            key = fresh
        } else if let address = link.peer.address, let bond = security.bonds[address],
            let kept = security.bonds.key(for: address, ediv: diversifier, rand: rand)
        {
            links[handle]?.pairing.encryption = .bond(bond.identity)
            key = kept
        } else {
            key = nil
        }
        var writer = ByteWriter(capacity: 18)
        writer.write(handle)
        if let key { writer.write(key.bytes) }
        let opcode: HCIOpcode =
            key == nil ? .leLongTermKeyRequestNegativeReply : .leLongTermKeyRequestReply
        send(HCICommand(opcode, writer.bytes), "answering which key a central means")
    }

    /// A link is encrypted now, or with another key than before; or the attempt failed.
    func encryptionEnded(_ handle: UInt16, _ status: HCIStatus) {
        guard let link = links[handle] else { return }
        links[handle]?.pairing.encryption = .idle
        let isOn = status == .success
        if case .bond(let identity) = link.pairing.encryption {
            if isOn { encrypted(handle, by: identity) } else { keyRefused(handle, status) }
        }
        if link.pairing.machine != nil { pairing(handle) { $0.encryptionChanged(isOn, at: $1) } }
    }

    /// LE has no way back but the end of the link.
    func encryptionStopped(_ handle: UInt16) {
        guard let link = links[handle] else { return }
        links[handle]?.security = LinkSecurity(isBonded: link.security.isBonded)
    }

    private func encrypted(_ handle: UInt16, by identity: DeviceAddress) {
        guard let bond = security.bonds[identity] else { return }
        links[handle]?.security = bond.security
        restore(bond, handle)
        clientSecured(handle, by: bond)
        endPairing(handle, .success(()))
    }

    private func keyRefused(_ handle: UInt16, _ status: HCIStatus) {
        guard let link = links[handle] else { return }
        let forgot = status == .pinOrKeyMissing
        let error = RadioError(
            .pairingFailed,
            forgot
                ? "\(link.peer.address.map { "\($0)" } ?? "the other side") has forgotten the bond"
                : "encrypting failed: status 0x\(Hex.encode([status.code]))",
            remedy: forgot ? "forget it here too, and pair again" : nil)
        guard link.pairing.waiters.isEmpty else { return endPairing(handle, .failure(error)) }
        if link.role == .central {
            tellCentral(.warning(RadioWarning("encryptionFailed", "\(error)")))
        }
    }
}
