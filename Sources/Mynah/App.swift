public import MynahCore
public import MynahLifecycle

/// An iOS app on a phone, as its user, the system and its own code see it.
///
/// A handle that a `Phone` makes, whose radio's executor it runs on; it does not keep its phone alive.
/// Managers are made in the delegate's `didFinishLaunching`.
public actor App {
    /// What it is.
    public nonisolated let description: AppDescription
    /// The app for code that runs on its executor already.
    package nonisolated let access: AppAccess
    private let radio: any PeripheralRadio

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    init(_ app: AppProcess, on phone: isolated Phone) {
        description = app.description
        access = AppAccess(app, on: phone)
        radio = phone.radio
    }

    /// Where it is in its life; `notRunning` after its phone was stopped.
    public var state: AppState { access.look { app, _ in app.state } ?? .notRunning }
    /// Whether it runs because an event woke it.
    public var isWoken: Bool { access.isWoken }
    /// Whether its code runs.
    public var isRunning: Bool { access.isRunning }
    /// How what it advertises goes on the air now.
    public var advertisingMode: AdvertisingMode { access.look { app, _ in app.advertisingMode } ?? .off }
    /// Whether what is being delivered has waited while the app did not run: it may not hold any more.
    package var isDeliveringQueued: Bool { access.isDeliveringQueued }

    // MARK: What its user and the system do

    /// Does this to it.
    package func carryOut(_ transition: AppTransition) {
        access.look { app, phone in app.carryOut(transition, on: phone) }
    }
    /// The user opens it, or brings it back onto the screen, which sends the app that is there to the
    /// background first.
    public func enterForeground() { carryOut(.enterForeground) }
    /// It leaves the screen.
    public func enterBackground() { carryOut(.enterBackground) }
    /// The system suspends it now.
    public func suspend() { carryOut(.suspend) }
    /// The system ends it.
    public func terminate() { carryOut(.terminate) }
    /// The system needs memory: a suspended app ends.
    public func receiveMemoryPressure() { carryOut(.memoryPressure) }
    /// It ends by itself.
    public func crash() { carryOut(.crash) }
    /// The user ends it: nothing relaunches it but the user.
    public func quit() { carryOut(.quit) }

    // MARK: What its code does

    /// Makes a peripheral manager.
    ///
    /// Its events go to `sink` or to `delegate`, which it does not keep alive, or else to `events()`. A
    /// delegate beside a sink is not called. With a restore identifier the system preserves the manager's
    /// state, and restores it to the manager that the next launch makes with that identifier.
    ///
    /// Throws `invalidState` if the app does not run, or if another manager of it has the identifier.
    public func makePeripheralManager(
        restoreIdentifier: String? = nil, delegate: (any PeripheralManagerDelegate)? = nil,
        sink: (any PeripheralSink)? = nil
    ) throws(RadioError) -> PeripheralManager {
        try access.makePeripheralManager(
            restoreIdentifier: restoreIdentifier,
            sink: sink ?? delegate.map { PeripheralManagerDelegateSink($0) })
    }

    /// Makes a central manager.
    ///
    /// Its events go to `sink` or to the delegates, which it does not keep alive, or else to `events()`.
    /// Delegates beside a sink are not called. With a restore identifier the system preserves the manager's
    /// state, and restores it to the manager that the next launch makes with that identifier.
    ///
    /// Throws `invalidState` if the app does not run, or if another manager of it has the identifier, and
    /// `unsupported` if the radio has no central role.
    public func makeCentralManager(
        restoreIdentifier: String? = nil, options: CentralManager.Options = CentralManager.Options(),
        delegate: (any CentralManagerDelegate)? = nil, peripheralDelegate: (any PeripheralDelegate)? = nil,
        sink: (any CentralManagerSink)? = nil
    ) throws(RadioError) -> CentralManager {
        try access.makeCentralManager(
            restoreIdentifier: restoreIdentifier, options: options,
            sink: sink ?? CentralManagerDelegateSink(delegate, peripheralDelegate))
    }

    /// Something begins that takes time, as a request that is answered later does by itself.
    public func beginWork() { handle(.workBegan) }
    /// What `beginWork()` reported has ended.
    public func endWork() { handle(.workEnded) }
    /// The app does something that has nothing to do with why it was woken.
    package func noteExtraneousWork(on attribute: AttributeKey? = nil) {
        access.noteExtraneousWork(on: attribute)
    }

    /// Returns when the app runs, or has ended.
    func waitWhileSuspended() async {
        // The phone is not held meanwhile, and resumes when it goes.
        while access.look({ app, _ in app.isSuspended }) ?? false {
            await withCheckedContinuation { continuation in
                let isWaiting: Void? = access.look { app, _ in app.wait(continuation) }
                if isWaiting == nil { continuation.resume() }
            }
        }
    }

    private func handle(_ event: AppEvent) {
        access.look { app, phone in app.handle(event, on: phone) }
    }
}
