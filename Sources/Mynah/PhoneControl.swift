package import MynahCore

/// The state of a phone's radio and its links at one moment.
package struct PhoneStatus: Sendable {
    /// A connected central.
    package struct Link: Sendable {
        package var central: Central
        /// Whether the central's link is encrypted, or `nil` if the radio does not report it.
        package var isEncrypted: Bool?
    }

    /// The radio's capabilities, or `nil` if it is not started.
    package var capabilities: RadioCapabilities?
    /// The Bluetooth state.
    package var state: RadioState
    /// The connected centrals, in the order of their identifiers.
    package var links: [Link]
}

/// A test's requests to a phone's radio, in addition to those of the phone's apps.
package enum PhoneControl {
    /// The state of the radio and its links now.
    package static func status(of phone: isolated Phone) async -> PhoneStatus {
        let radio = phone.radio as? any ControllableRadio
        var links: [PhoneStatus.Link] = []
        for central in phone.connectedCentrals {
            links.append(.init(central: central, isEncrypted: await radio?.isEncrypted(central.id)))
        }
        return PhoneStatus(capabilities: phone.capabilities, state: phone.radioState, links: links)
    }

    /// Makes the manager of the services that the phone itself publishes, and not one of its apps.
    ///
    /// They are published when the radio starts, before the preserved services of the phone's apps.
    package static func makeOwnManager(
        of services: [ServiceDefinition], sink: any PeripheralSink, on phone: isolated Phone
    ) -> PeripheralManager {
        let manager = ManagerState(phone.files, phone.memory, sink: sink)
        manager.added = [.init(id: nil, services: services)]
        phone.memory.managers.append(manager)
        return manager.makeHandle(PhoneLink(phone), phone.radio, keeping: phone)
    }

    /// Stops advertising until `Phone.releaseAdvertising()`, and returns when nothing is on the air.
    package static func silence(_ phone: isolated Phone) async {
        await phone.advertiser.silence()
    }

    /// Turns the phone's screen off or on; while it is off, scans ignore overflow areas.
    package static func setScreen(isOn: Bool, of phone: isolated Phone) {
        phone.central.scanner.isScreenOn = isOn
        // Devices that were reported before may match now, because scans use the overflow area again.
        if isOn { phone.central.scanner.listenAnew() }
    }

    /// Whether the phone's screen is on.
    package static func isScreenOn(of phone: isolated Phone) -> Bool { phone.central.scanner.isScreenOn }

    /// Saves the state of a phone's apps for the last time, so that links that end later do not change it.
    package static func keepState(of phone: isolated Phone) {
        guard !phone.files.isFinal else { return }
        phone.central.devices.save(isLast: true)
        phone.files.finish()
    }

    /// Removes an app from the phone; quit the app first.
    package static func remove(_ app: App, from phone: isolated Phone) {
        let number = app.access.number
        phone.memory.app(number)?.stop()
        phone.memory.apps.removeAll { $0.number == number }
    }

    // MARK: Links and bonds

    /// Disconnects a central, with a reason, or with the radio's default reason if `reason` is `nil`.
    ///
    /// Throws `unsupported` if the radio cannot set the reason.
    package static func disconnect(
        _ central: Central.ID, reason: UInt8?, on phone: isolated Phone
    ) async throws(RadioError) {
        guard let reason else { return await phone.radio.disconnect(central) }
        try await controllable(phone).disconnect(central, reason: reason)
    }

    /// The identity addresses of the devices with which the radio has bonds.
    ///
    /// Throws `unsupported` if the radio does not list its bonds.
    package static func bonds(of phone: isolated Phone) async throws(RadioError) -> [DeviceAddress] {
        let radio = try controllable(phone)
        return await radio.bondedAddresses
    }

    /// Deletes the bond with a device; returns `false` if there is none.
    package static func forgetBond(
        with address: DeviceAddress, on phone: isolated Phone
    ) async throws(RadioError) -> Bool {
        phone.central.devices.forgotten(address)
        return try await controllable(phone).forgetBond(with: address)
    }

    /// Calls `body` with the radio as a `ControllableRadio`; the caller already runs on the radio's executor.
    ///
    /// Returns `nil` if the radio cannot be controlled.
    @discardableResult
    static func ask<Value: Sendable>(
        _ radio: any PeripheralRadio, _ body: @Sendable (isolated any ControllableRadio) -> Value
    ) -> Value? {
        guard let radio = radio as? any ControllableRadio else { return nil }
        return radio.onOwnExecutor { body($0) }
    }

    private static func controllable(_ phone: isolated Phone) throws(RadioError) -> any ControllableRadio {
        guard let radio = phone.radio as? any ControllableRadio else {
            throw RadioError(.unsupported, "this radio does not let its links and bonds be controlled")
        }
        return radio
    }
}
