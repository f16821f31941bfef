import MynahCore
import MynahHCI

// What is remembered of peers.
extension HostRadio {
    /// Pairing gave a bond.
    func keep(_ bond: Bond, _ handle: UInt16) {
        guard let link = links[handle] else { return }
        if let old = security.bonds[bond.identity], bond.isWeaker(than: old) {
            tell(
                .warning(
                    RadioWarning(
                        "bondWeaker", "\(bond.identity) paired again, and less safely than before: \(bond)")))
        }
        links[handle]?.security.isBonded = true
        links[handle]?.pairing.isRestored = true
        links[handle]?.peer.address = bond.identity
        var bond = bond
        remember(link, in: &bond)
        security.bonds.keep(bond)
        saveBonds()
    }

    /// The link is encrypted with a bond's key: what the peer had configured holds again (Core Specification, Vol 3, Part G,
    /// 3.3.3.3).
    func restore(_ bond: Bond, _ handle: UInt16) {
        guard let link = links[handle], !link.pairing.isRestored else { return }
        links[handle]?.pairing.isRestored = true
        for (place, bits) in bond.configurations.sorted(by: { $0.key < $1.key }) {
            guard case .configuration(let key, _)? = database[place]?.content,
                link.server.configurations[place] == nil
            else { continue }
            links[handle]?.server.configurations[place] = bits
            guard key != serviceChanged else { continue }
            tell(.subscribed(key, link.peer.id, bits & 2 != 0 ? .indication : .notification))
        }
        // The bond was used.
        security.bonds.update(bond.identity) { _ in }
        saveBonds()
    }

    /// What a bonded peer configured is kept.
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
    }

    /// Writes the bonds soon, once for as many changes as there are until then.
    func saveBonds() {}
}
