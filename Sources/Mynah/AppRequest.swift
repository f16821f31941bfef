import MynahCore

/// A request of an app to its phone, which carries it out at once.
enum AppRequest: Sendable {
    /// Have the radio serve the app's services or refuse requests for them, as the app's state requires.
    case serve
    /// Stop the app's advertising, and forget its request.
    case forgetAdvertising
    /// Withdraw the services of the app's managers; with `forget`, the app has to add them again.
    case withdrawServices(forget: Bool)
    /// Load the state that another process preserved for the app's central managers.
    ///
    /// With `ofPeripherals`, the state of its peripheral managers is loaded too.
    case loadPreserved(ofPeripherals: Bool)
    /// Delete the state that an earlier launch preserved.
    case forgetPreserved
    /// Stop scanning and connecting for the app's central managers of earlier launches.
    case forgetKeptCentrals
    /// Report the restored state and the Bluetooth state to the app's new managers.
    case introduce
    /// End the managers of a process that has ended, and keep peripheral managers that have a restore
    /// identifier.
    ///
    /// With `keepingCentrals`, central managers that have a restore identifier are kept too.
    case endManagers(keepingCentrals: Bool)
    /// Update the scan, the pending connections and the alerts for the app's new state.
    case stateChanged
    /// Handle the deadline for which the app's timer was set.
    case deadlineReached
    /// Close the picker because its timeout elapsed.
    case pickerTimedOut

    func perform(for app: AppProcess, on phone: isolated Phone) {
        let central = phone.central
        switch self {
        case .serve:
            for manager in app.managers {
                let published = manager.added.filter { $0.id != nil }.flatMap(\.services)
                phone.services.serve(published, of: manager)
            }
        case .forgetAdvertising:
            for manager in app.managers { phone.advertiser.forget(manager) }
        case .withdrawServices(let forget):
            for manager in app.managers { phone.services.withdrawAll(of: manager, forget: forget) }
        case .loadPreserved(let ofPeripherals):
            if ofPeripherals {
                app.roster.peripheral.loadPreserved(of: app.condition, in: phone.files, phone.memory)
            }
            app.roster.central.loadPreserved(of: app.condition, in: central)
        case .forgetPreserved:
            app.roster.peripheral.forgetPreserved(in: phone.files, phone.memory, phone.advertiser)
        case .forgetKeptCentrals: app.roster.central.forgetKept(in: central)
        case .introduce: app.introduceManagers(in: central)
        case .endManagers(let isKept):
            app.roster.peripheral.end(in: phone.memory, phone.services, phone.advertiser)
            app.roster.central.end(keeping: isKept, in: central)
        case .stateChanged: central.appChanged(app)
        case .deadlineReached: app.deadlineReached()
        case .pickerTimedOut: app.accessories.closePicker(.notFound)
        }
    }
}
