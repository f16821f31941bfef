package import MynahCore
package import MynahLifecycle

// The user's permission for an app to use Bluetooth.
extension AppProcess {
    var authorization: BluetoothAuthorization { permission.authorization }

    /// The Bluetooth state of the app's peripheral managers while the phone is in the given state.
    ///
    /// Before the first unlock after a restart the app does not run, and its preserved managers see Bluetooth
    /// as off.
    func bluetoothState(_ phone: RadioState) -> RadioState {
        let state = permission.state(on: phone)
        return awaitsUnlock && state == .poweredOn ? .poweredOff : state
    }

    /// The Bluetooth state of the app's central managers while the phone is in the given state.
    ///
    /// An app that uses AccessorySetupKit and has no accessory sees Bluetooth as off: by WWDC24, session
    /// 10203, the state is poweredOn with an accessory, and Punch Through saw poweredOff before.
    func centralState(on phone: RadioState) -> RadioState {
        let state = bluetoothState(phone)
        return accessories.areAwaited && state == .poweredOn ? .poweredOff : state
    }

    /// Throws `invalidState` unless the app runs, may use Bluetooth, and has an accessory if it uses
    /// AccessorySetupKit.
    func checkMayActAsCentral() throws(RadioError) {
        try checkMayAct()
        guard accessories.areAwaited else { return }
        throw RadioError(
            .invalidState, "the app \(description.name) uses AccessorySetupKit and has no accessory yet",
            remedy: "wait for stateChanged(.poweredOn)")
    }

    /// Throws `invalidState` unless the app runs and may use Bluetooth.
    func checkMayAct() throws(RadioError) {
        try checkRuns()
        guard !permission.isAllowed else { return }
        throw RadioError(
            .invalidState,
            "the app \(description.name) may not use Bluetooth: its authorization is "
                + authorization.rawValue,
            remedy: "wait for stateChanged(.poweredOn)")
    }

    /// Asks the user for permission when the app makes its first manager.
    func askForPermission() {
        if permission.madeManager() { report(.authorizationChanged(authorization)) }
    }

    /// Loads the permission and the accessories that an earlier run saved.
    func installed() {
        let name = description.name
        let kept = ports.files.load(
            insteadOf: KeptPermission(app: name, authorization), warning: "permissionUnusable"
        ) { json throws(PreservedStateProblem) in try KeptPermission(json: json, app: name) }
        // An app that uses AccessorySetupKit has no permission in Settings.
        if accessories.kept == nil { permission = AppPermission(kept.authorization) }
        accessories.load()
    }

    /// Changes the app's permission to use Bluetooth, as the user or the phone's restrictions do.
    ///
    /// An app that loses its permission also loses its advertising, its services and its preserved state.
    func setAuthorization(_ new: BluetoothAuthorization) -> AppPermission.Change {
        let change = permission.change(to: new)
        guard change != .none, change != .notAsked else { return change }
        ports.files.save(KeptPermission(app: description.name, new))
        report(.authorizationChanged(new))
        if change == .changedInSettings { handle(.transition(.terminate)) }
        if !permission.isAllowed { request(.forgetKeptCentrals) }
        bluetoothChanged()
        return change
    }
}

extension AppAccess {
    /// Whether the user allows the app to use Bluetooth.
    package var isAuthorized: Bool { look { app, _ in app.permission.isAllowed } ?? true }

    /// The user's permission for the app to use Bluetooth.
    package var authorization: BluetoothAuthorization {
        look { app, _ in app.authorization } ?? .notDetermined
    }

    /// Changes the permission as `App.setAuthorization` does.
    package func setAuthorization(_ new: BluetoothAuthorization) -> AppPermission.Change {
        look { app, _ in app.setAuthorization(new) } ?? .none
    }
}
