package import MynahCore
package import MynahLifecycle

// The user's permission for an app to use Bluetooth.
extension AppProcess {
    /// Asks the user for permission when the app makes its first manager.
    func askForPermission() {
        if condition.permission.madeManager() { report(.authorizationChanged(condition.authorization)) }
    }

    /// Loads the permission and the accessories that an earlier run saved.
    func installed() {
        let name = description.name
        let kept = ports.files.load(
            insteadOf: KeptPermission(app: name, condition.authorization), warning: "permissionUnusable"
        ) { json throws(PreservedStateProblem) in try KeptPermission(json: json, app: name) }
        // An app that uses AccessorySetupKit has no permission in Settings.
        if accessories.kept == nil { condition.permission = AppPermission(kept.authorization) }
        accessories.load()
    }

    /// Changes the app's permission to use Bluetooth, as the user or the phone's restrictions do.
    ///
    /// An app that loses its permission also loses its advertising, its services and its preserved state.
    func setAuthorization(_ new: BluetoothAuthorization) -> AppPermission.Change {
        let change = condition.permission.change(to: new)
        guard change != .none, change != .notAsked else { return change }
        ports.files.save(KeptPermission(app: description.name, new))
        report(.authorizationChanged(new))
        if change == .changedInSettings { handle(.transition(.terminate)) }
        if !condition.permission.isAllowed { request(.forgetKeptCentrals) }
        bluetoothChanged()
        return change
    }
}

extension AppAccess {
    /// Whether the user allows the app to use Bluetooth.
    package var isAuthorized: Bool { look { app, _ in app.condition.permission.isAllowed } ?? true }

    /// The user's permission for the app to use Bluetooth.
    package var authorization: BluetoothAuthorization {
        look { app, _ in app.condition.authorization } ?? .notDetermined
    }

    /// Changes the permission as `App.setAuthorization` does.
    package func setAuthorization(_ new: BluetoothAuthorization) -> AppPermission.Change {
        look { app, _ in app.setAuthorization(new) } ?? .none
    }
}
