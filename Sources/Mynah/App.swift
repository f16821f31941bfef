public import MynahCore
public import MynahLifecycle

/// An app on a phone, with the life cycle of an iOS app.
///
/// `Phone.makeApp` makes one. The user, the system and the app's own code act on it by its methods. The app
/// runs on the executor of the phone's radio, and does not keep the phone alive. Its `AppDelegate` makes its
/// managers in `didFinishLaunching`.
public actor App {
    /// The app's name, rules and restore identifiers.
    public nonisolated let description: AppDescription
    /// Access to the app for code that already runs on its executor.
    package nonisolated let access: AppAccess
    private let radio: any PeripheralRadio

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    init(_ description: AppDescription, _ access: AppAccess, _ radio: any PeripheralRadio) {
        self.description = description
        self.access = access
        self.radio = radio
    }

    /// The state of the app; `notRunning` after its phone was stopped.
    public var state: AppState { access.look { app, _ in app.state } ?? .notRunning }
    /// Whether the app runs in the background because an event launched it or resumed it.
    public var isWoken: Bool { access.isWoken }
    /// Whether the app's code can run: it is in the foreground, or in the background and not suspended.
    public var isRunning: Bool { access.isRunning }
    /// The current mode in which the phone advertises for the app.
    public var advertisingMode: AdvertisingMode {
        access.look { app, _ in app.condition.advertisingMode } ?? .off
    }

    /// The user's permission for the app to use Bluetooth (after CBManager's class property `authorization`).
    public var authorization: BluetoothAuthorization { access.authorization }

    // MARK: Actions of the user and the system

    /// Carries out a transition of the user, the system or the app itself.
    package func carryOut(_ transition: AppTransition) {
        access.look { app, phone in phone.memory.apply(transition, to: app) }
    }
    /// The user opens the app, which launches it if it does not run.
    ///
    /// An app that is in the foreground enters the background first.
    public func enterForeground() { carryOut(.enterForeground) }
    /// The app leaves the foreground.
    public func enterBackground() { carryOut(.enterBackground) }
    /// The system suspends the app now, before its background time is over.
    public func suspend() { carryOut(.suspend) }
    /// The system terminates the app, in any state.
    public func terminate() { carryOut(.terminate) }
    /// The system terminates the app to free memory, if it is suspended.
    public func receiveMemoryPressure() { carryOut(.memoryPressure) }
    /// The app crashes.
    public func crash() { carryOut(.crash) }
    /// The user quits the app in the app switcher; after that only the user can launch it again.
    public func quit() { carryOut(.quit) }
    /// The user allows or denies the app to use Bluetooth, or the phone's restrictions forbid it.
    ///
    /// The app's first manager makes the system ask the user. This call answers that question, and changes
    /// the state of the app's managers. It does nothing before the question. To change an earlier answer, the
    /// system terminates the app, as iOS does for a change in Settings.
    public func setAuthorization(_ new: BluetoothAuthorization) { _ = access.setAuthorization(new) }

    // MARK: Actions of the app's code

    /// Makes a peripheral manager.
    ///
    /// The manager's events go to `delegate`, or else to `events()`. With a restore identifier the system
    /// preserves the manager's state, and restores it to the manager that the next launch makes with that
    /// identifier.
    ///
    /// Throws `invalidState` if the app does not run, or if another manager of the app has the identifier.
    public func makePeripheralManager(
        restoreIdentifier: String? = nil, delegate: (any PeripheralManagerDelegate)? = nil
    ) throws(RadioError) -> PeripheralManager {
        try access.makePeripheralManager(
            restoreIdentifier: restoreIdentifier, sink: delegate.map { PeripheralManagerDelegateSink($0) })
    }

    /// Makes a peripheral manager whose events go to `sink`.
    package func makePeripheralManager(
        restoreIdentifier: String? = nil, sink: any PeripheralSink
    ) throws(RadioError) -> PeripheralManager {
        try access.makePeripheralManager(restoreIdentifier: restoreIdentifier, sink: sink)
    }

    /// Makes a central manager.
    ///
    /// The manager's events go to `delegate`, or else to `events()`. With a restore identifier the system
    /// preserves the manager's state, and restores it to the manager that the next launch makes with that
    /// identifier.
    ///
    /// Throws `invalidState` if the app does not run, or if another manager of the app has the identifier,
    /// and `unsupported` if the radio has no central role.
    public func makeCentralManager(
        restoreIdentifier: String? = nil, options: CentralManager.Options = CentralManager.Options(),
        delegate: (any CentralManagerDelegate)? = nil
    ) throws(RadioError) -> CentralManager {
        try access.makeCentralManager(
            restoreIdentifier: restoreIdentifier, options: options,
            sink: delegate.map { CentralManagerDelegateSink($0) })
    }

    /// Makes a central manager whose events go to `sink`.
    package func makeCentralManager(
        restoreIdentifier: String? = nil, options: CentralManager.Options = CentralManager.Options(),
        sink: any CentralManagerSink
    ) throws(RadioError) -> CentralManager {
        try access.makeCentralManager(restoreIdentifier: restoreIdentifier, options: options, sink: sink)
    }

    /// The app begins work that keeps it from being suspended (after beginBackgroundTask).
    ///
    /// A request that the app answers later counts as work even without this call.
    public func beginWork() { handle(.workBegan) }
    /// The app ended the work of one `beginWork()` (after endBackgroundTask).
    public func endWork() { handle(.workEnded) }

    /// Waits until the app is not suspended, and returns when it runs or has ended.
    package func waitWhileSuspended() async {
        // The call does not keep the phone alive; a phone that stops resumes it.
        while access.look({ app, _ in app.isSuspended }) ?? false {
            await withCheckedContinuation { continuation in
                let isWaiting: Void? = access.look { app, _ in app.wait(continuation) }
                if isWaiting == nil { continuation.resume() }
            }
        }
    }

    private func handle(_ event: AppEvent) {
        _ = access.look { app, _ in app.handle(event) }
    }
}
