import MynahCore

/// The private addresses that bonded peers used last.
struct PeerAddresses {
    private var lastHeard: [DeviceAddress: DeviceAddress] = [:]

    /// The address that a bonded peer used last, or its identity address if no private address is known.
    func current(of identity: DeviceAddress) -> DeviceAddress { lastHeard[identity] ?? identity }

    /// Whether a private address of a bonded peer is known.
    func knows(_ identity: DeviceAddress) -> Bool { lastHeard[identity] != nil }

    /// Returns the identity address of the bonded peer that uses an address, or else the address itself.
    mutating func identity(of address: DeviceAddress, _ bonds: BondStore) -> DeviceAddress {
        guard address.isResolvable, let identity = bonds[address]?.identity else { return address }
        if !knows(identity) { _ = note(address, of: identity) }
        return identity
    }

    /// Records the address from which a bonded peer has connected.
    mutating func connected(_ identity: DeviceAddress, by address: DeviceAddress) {
        if address.isResolvable { _ = note(address, of: identity) }
    }

    /// Records the address from which an advertising report was received.
    ///
    /// Returns the identity address of the bonded peer that uses the address, or else the address itself.
    /// Also returns whether the peer has changed its address.
    mutating func heard(
        _ address: DeviceAddress, _ bonds: BondStore
    ) -> (identity: DeviceAddress, hasMoved: Bool) {
        if address.isResolvable, let identity = bonds[address]?.identity {
            return (identity, note(address, of: identity))
        }
        // The peer may be using its identity address again.
        return (address, knows(address) && note(nil, of: address))
    }

    /// Sets the address that a peer uses, or its identity address if `address` is `nil`.
    ///
    /// Returns whether the address has changed.
    mutating func note(_ address: DeviceAddress?, of identity: DeviceAddress) -> Bool {
        let before = lastHeard[identity]
        lastHeard[identity] = address
        return before != address
    }
}
