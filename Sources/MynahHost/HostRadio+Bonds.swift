import MynahCore
import MynahHCI
import MynahSupport

// What is remembered of peers.
extension HostRadio {
    /// Pairing gave a bond.
    func keep(_ bond: Bond, _ handle: UInt16) {
        guard let link = links[handle] else { return }
        if let old = security.bonds[bond.identity], bond.isWeaker(than: old) {
            warn("bondWeaker", "\(bond.identity) paired again, and less safely than before: \(bond)")
        }
        links[handle]?.security.isBonded = true
        links[handle]?.pairing.isRestored = true
        links[handle]?.peer.address = bond.identity
        var bond = bond
        if link.pairing.peer.isIdentity, link.pairing.peer != bond.identity {
            bond.usedAddress = link.pairing.peer
        }
        remember(link, in: &bond)
        security.bonds.keep(bond)
        saveBonds()
    }

    /// The link is encrypted with a bond's key: what the peer had configured holds again (Core Specification, Vol 3, Part G,
    /// 3.3.3.3).
    ///
    /// Where the services are not what it knows, handles mean nothing any more but those of the GATT service, and it is told
    /// (2.5.2, 7.1).
    func restore(_ bond: Bond, _ handle: UInt16) {
        guard let link = links[handle], !link.pairing.isRestored else { return }
        links[handle]?.pairing.isRestored = true
        let isKnown = bond.databaseHash == database.hash
        let features = bond.clientFeatures.first ?? 0
        links[handle]?.server.clientFeatures = features | link.server.clientFeatures
        if !isKnown { links[handle]?.server.databaseChanged() }
        for (place, bits) in bond.configurations.sorted(by: { $0.key < $1.key }) {
            guard case .configuration(let key, _)? = database[place]?.content,
                link.server.configurations[place] == nil, isKnown || key == serviceChanged
            else { continue }
            links[handle]?.server.configurations[place] = bits
            guard key != serviceChanged else { continue }
            tell(.subscribed(key, link.peer.id, bits & 2 != 0 ? .indication : .notification))
        }
        if !isKnown { indicateServiceChanged(0x0001...0xFFFF, handle) }
        remember(handle)
    }

    /// What a bonded peer configured, and whether it knows the services as they are, is kept.
    func remember(_ handle: UInt16) {
        guard let link = links[handle], link.security.isBonded, link.pairing.isRestored,
            let address = link.peer.address
        else { return }
        security.bonds.update(address) { remember(link, in: &$0) }
        saveBonds()
    }

    private func remember(_ link: Link, in bond: inout Bond) {
        bond.configurations = link.server.configurations
        bond.clientFeatures = link.server.clientFeatures == 0 ? [] : [link.server.clientFeatures]
        guard link.server.awareness == .aware, !isBeingTold(link) else { return }
        bond.databaseHash = database.hash
    }

    /// Whether an indication of changed services is under way to it.
    private func isBeingTold(_ link: Link) -> Bool {
        guard let key = serviceChanged else { return false }
        return link.server.indicated == database.handle(of: key)
            || link.indications.contains { $0.key == key }
    }

    // MARK: The file

    func loadBonds() {
        guard let file = options.bonds else { return }
        let contents = file.load()
        security.maySave = contents.mayReplace
        if let store = contents.store { security.bonds = store }
        if let warning = contents.warning { warn("bondsUnusable", warning) }
    }

    /// Writes the bonds soon, once for as many changes as there are until then.
    func saveBonds() {
        guard options.bonds != nil, security.maySave, !security.isSaving else { return }
        security.isSaving = true
        Task { writeBonds() }
    }

    func writeBonds() {
        guard security.isSaving, let file = options.bonds else { return }
        security.isSaving = false
        do throws(KeptFile.Problem) {
            try file.save(security.bonds)
        } catch {
            warn("bondsNotKept", "the bonds cannot be kept: \(error)")
        }
    }
}
