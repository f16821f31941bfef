import MynahCore

/// The private addresses that bonded peers were last heard with.
struct PeerAddresses {
    private var lastHeard: [DeviceAddress: DeviceAddress] = [:]

    /// The address that a peer uses, as far as is known: its identity if no other was heard.
    func current(of identity: DeviceAddress) -> DeviceAddress { lastHeard[identity] ?? identity }

    /// Whether a private address of this peer is known.
    func knows(_ identity: DeviceAddress) -> Bool { lastHeard[identity] != nil }

    /// Returns the identity of a peer with this address: a bonded peer has its identity address, also if
    /// it uses a private one.
    mutating func identity(of address: DeviceAddress, _ bonds: BondStore) -> DeviceAddress {
        guard address.isResolvable, let identity = bonds[address]?.identity else { return address }
        if !knows(identity) { _ = note(address, of: identity) }
        return identity
    }

    /// A bonded peer has connected with an address.
    mutating func connected(_ identity: DeviceAddress, by address: DeviceAddress) {
        if address.isResolvable { _ = note(address, of: identity) }
    }

    /// A peer was heard; returns its identity, and whether it uses another address than before.
    mutating func heard(
        _ address: DeviceAddress, _ bonds: BondStore
    ) -> (identity: DeviceAddress, hasMoved: Bool) {
        if address.isResolvable, let identity = bonds[address]?.identity {
            return (identity, note(address, of: identity))
        }
        // It may use its identity address again.
        return (address, knows(address) && note(nil, of: address))
    }

    /// Notes the address that a peer uses, or `nil` if it uses its identity; returns whether that is another
    /// one than before.
    mutating func note(_ address: DeviceAddress?, of identity: DeviceAddress) -> Bool {
        let before = lastHeard[identity]
        lastHeard[identity] = address
        return before != address
    }
}
