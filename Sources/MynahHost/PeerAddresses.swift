import MynahCore

/// The private addresses from which bonded peers were last received.
struct PeerAddresses {
    private var lastHeard: [DeviceAddress: DeviceAddress] = [:]

    /// The address that a peer uses, as far as known: its identity address if no other was received.
    func current(of identity: DeviceAddress) -> DeviceAddress { lastHeard[identity] ?? identity }

    /// Whether a private address of this peer is known.
    func knows(_ identity: DeviceAddress) -> Bool { lastHeard[identity] != nil }

    /// Returns the identity address of a bonded peer that uses this address, or the address itself.
    mutating func identity(of address: DeviceAddress, _ bonds: BondStore) -> DeviceAddress {
        guard address.isResolvable, let identity = bonds[address]?.identity else { return address }
        if !knows(identity) { _ = note(address, of: identity) }
        return identity
    }

    /// Notes the address with which a bonded peer has connected.
    mutating func connected(_ identity: DeviceAddress, by address: DeviceAddress) {
        if address.isResolvable { _ = note(address, of: identity) }
    }

    /// Notes the address from which a peer was received; returns its identity address, and whether the
    /// address is a new one.
    mutating func heard(
        _ address: DeviceAddress, _ bonds: BondStore
    ) -> (identity: DeviceAddress, hasMoved: Bool) {
        if address.isResolvable, let identity = bonds[address]?.identity {
            return (identity, note(address, of: identity))
        }
        // It may use its identity address again.
        return (address, knows(address) && note(nil, of: address))
    }

    /// Notes the address of a peer, or `nil` if it uses its identity address; returns whether that is a
    /// change.
    mutating func note(_ address: DeviceAddress?, of identity: DeviceAddress) -> Bool {
        let before = lastHeard[identity]
        lastHeard[identity] = address
        return before != address
    }
}
