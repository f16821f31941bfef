import MynahCore
import MynahLifecycle
import MynahSupport

/// The condition of an app: its life cycle, its permission to use Bluetooth, and its accessories.
///
/// The app's managers read this object, and behave accordingly. Only the app's `AppProcess` changes it.
///
/// Belongs to a phone, and runs on the phone's executor.
final class AppCondition {
    /// The app's number, which is unique while the phone lives.
    let number: UInt64
    let description: AppDescription
    let clock: RunClock
    let accessories: AppAccessories
    var lifecycle: AppLifecycle<RunClock.Instant>
    var permission: AppPermission
    /// Whether the phone restarted and has not been unlocked since.
    var awaitsUnlock = false

    init(
        number: UInt64, _ description: AppDescription, clock: RunClock, isTerminated: Bool, _ ports: AppPorts
    ) {
        (self.number, self.description, self.clock) = (number, description, clock)
        permission = AppPermission(description.authorization)
        accessories = AppAccessories(of: description, ports)
        lifecycle =
            isTerminated ? AppLifecycle(terminated: description.rules) : AppLifecycle(description.rules)
    }

    // MARK: Life cycle

    var state: AppState { lifecycle.state }
    var rules: AppRules { lifecycle.rules }
    var isRunning: Bool { lifecycle.isRunning }
    var advertisingMode: AdvertisingMode { lifecycle.advertisingMode }
    /// Whether the radio serves the app's services, or refuses requests for them.
    var servingMode: ServingMode { lifecycle.disablesServices ? .disabled : .app }

    /// Throws `invalidState` unless the app runs.
    func checkRuns() throws(RadioError) {
        guard !lifecycle.isRunning else { return }
        throw RadioError(.invalidState, "the app \(description.name) is not running: it is \(state.rawValue)")
    }

    /// The reason for refusing a central's request that the app cannot receive.
    var refusalReason: RefusedRequest.Reason {
        switch state {
        case .suspended: .suspended
        case .foreground, .background: .background
        case .notRunning, .terminated, .quit: .notRunning
        }
    }

    // MARK: Permission

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
    /// An app that uses AccessorySetupKit and has no accessory sees Bluetooth as off. According to WWDC24,
    /// session 10203, the state is poweredOn when the app has an accessory. Without one, Punch Through
    /// observed poweredOff.
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
}
