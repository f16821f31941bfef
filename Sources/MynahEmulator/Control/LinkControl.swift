import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// Controls the links and bonds of the radio, which all its devices share.
struct LinkControl {
    let devices: PlayedDevices
    let phone: Phone
    let changes: RunChanges

    /// The longest wait for the end of a link; a supervision timeout is at most 32 s.
    private static var linkLimit: Duration { .seconds(40) }

    /// The reasons that a host may give to end a link (Core Specification, Vol 4, Part E, 7.1.6).
    private static var reasons: [UInt8] { [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B] }

    /// Ends the link of one central, or of every central if `name` is `nil`, and waits until it has ended.
    ///
    /// The default reason is 0x13, Remote User Terminated Connection.
    func disconnect(
        central name: String? = nil, reason: UInt8? = nil, from label: String
    ) async throws(ControlRefusal) {
        _ = try devices.player(named: label)
        if let reason, !Self.reasons.contains(reason) {
            let list = Self.reasons.map { ATTError(code: $0).codeText }
            throw .invalid(
                "a host cannot end a link with this reason; use one of \(list.joined(separator: ", "))")
        }
        if let name {
            try await endLinks([try await central(named: name)], reason: reason)
        } else {
            try await endLinks(await connected(), reason: reason)
        }
    }

    /// Deletes the bond with one central, or every bond if `name` is `nil`, and ends the links.
    ///
    /// BlueZ shares its bonds with other programs, so only bonds that were made in this run are deleted if
    /// `name` is `nil`.
    func forget(central name: String? = nil, in label: String) async throws(ControlRefusal) {
        _ = try devices.player(named: label)
        let bonds = try await bonds()
        let links = await connected()
        guard let name else {
            try await forget(bonds)
            return forgotten(nil)
        }
        if let central = links.first(where: { $0.isCalled(name) }) {
            return try await forget(central.address.map { [$0] } ?? [], and: [central])
        }
        if let bond = bonds.first(where: { $0.isCalled(name) }) { return try await forget([bond]) }
        let known = links.map { EventCentral($0).description } + bonds.map(\.description)
        throw .notFound(
            "\(name) is neither connected nor bonded"
                + (known.isEmpty ? "" : "; known are \(Set(known).sorted().joined(separator: ", "))"))
    }

    /// Deletes the phone's bond with a peripheral of an app's profile, and ends their link, as a user does in
    /// Settings.
    func forget(peripheral name: String, in label: String) async throws(ControlRefusal) {
        let player = try devices.player(named: label)
        let names = player.memory.device.centrals.flatMap(\.peripherals).map(\.name)
        guard names.contains(name) else {
            throw .unknown("peripheral", name, of: label, among: names)
        }
        guard let address = player.centrals.lazy.compactMap({ $0.devices.address(of: name) }).first else {
            throw .conflict("\(label) has not found \(name) yet")
        }
        guard await PhoneControl.forgetPeripheral(at: address, on: phone) else {
            throw .conflict("the phone of \(label) has no bond with \(name)")
        }
        forgotten(address)
    }

    /// Lets apps connect again to a device that they had given up because the device had deleted its bond.
    ///
    /// If `address` is `nil`, this applies to all such devices.
    private func forgotten(_ address: DeviceAddress?) {
        for central in devices.players.flatMap(\.centrals) { central.forgotten(address) }
    }

    /// Carries out an action `forget` that was planned by `--at`, or warns why it cannot be done.
    func forget(_ target: AppTarget) async {
        do throws(ControlRefusal) {
            switch target {
            case .peripheral(let name, let label): try await forget(peripheral: name, in: label)
            case .named(let label), .phone(let label): try await forget(in: label)
            case .lastInFront, .every:
                if let label = devices.players.first?.memory.device.label { try await forget(in: label) }
            }
        } catch {
            guard devices.isRunning else { return }
            devices.events.warn("notForgotten", error.message)
        }
    }

    // MARK: Steps

    /// The connected centrals, in the order of their identifiers.
    func connected() async -> [Central] {
        await phone.connectedCentrals
    }

    /// Returns the connected central with this event name.
    func central(named name: String) async throws(ControlRefusal) -> Central {
        let connected = await connected()
        if let central = connected.first(where: { $0.isCalled(name) }) { return central }
        let names = connected.map { EventCentral($0).description }.joined(separator: ", ")
        throw .notFound(
            "\(name) is not connected; " + (names.isEmpty ? "no central is" : "connected are \(names)"))
    }

    /// Returns the bonds that a test may delete; on BlueZ, these are only the bonds that were made in this
    /// run.
    func bonds() async throws(ControlRefusal) -> [DeviceAddress] {
        try await ControlRefusal.attempt { () async throws(RadioError) in
            try await PhoneControl.bonds(of: phone)
        }
    }

    /// Deletes bonds, and ends the links of their devices and of these centrals.
    ///
    /// The bonds are deleted before the links end, so that a central that reconnects at once finds no bond.
    func forget(
        _ bonds: [DeviceAddress], and centrals: [Central] = []
    ) async throws(ControlRefusal) {
        let links = await connected().filter { central in
            centrals.contains { $0.id == central.id } || central.address.map(bonds.contains) ?? false
        }
        for bond in bonds {
            _ = try await ControlRefusal.attempt { () async throws(RadioError) in
                try await PhoneControl.forgetBond(with: bond, on: phone)
            }
        }
        try await endLinks(links)
    }

    /// Ends links, and returns when they have ended.
    func endLinks(_ centrals: [Central], reason: UInt8? = nil) async throws(ControlRefusal) {
        let ids = Set(centrals.map(\.id))
        for central in centrals {
            try await ControlRefusal.attempt { () async throws(RadioError) in
                try await PhoneControl.disconnect(central.id, reason: reason, on: phone)
            }
        }
        let haveEnded = await changes.wait(atMost: Self.linkLimit, for: changes.signal) {
            await phone.connectedCentrals.allSatisfy { !ids.contains($0.id) }
        }
        guard haveEnded else {
            throw .conflict(
                devices.isRunning ? "a link did not end within \(Self.linkLimit)" : "the run has ended")
        }
    }
}

extension String {
    /// Whether a user's text is this address, in upper or lower case.
    func isCalled(_ name: String) -> Bool { lowercased() == name.lowercased() }
}

extension DeviceAddress {
    fileprivate func isCalled(_ name: String) -> Bool { description.isCalled(name) }
}

extension Central {
    fileprivate func isCalled(_ name: String) -> Bool { EventCentral(self).description.isCalled(name) }
}
