package import MynahCore

/// An operation that a phone carries out for a connected peripheral.
package enum PhoneVerb: Hashable, Sendable {
    /// Discovers the primary services of these types, or all primary and secondary services if the list is
    /// empty.
    ///
    /// Their included services, characteristics and descriptors are discovered too.
    case discover([BluetoothUUID])
    case read(AttributePath)
    case write(AttributePath, WrittenValue, withResponse: Bool)
    /// Subscribes to a characteristic, or unsubscribes.
    case subscribe(Bool, AttributePath)
    case pair
    /// Deletes the bond.
    case forget
    case mtu
    case rssi
    /// Changes the connection parameters.
    case parameters(ConnectionParameterRange)
    case disconnect
}

/// The conditions for the peripherals that a phone looks for; a peripheral must meet all that are set.
package struct PeripheralSearch: Hashable, Sendable {
    /// The complete advertised name.
    package var name: String?
    /// The address on the air, or the identity address of a bonded peripheral.
    package var address: DeviceAddress?
    /// The services of which a peripheral must advertise at least one; empty for no condition.
    package var services: [BluetoothUUID]

    package init(name: String? = nil, address: DeviceAddress? = nil, services: [BluetoothUUID] = []) {
        self.name = name
        self.address = address
        self.services = services
    }

    /// Whether every peripheral matches.
    package var isEmpty: Bool { name == nil && address == nil && services.isEmpty }

    /// Whether a peripheral with these addresses, this name and these services meets the conditions.
    ///
    /// `addresses` may also contain the identity address of a bonded peripheral.
    package func matches(
        _ addresses: [DeviceAddress?], name heard: String?, services found: [BluetoothUUID]
    ) -> Bool {
        if let name, name != heard { return false }
        if let address, !addresses.contains(where: { $0?.value == address.value }) { return false }
        return services.isEmpty || services.contains { found.contains($0) }
    }

    /// The conditions for a message, as in `named "Lock"`.
    package var text: String {
        let parts = [
            name.map { "named \"\($0)\"" }, address.map { "with the address \($0)" },
            services.isEmpty
                ? nil : "with a service of \(services.map(\.shortest.description).joined(separator: ", "))",
        ]
        return parts.compactMap { $0 }.joined(separator: " and ")
    }
}

/// The answers of a phone's user to the questions of a pairing.
package struct PairingWish: Hashable, Sendable {
    /// The passkey to enter, or `nil` if none is known yet.
    package var passkey: UInt32?
    /// Whether the user agrees to pairings, and confirms that the two numbers of a comparison are the same.
    package var accepts: Bool

    package init(passkey: UInt32? = nil, accepts: Bool = true) {
        self.passkey = passkey
        self.accepts = accepts
    }
}

/// A request to a phone in the central role.
package struct PhoneRequest: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Scans until this number of matching peripherals was received, or with `nil` for the whole time
        /// limit.
        case scan(PeripheralSearch, count: Int?)
        /// Finds a peripheral, connects to it and discovers its services.
        case connect(PeripheralSearch)
        /// Carries out a verb on a connected peripheral, given by its address or its name.
        ///
        /// With `nil`, this is the only connected peripheral.
        case perform(PhoneVerb, on: String?)
        /// Pairs with a peripheral.
        case pair(PairingWish, on: String?)
        /// Enters the passkey that a pairing asks for.
        case enter(UInt32)
    }

    package var action: Action
    /// The time limit.
    package var within: Duration

    package init(_ action: Action, within: Duration) {
        self.action = action
        self.within = within
    }
}
