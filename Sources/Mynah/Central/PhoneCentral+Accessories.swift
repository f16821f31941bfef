import MynahCore
import MynahLifecycle

// The accessories of apps, whose links and scans depend on them.
extension PhoneCentral {
    /// Adds a device that the user has picked to the app's accessories.
    func add(accessory identifier: PeripheralIdentifier, at address: DeviceAddress, to app: AppProcess) {
        if app.accessories.change({ $0.add(identifier, at: address) }) { accessoriesChanged(of: app) }
    }

    /// Removes a device from an app's accessories, and cancels the app's connections to it.
    ///
    /// Returns the device's address, or `nil` if it was not an accessory. It is an assumption that the app's
    /// links and pending connections to the device end.
    func remove(accessory identifier: PeripheralIdentifier, of app: AppProcess) -> DeviceAddress? {
        guard let address = app.accessories.address(of: identifier) else { return nil }
        for manager in memory.managers where manager.app === app.condition {
            guard let peripheral = manager.asked[address] else { continue }
            // An app that does not run is not launched for the removal.
            if manager.isEnded { manager.released(address) }
            connections.cancel(manager, peripheral)
        }
        if app.accessories.change({ $0.remove(identifier) }) { accessoriesChanged(of: app) }
        return address
    }

    private func accessoriesChanged(of app: AppProcess) {
        // As if Bluetooth was off, a manager has to request its scan again.
        for manager in memory.managers where manager.app === app.condition && app.accessories.areAwaited {
            manager.powerLost(keepsScan: memory.keeps(manager.key))
        }
        app.centralStateChanged(to: memory.radioState)
        appChanged(app)
    }
}
