public import MynahCore
public import MynahLifecycle
import MynahSupport

/// Owns a radio, and makes peripheral managers and apps.
///
/// It routes requests to managers by service and keeps what is known of each central. A lone accessory is a phone with one
/// manager. The phone and its managers run on the radio's executor, so that a request costs no hop between threads.
///
/// A phone whose last reference goes closes its radio at once, and is off the air. It keeps its sinks and delegates alive:
/// a sink that holds its phone, or an accessory's manager, has to let go of it, or the phone stays until `stop()`.
public actor Phone {
    let radio: any PeripheralRadio
    let identity: DeviceIdentity
    private let sink: (any PhoneSink)?
    private var preserved: PreservedStates
    /// What the running radio can do, or `nil` if it does not run.
    private(set) var running: RadioCapabilities?
    /// Accessories' managers, and those of apps, with the ones whose process is gone.
    private(set) var managers: [ManagerState] = []
    private(set) var apps: [AppProcess] = []
    let services = ServiceRegistry()
    var centrals = CentralTable()
    let advertiser: PhoneAdvertiser
    /// The number of the last manager or app.
    private var lastNumber: UInt64 = 0

    /// The Bluetooth state.
    public internal(set) var radioState = RadioState.unknown

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    /// A phone on a radio that has not been started; `sink` hears what concerns all of it.
    ///
    /// `advertising` says how it advertises for its apps, and `stateDirectory` is where it keeps their managers' state beyond
    /// this process.
    public init(
        radio: any PeripheralRadio, identity: DeviceIdentity,
        advertising: PhoneAdvertising = PhoneAdvertising(),
        stateDirectory: StateDirectory? = nil, sink: (any PhoneSink)? = nil
    ) {
        self.radio = radio
        self.identity = identity
        self.sink = sink
        preserved = PreservedStates(stateDirectory)
        advertiser = PhoneAdvertiser(advertising)
    }

    deinit {
        if running != nil { radio.close() }
    }

    /// What the radio can do; `nil` until it has been started.
    public var capabilities: RadioCapabilities? { running }

    /// The centrals that are connected now.
    public var connectedCentrals: [Central] { centrals.all }

    // MARK: Start and stop

    /// Starts the radio, and publishes the services that its apps preserved.
    ///
    /// `check` may refuse the radio's capabilities: the radio is stopped before its error is thrown.
    @discardableResult
    public func start(
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) -> RadioCapabilities {
        guard running == nil else {
            throw RadioError(.invalidState, "the phone has been started already")
        }
        let capabilities = try await radio.start(identity, sink: PhoneLink(self))
        running = capabilities
        do throws(RadioError) {
            try check(capabilities)
        } catch {
            await radio.stop()
            running = nil
            radioState = .unknown
            throw error
        }
        for app in apps { await services.republish(app, on: self) }
        advertiser.update(on: self)
        return capabilities
    }

    /// Withdraws everything that is published and advertised, and stops the radio.
    ///
    /// `forgetting`: what its apps' managers preserved is deleted.
    public func stop(forgetting: Bool = false) async {
        // From here on the radio takes services down by itself: preserved state is not to change.
        let preserved = preserved
        self.preserved = PreservedStates(nil)
        await radio.stop()
        running = nil
        services.removeAll()
        if forgetting {
            let identifiers =
                apps.flatMap { $0.description.restoreIdentifiers } + managers.compactMap(\.restoreIdentifier)
            for identifier in Set(identifiers) { preserved.remove(identifier) }
        }
        for app in apps { app.stop() }
        for manager in managers { manager.end() }
        apps = []
        managers = []
        advertiser.reset()
        centrals.removeAll()
        await preserved.settle()
    }

    func changeCapabilities(_ new: RadioCapabilities) {
        if running != nil { running = new }
    }

    // MARK: Handles

    /// Makes an app, which runs from its first launch on; `delegate` is its code.
    ///
    /// The app is the phone's: it stays installed when the last reference to it goes.
    public func makeApp<C: Clock>(
        _ description: AppDescription, delegate: any AppDelegate, clock: C
    ) -> App where C.Duration == Duration {
        let app = AppProcess(
            number: nextNumber(), description, delegate: delegate, clock: AppClock(clock))
        apps.append(app)
        app.radioStateChanged(to: radioState, on: self)
        return App(app, on: self)
    }

    /// Makes an accessory's manager; `sink` hears its events synchronously, otherwise they come through its event sequence.
    ///
    /// The services and the advertising of a manager end with the last reference to it.
    public func makePeripheralManager(sink: (any PeripheralSink)? = nil) -> PeripheralManager {
        let manager = ManagerState(number: nextNumber(), state: radioState, sink: sink)
        managers.append(manager)
        return PeripheralManager(manager, on: self)
    }

    /// Makes a manager for the central's role on the same radio; it is started by itself, after the phone.
    ///
    /// Throws `unsupported` if the radio plays peripherals alone.
    public func makeCentralManager(
        options: CentralManager.Options = CentralManager.Options(), sink: (any CentralManagerSink)? = nil
    ) throws(RadioError) -> CentralManager {
        guard let radio = radio as? any CentralRadio else {
            throw RadioError(.unsupported, "this radio does not play a central")
        }
        return CentralManager(
            radio: radio, identity: identity, options: options, sink: sink, sharesRadio: true)
    }

    /// Ends a central's link.
    public func disconnect(_ central: Peer.ID) async {
        await radio.disconnect(central)
    }

    /// Returns an app, or `nil` if the phone was stopped.
    func app(_ number: UInt64) -> AppProcess? {
        apps.first { $0.number == number }
    }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    func add(_ manager: ManagerState) {
        managers.append(manager)
    }

    /// Forgets a manager that has nothing on the radio.
    func forget(_ manager: ManagerState) {
        managers.removeAll { $0 === manager }
        advertiser.remove(manager)
    }

    // MARK: Preserved state

    func load(_ restoreIdentifier: String) -> PreservedState? {
        let (state, warning) = preserved.load(restoreIdentifier)
        if let warning { warn("preservedStateUnusable", warning) }
        return state
    }

    /// Saves a state soon, and returns `false` if nothing is kept.
    ///
    /// A problem is reported once for as long as the reason is the same.
    func save(_ state: PreservedState) -> Bool {
        preserved.save(state) { [weak self] message in
            Task { await self?.warn("stateNotKept", message) }
        }
    }

    func deletePreserved(_ restoreIdentifier: String) {
        preserved.remove(restoreIdentifier)
    }

    // MARK: Reports

    /// What is known of a central.
    package func central(_ id: Peer.ID) -> Central {
        centrals[id]
    }

    func tell(_ event: PhoneEvent) {
        _ = sink?.handle(event)
    }

    /// Asks the program that runs the device; returns `.none` if nobody listens.
    func ask(_ event: PhoneEvent) -> RadioAnswer {
        sink?.handle(event) ?? .none
    }

    func warn(_ code: String, _ message: String) {
        tell(.warning(RadioWarning(code, message)))
    }
}
