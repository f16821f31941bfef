import MynahCore
import MynahFaults
import MynahHCI
import MynahSupport

/// Applies faults to bonds, and to requests that the GATT server answers without the application.
///
/// A fault makes the radio misbehave on purpose, for tests. The object exists only if the radio has faults,
/// and is confined to the radio's executor.
final class LinkFaults {
    /// The largest number of bonds in `lost`; beyond it, the oldest one is forgotten.
    static let lostLimit = 64

    private let faults: any LowerFaults
    /// Whether any fault may apply to a request now.
    var isArmed = false
    /// The PDUs of delayed requests, by central.
    private var held: [Peer.ID: [UInt8]] = [:]
    /// The centrals whose requests are never answered again.
    private var silent: Set<Peer.ID> = []
    /// Bonds that a fault deleted, and whose peers are to be disconnected.
    ///
    /// A peer is disconnected when it starts encryption with the key of such a bond.
    private var lost: [Bond] = []

    init(_ faults: any LowerFaults) {
        self.faults = faults
    }

    /// Removes the state of a central whose link has ended.
    func ended(_ central: Peer.ID) {
        held[central] = nil
        silent.remove(central)
    }

    // MARK: Requests

    /// Applies faults to a PDU of a client; returns `true` if the server must not handle the PDU.
    func takes(_ pdu: [UInt8], on link: ConnectionHandle, of links: LinkDriver) -> Bool {
        guard isArmed || !held.isEmpty || !silent.isEmpty, let opcode = pdu.first,
            !ATTOpcode.isCommand(opcode), opcode != ATTOpcode.handleValueConfirmation,
            let entry = links.acl.table[link],
            entry.role == .peripheral
        else { return false }
        let central = entry.peer.id
        // A client sends one request at a time (Core Specification, Vol 3, Part F, 3.3.2).
        guard held[central] == nil, !silent.contains(central) else { return true }
        guard isArmed, let request = links.server.lowerRequest(in: pdu, link, links.security[link]) else {
            return false
        }
        return apply(faults.verdict(on: request, of: central), to: pdu, on: link, of: links)
    }

    /// Applies a fault's decision to the delayed request of a central.
    func release(_ central: Peer.ID, _ verdict: LowerVerdict, of links: LinkDriver) {
        guard let pdu = held.removeValue(forKey: central),
            let link = try? links.acl.table.handle(of: central),
            !apply(verdict, to: pdu, on: link, of: links)
        else { return }
        links.serve {
            $0.receive(pdu, link, links.security[link], at: links.environment.now(), &$1, &$2)
        }
    }

    /// Applies a fault's decision to a request; returns `false` if the server should handle the request.
    private func apply(
        _ verdict: LowerVerdict, to pdu: [UInt8], on link: ConnectionHandle, of links: LinkDriver
    ) -> Bool {
        guard let central = links.acl.table[link]?.peer.id, let opcode = pdu.first else { return true }
        switch verdict {
        case .proceed:
            if opcode == ATTOpcode.exchangeMTURequest {
                links.server.setOwnMTU(links.server.largestMTU, link)
            }
            return false
        case .mtu(let mtu):
            links.server.setOwnMTU(mtu, link)
            return false
        case .refuse(let error):
            let queued = links.server.dropPrepared(executedBy: pdu, link)
            let handle = queued ?? (try? ATTRequest(pdu))?.firstHandle ?? .none
            let response = ATTPDU.error(error, to: opcode, at: handle)
            links.send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: response), to: link)
        case .ignore: silent.insert(central)
        case .hold: held[central] = pdu
        }
        return true
    }

    // MARK: Bonds

    /// Removes a device's bond from `lost`, so that the device may encrypt again.
    ///
    /// This is called when the application, and not a fault, deletes the device's bond.
    func forgetLostBond(with address: DeviceAddress) {
        lost.removeAll { $0.isKnown(as: address) }
    }

    /// Deletes the bond of a central, or all bonds if `central` is `nil`, and ends these peers'
    /// subscriptions.
    ///
    /// If `way` is `disconnect`, later links on which a peer uses the deleted key are ended.
    func loseBond(of central: Peer.ID?, _ way: FaultEffect.LostBond, of links: LinkDriver) {
        var bonds = links.security.bonds.bonds
        if let central {
            let address = (try? links.acl.table.handle(of: central)).flatMap {
                links.acl.table[$0]?.peer.address
            }
            bonds = address.flatMap { links.security.bonds[$0] }.map { [$0] } ?? []
        }
        for bond in bonds {
            lost.removeAll { $0.isOfSamePeer(as: bond) }
            if way == .disconnect { lost.append(bond) }
            if lost.count > Self.lostLimit { lost.removeFirst() }
            _ = links.security.forgetBond(with: bond.identity)
            for link in links.acl.table.handles where links.acl.table[link]?.peer.address == bond.identity {
                guard let peer = links.acl.table[link]?.peer.id else { continue }
                for key in links.server.forgetConfigurations(link) {
                    links.sinks.tell(.unsubscribed(key, peer))
                }
            }
        }
    }

    /// Handles the controller's request for a key.
    ///
    /// Returns `true` if the link is ended, because a fault deleted the bond that the central uses.
    func endsLink(
        _ link: ConnectionHandle, _ random: [UInt8], _ diversifier: UInt16, of links: LinkDriver
    ) -> Bool {
        guard !lost.isEmpty, let entry = links.security.manager.entries[link], entry.role == .peripheral
        else {
            return false
        }
        var reader = ByteReader(random)
        // The key of a pairing in progress does not belong to the lost bond.
        let isPairing = entry.machine?.longTermKey(ediv: diversifier, rand: reader.readUInt64() ?? 0) != nil
        let address = entry.addresses.peer
        guard !isPairing, links.security.bonds[address] == nil,
            lost.contains(where: { $0.isKnown(as: address) || $0.identity == entry.peer.address })
        else { return false }
        links.controller.send(.disconnect(link, .authenticationFailure), "ending a link with a lost bond")
        return true
    }
}

extension Bond {
    /// Whether an address is one of the bonded peer's addresses.
    fileprivate func isKnown(as address: DeviceAddress) -> Bool {
        identity == address || usedAddress == address
            || identityResolvingKey.map { PrivateAddress.resolves(address, with: $0) } ?? false
    }
}
