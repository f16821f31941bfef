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
        if let peer = links[handle]?.peer { server.peerChanged(peer, on: handle) }
        var bond = bond
        if link.pairing.peer.isIdentity, link.pairing.peer != bond.identity {
            bond.usedAddress = link.pairing.peer
        }
        server.remember(handle, in: &bond)
        bond.serviceChanged = gatt.serviceChanged(of: handle)
        security.bonds.keep(bond)
        saveBonds()
    }

    /// What a bonded peer configured, and whether it knows the services as they are, is kept.
    func remember(_ handle: UInt16) {
        guard let link = links[handle], link.security.isBonded, link.pairing.isRestored,
            let address = link.peer.address
        else { return }
        security.bonds.update(address) { server.remember(handle, in: &$0) }
        saveBonds()
    }

    // MARK: The file

    func loadBonds() {
        guard let file = options.bonds else { return }
        let contents = file.load()
        security.maySave = contents.mayReplace
        if let store = contents.store { security.bonds = store }
        if let warning = contents.warning { warn("bondsUnusable", warning) }
    }

    /// Lets the bonds be written; what is reported from here on can wait until they are.
    func saveBonds() {
        guard let file = options.bonds, security.maySave else { return }
        let executor = environment.executor
        file.save(security.bonds) { [weak self] problem in
            guard let self else { return }
            executor.perform {
                self.assumeIsolated { $0.warn("bondsNotKept", "the bonds cannot be kept: \(problem)") }
            }
        }
    }
}
