import MynahCore

/// A request of an app to its phone, which sees to it at once.
enum AppRequest: Sendable {
    /// Serve its services as its state has it now.
    case serve
    /// Forget its advertising without being asked.
    case forgetAdvertising
    /// Withdraw its services without being asked.
    case withdrawServices(forget: Bool)
    /// Take what another process preserved of its managers: of the central ones, or of all.
    case loadPreserved(ofPeripherals: Bool)
    /// Delete the state that an earlier launch preserved.
    case forgetPreserved
    /// Work for none of its central managers any more.
    case forgetKeptCentrals
    /// Give its new managers what was preserved, and the Bluetooth state.
    case introduce
    /// Keep the managers that have a restore identifier, and end the others: the process is gone.
    case endManagers(keepingCentrals: Bool)
    /// Scan, listen and alert for it as its new state has it.
    case stateChanged
    /// Do what its clock was set for.
    case deadlineReached
    /// Close the picker, for which no device was heard in time.
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
            if ofPeripherals { app.roster.peripheral.loadPreserved(of: app, in: phone.files, phone.memory) }
            app.roster.central.loadPreserved(of: app, in: central)
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
