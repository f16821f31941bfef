import MynahCore

/// The private addresses that bonded peers were last heard with.
struct PeerAddresses {
    private var lastHeard: [DeviceAddress: DeviceAddress] = [:]

    /// The address that a peer uses, as far as is known: its identity if no other was heard.
    func current(of identity: DeviceAddress) -> DeviceAddress { lastHeard[identity] ?? identity }

    /// Whether a private address of this peer is known.
    func knows(_ identity: DeviceAddress) -> Bool { lastHeard[identity] != nil }

    /// Notes the address that a peer uses, or `nil` if it uses its identity; returns whether that is another one than before.
    mutating func note(_ address: DeviceAddress?, of identity: DeviceAddress) -> Bool {
        let before = lastHeard[identity]
        lastHeard[identity] = address
        return before != address
    }
}
