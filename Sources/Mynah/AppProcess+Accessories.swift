package import MynahCore
package import MynahLifecycle

// The accessories of an app that uses AccessorySetupKit.
extension AppProcess {
    /// `true` if the app uses AccessorySetupKit, and has no accessory yet.
    var awaitsAccessory: Bool { accessories?.all.isEmpty ?? false }

    /// The Bluetooth state of its central managers while the phone has this one.
    ///
    /// Without an accessory it is off for them: WWDC24, session 10203, has them powered on with one, and
    /// Punch Through saw poweredOff before.
    func centralState(on phone: RadioState) -> RadioState {
        let state = bluetoothState(phone)
        return awaitsAccessory && state == .poweredOn ? .poweredOff : state
    }

    /// Whether its central managers see the device at an address.
    func sees(_ address: DeviceAddress) -> Bool { accessories?.contains(address) ?? true }

    /// Whether its central managers retrieve a device by an identifier, and connect to it.
    func sees(_ identifier: PeripheralIdentifier) -> Bool { accessories?.contains(identifier) ?? true }

    /// Takes the accessories that its user picked in an earlier run.
    func loadAccessories(in files: PhoneFiles) {
        guard let name = accessories?.app else { return }
        accessories = files.load(insteadOf: KeptAccessories(app: name), warning: "accessoriesUnusable") {
            json throws(PreservedStateProblem) in try KeptAccessories(json: json, app: name)
        }
    }

    /// The user has picked a device, which is an accessory of the app from now on.
    func add(accessory identifier: PeripheralIdentifier, at address: DeviceAddress, on phone: isolated Phone)
    {
        change(on: phone) { $0.add(identifier, at: address) }
    }

    /// A device is no accessory of it any more: its links and its pending connections end, as if its managers
    /// had cancelled them, which is an assumption.
    ///
    /// Returns the device's address, or `nil` if it was none.
    func remove(accessory identifier: PeripheralIdentifier, on phone: isolated Phone) -> DeviceAddress? {
        var removed: KeptAccessories.Accessory?
        change(on: phone) { accessories in
            removed = accessories.remove(identifier)
            guard let address = removed?.address else { return }
            for manager in phone.central.memory.managers where manager.app === self {
                guard let peripheral = manager.asked[address] else { continue }
                // An app that does not run is not launched for the removal.
                if manager.isEnded { manager.released(address) }
                phone.central.connections.cancel(manager, peripheral, on: phone)
            }
        }
        return removed?.address
    }

    /// A device has turned out to have another address.
    func accessoryMoved(from old: DeviceAddress, to new: DeviceAddress, in files: PhoneFiles) {
        guard accessories?.moved(from: old, to: new) == true, let accessories else { return }
        files.save(accessories)
    }

    private func change(on phone: isolated Phone, _ body: (inout KeptAccessories) -> Void) {
        guard var new = accessories else { return }
        body(&new)
        guard new != accessories else { return }
        accessories = new
        phone.files.save(new)
        // As with Bluetooth off, a manager has to ask again for its scan.
        for manager in phone.central.memory.managers where manager.app === self && awaitsAccessory {
            manager.powerLost(keepsScan: phone.central.memory.keeps(manager.key))
        }
        centralStateChanged(to: phone.central.memory.radioState, on: phone)
        phone.central.appChanged(self, on: phone)
    }

    // MARK: The picker

    /// Shows the picker, until a device is heard that `accepts` takes or its time is over.
    ///
    /// Throws `invalidState` if Bluetooth is off, the app is not on the screen or has a picker already.
    func pick(
        _ accepts: @escaping @Sendable (AdvertisementData) -> Bool,
        then end: @escaping @Sendable (AccessoryPick) -> Void, on phone: isolated Phone
    ) throws(RadioError) {
        guard state == .foreground else {
            throw RadioError(
                .invalidState, "the app \(description.name) is not on the screen, where it shows its picker")
        }
        guard picker == nil else {
            throw RadioError(.invalidState, "the app \(description.name) shows a picker already")
        }
        try phone.central.memory.checkPower()
        picker = AccessoryPicker(of: self, accepts, then: end, on: phone)
    }

    /// The picker is gone.
    func closePicker(_ pick: AccessoryPick, on phone: isolated Phone) {
        guard let closed = picker else { return }
        picker = nil
        closed.close(on: phone)
        closed.end(pick)
    }
}

extension AppAccess {
    /// `true` if the app uses AccessorySetupKit.
    package var usesAccessorySetup: Bool { look { app, _ in app.accessories != nil } ?? false }

    /// `true` if the app uses AccessorySetupKit, and has no accessory yet.
    package var awaitsAccessory: Bool { look { app, _ in app.awaitsAccessory } ?? false }

    /// The address of an accessory, or `nil` if the app does not have it.
    package func address(ofAccessory identifier: PeripheralIdentifier) -> DeviceAddress? {
        look { app, _ in app.accessories?.all.first { $0.identifier == identifier }?.address } ?? nil
    }

    /// The app's accessories, in the order in which they were picked.
    package var accessories: [PeripheralIdentifier] {
        look { app, _ in app.accessories?.all.map(\.identifier) ?? [] } ?? []
    }

    /// Shows the picker of AccessorySetupKit; `then` gets the device that `accepts` takes, or why there is
    /// none.
    ///
    /// Throws `invalidState` if Bluetooth is off, the app is not on the screen or has a picker already.
    package func pickAccessory(
        _ accepts: @escaping @Sendable (AdvertisementData) -> Bool,
        then end: @escaping @Sendable (AccessoryPick) -> Void
    ) throws(RadioError) {
        let error = look { app, phone -> RadioError? in
            do throws(RadioError) {
                try app.pick(accepts, then: end, on: phone)
                return nil
            } catch {
                return error
            }
        }
        if let error = error ?? nil { throw error }
    }

    /// A device is an accessory of it from now on.
    package func add(accessory identifier: PeripheralIdentifier, at address: DeviceAddress) {
        look { app, phone in app.add(accessory: identifier, at: address, on: phone) }
    }

    /// A device is no accessory of it any more; returns its address, or `nil` if it was none.
    package func remove(accessory identifier: PeripheralIdentifier) -> DeviceAddress? {
        look { app, phone in app.remove(accessory: identifier, on: phone) } ?? nil
    }
}
