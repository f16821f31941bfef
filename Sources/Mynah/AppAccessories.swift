package import MynahCore
package import MynahLifecycle

/// The accessories of an app that uses AccessorySetupKit, and the picker that adds them.
///
/// Belongs to an app, and runs on the phone's executor.
final class AppAccessories {
    /// The accessories that the app's user has picked, or `nil` if the app does not use AccessorySetupKit.
    private(set) var kept: KeptAccessories?
    /// The picker that the app shows, or `nil` if it shows none.
    private var picker: AccessoryPicker?
    private let ports: AppPorts

    init(of app: AppDescription, _ ports: AppPorts) {
        kept = app.usesAccessorySetup ? KeptAccessories(app: app.name) : nil
        self.ports = ports
    }

    /// `true` if the app uses AccessorySetupKit, and its user has not picked an accessory yet.
    var areAwaited: Bool { kept?.all.isEmpty ?? false }

    /// Whether the app's central managers see the device at an address.
    func sees(_ address: DeviceAddress) -> Bool { kept?.contains(address) ?? true }

    /// Whether the app's central managers may retrieve the device with an identifier, and connect to it.
    func sees(_ identifier: PeripheralIdentifier) -> Bool { kept?.contains(identifier) ?? true }

    /// The address of an accessory, or `nil` if the app does not have it.
    func address(of identifier: PeripheralIdentifier) -> DeviceAddress? {
        kept?.all.first { $0.identifier == identifier }?.address
    }

    /// Reads the accessories that the app's user picked in an earlier run.
    func load() {
        guard let name = kept?.app else { return }
        kept = ports.files.load(
            insteadOf: KeptAccessories(app: name), warning: "accessoriesUnusable"
        ) { json throws(PreservedStateProblem) in try KeptAccessories(json: json, app: name) }
    }

    /// Changes and saves the accessories; returns whether `body` changed anything.
    func change(_ body: (inout KeptAccessories) -> Void) -> Bool {
        guard var new = kept else { return false }
        body(&new)
        guard new != kept else { return false }
        kept = new
        ports.files.save(new)
        return true
    }

    /// Replaces an accessory's address after the radio reported another one for the same device.
    func moved(from old: DeviceAddress, to new: DeviceAddress) {
        guard kept?.moved(from: old, to: new) == true, let kept else { return }
        ports.files.save(kept)
    }

    // MARK: The picker

    /// Shows the picker until it hears a device for which `accepts` returns `true`, or until its timeout.
    ///
    /// Throws `invalidState` if Bluetooth is off, if the app is not in the foreground, or if it already shows
    /// a picker.
    func pick(
        for app: AppProcess, _ accepts: @escaping @Sendable (AdvertisementData) -> Bool,
        then end: @escaping @Sendable (AccessoryPick) -> Void, in central: PhoneCentral
    ) throws(RadioError) {
        let name = app.description.name
        guard app.state == .foreground else {
            throw RadioError(
                .invalidState, "the app \(name) is not on the screen, where it shows its picker")
        }
        guard picker == nil else {
            throw RadioError(.invalidState, "the app \(name) shows a picker already")
        }
        try central.memory.checkPower()
        picker = AccessoryPicker(of: app, accepts, then: end, in: central)
    }

    /// Handles an event of the picker's scan.
    func pickerReceived(_ event: CentralManagerEvent) {
        guard let picker else { return }
        switch event {
        case .discovered(let found) where picker.accepts(found.advertisement):
            let peripheral = found.peripheral
            closePicker(
                .picked(peripheral.identifier, peripheral.address, name: found.advertisement.localName))
        case .stateChanged(let state) where state != .poweredOn: closePicker(.poweredOff)
        // The phone gives its warnings to the managers of programs.
        case .warning(let warning): ports.reports.report(.warning(warning))
        default: break
        }
    }

    /// Closes the picker, and passes the result to the app.
    func closePicker(_ pick: AccessoryPick) {
        guard let closed = picker else { return }
        picker = nil
        closed.close()
        closed.end(pick)
    }

    /// Closes the picker because the phone stops.
    func stop() {
        picker?.stop()
        picker = nil
    }
}

extension AppAccess {
    /// `true` if the app uses AccessorySetupKit.
    package var usesAccessorySetup: Bool { look { app, _ in app.accessories.kept != nil } ?? false }

    /// `true` if the app uses AccessorySetupKit, and its user has not picked an accessory yet.
    package var awaitsAccessory: Bool { look { app, _ in app.accessories.areAwaited } ?? false }

    /// The address of an accessory, or `nil` if the app does not have it.
    package func address(ofAccessory identifier: PeripheralIdentifier) -> DeviceAddress? {
        look { app, _ in app.accessories.address(of: identifier) } ?? nil
    }

    /// The app's accessories, in the order in which they were picked.
    package var accessories: [PeripheralIdentifier] {
        look { app, _ in app.accessories.kept?.all.map(\.identifier) ?? [] } ?? []
    }

    /// Shows the picker of AccessorySetupKit.
    ///
    /// `end` gets the first device for which `accepts` returns `true`, or the reason that no device was
    /// picked.
    ///
    /// Throws `invalidState` if Bluetooth is off, if the app is not in the foreground, or if it already shows
    /// a picker.
    package func pickAccessory(
        _ accepts: @escaping @Sendable (AdvertisementData) -> Bool,
        then end: @escaping @Sendable (AccessoryPick) -> Void
    ) throws(RadioError) {
        let error = look { app, phone -> RadioError? in
            do throws(RadioError) {
                try app.accessories.pick(for: app, accepts, then: end, in: phone.central)
                return nil
            } catch {
                return error
            }
        }
        if let error = error ?? nil { throw error }
    }

    /// Adds a device to the app's accessories.
    package func add(accessory identifier: PeripheralIdentifier, at address: DeviceAddress) {
        look { app, phone in phone.central.add(accessory: identifier, at: address, to: app) }
    }

    /// Removes a device from the app's accessories; returns its address, or `nil` if it was not an accessory.
    package func remove(accessory identifier: PeripheralIdentifier) -> DeviceAddress? {
        look { app, phone in phone.central.remove(accessory: identifier, of: app) } ?? nil
    }
}
