public import MynahCore
public import MynahLifecycle
import MynahSupport

/// Owns a radio, and shares it among managers and apps.
///
/// A phone with apps plays an iPhone; a phone with a manager and no app plays an accessory. It routes each
/// request to the manager that published the service. The phone, its apps and its managers run on the radio's
/// executor, so that a request needs no thread switch.
///
/// When the last reference to a phone is dropped, its radio closes at once. A phone keeps its `PhoneSink` and
/// the delegates of its apps and managers alive. If one of them refers to the phone, or to a manager without
/// an app, the phone stays on the air until `stop()`.
public actor Phone {
    /// The steps between the start and the stop of the radio.
    private enum Stage {
        case stopped
        case starting
        /// `stop()` was called while the radio was starting: `start()` stops it again and throws.
        case abandoned
        case running(RadioCapabilities)
        /// `stop()` is being carried out.
        case stopping
    }

    let radio: any PeripheralRadio
    let identity: DeviceIdentity
    let reports: PhoneReports
    let files: PhoneFiles
    /// The state that the parts of the phone share.
    let memory: PhoneMemory
    private var stage = Stage.stopped { didSet { memory.capabilities = capabilities } }
    let services: ServiceRegistry
    nonisolated let queue = WorkQueue<Phone>()
    let advertiser: PhoneAdvertiser
    let meter: PhoneMeter
    private let ports: AppPorts
    /// The central role of the phone.
    let central: PhoneCentral

    /// The Bluetooth state.
    public var radioState: RadioState { memory.radioState }

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    /// The executor that the phone's tasks must prefer, or `nil` if they need no preference.
    package nonisolated var preferredExecutor: (any TaskExecutor)? { radio.preferredExecutor }

    /// Makes a phone on a radio that has not been started.
    ///
    /// - Parameters:
    ///   - radio: The radio, which only this phone uses.
    ///   - identity: The name, the appearance and the input and output capability of the device.
    ///   - advertising: How the phone advertises for its apps.
    ///   - stateDirectory: The directory for preserved state, or `nil` to keep it in memory only.
    ///   - seed: The seed for peripherals' identifiers, or `nil` for random ones.
    ///   - clock: The clock of the phone; each app also has its own clock.
    ///   - sink: Receives the events of the phone as a whole.
    public init(
        radio: any PeripheralRadio, identity: DeviceIdentity,
        advertising: PhoneAdvertising = PhoneAdvertising(), stateDirectory: StateDirectory? = nil,
        seed: UInt64? = nil, clock: some Clock<Duration> = ContinuousClock(), sink: (any PhoneSink)? = nil
    ) {
        let centralRole = (radio as? any ControllableRadio)?.centralRole ?? radio as? any CentralRadio
        let common = PhoneCommon(radio, identity, stateDirectory, sink)
        self.init(
            common, PhoneCentral(centralRole, common, seed: seed, clock: RunClock(clock)), advertising)
    }

    /// Makes a phone for a single central manager, on a radio that has only the central role.
    init(
        alone radio: any CentralRadio, identity: DeviceIdentity, options: CentralManager.Options,
        sink: (any CentralManagerSink)?
    ) {
        let common = PhoneCommon(CentralOnlyRadio(radio), identity, nil, nil)
        let central = PhoneCentral(alone: radio, common, options: options, sink: sink)
        self.init(common, central, PhoneAdvertising())
    }

    private init(
        _ common: PhoneCommon, _ central: PhoneCentral, _ advertising: PhoneAdvertising
    ) {
        let work = common.work
        (radio, identity, self.central) = (common.radio, common.identity, central)
        ports = AppPorts(common)
        (reports, files, memory, meter) = (common.reports, common.files, common.memory, common.meter)
        services = ServiceRegistry(common)
        advertiser = PhoneAdvertiser(advertising, common, beside: central.scanner)
        work.attach(to: self)
    }

    deinit { if case .running = stage { radio.close() } }

    /// The capabilities of the radio, or `nil` if it is not started.
    public var capabilities: RadioCapabilities? {
        if case .running(let capabilities) = stage { capabilities } else { nil }
    }

    /// Whether the radio runs.
    var isRunning: Bool { if case .running = stage { true } else { false } }

    /// The centrals that are connected now.
    public var connectedCentrals: [Central] { memory.centrals.all }

    // MARK: Start and stop

    /// Starts the radio, and publishes the preserved services of its apps.
    ///
    /// If `check` throws, the radio is stopped and the error is passed on. Throws `invalidState` if the phone
    /// is started already, or if `stop()` is called meanwhile.
    @discardableResult
    public func start(
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) -> RadioCapabilities {
        guard case .stopped = stage else {
            throw RadioError(.invalidState, "the phone has been started already")
        }
        stage = .starting
        let capabilities = try await startRadio(check)
        await services.republishAll(withOwn: capabilities.playsPhoneServices)
        guard isRunning else { throw Self.stoppedMeanwhile }
        advertiser.update()
        central.startSoon()
        return capabilities
    }

    private func startRadio(
        _ check: @Sendable (RadioCapabilities) throws(RadioError) -> Void
    ) async throws(RadioError) -> RadioCapabilities {
        let capabilities: RadioCapabilities
        do throws(RadioError) {
            capabilities = try await radio.start(identity, sink: PhoneLink(self))
        } catch {
            defer { stage = .stopped }
            if case .abandoned = stage { throw Self.stoppedMeanwhile }
            throw error
        }
        do throws(RadioError) {
            guard case .starting = stage else { throw Self.stoppedMeanwhile }
            try check(capabilities)
        } catch {
            await radio.stop()
            stage = .stopped
            memory.radioState = .unknown
            throw error
        }
        stage = .running(capabilities)
        return capabilities
    }

    private static var stoppedMeanwhile: RadioError {
        RadioError(.invalidState, "the phone was stopped while it started")
    }

    /// Stops the radio, and ends all managers and apps.
    ///
    /// With `forgetting`, the preserved state of the phone's apps is deleted.
    public func stop(forgetting: Bool = false) async {
        // From here on the radio takes services down by itself.
        PhoneControl.keepState(of: self)
        let preserved = files.close()
        if case .starting = stage { stage = .abandoned }
        if isRunning { stage = .stopping }
        await radio.stop()
        if case .stopping = stage { stage = .stopped }
        services.removeAll()
        if forgetting { preserved.forget(memory.apps.flatMap(\.preservedNames)) }
        central.stop()
        for app in memory.apps { app.stop() }
        for manager in memory.managers { manager.end() }
        (memory.apps, memory.managers) = ([], [])
        advertiser.reset()
        memory.centrals.removeAll()
        meter.update()
        await preserved.settle()
    }

    func changeCapabilities(_ new: RadioCapabilities) {
        if isRunning { stage = .running(new) }
    }

    // MARK: Handles

    /// Installs an app, which does not run until it is launched, for example by `enterForeground()`.
    ///
    /// The app stays installed when the last reference to it is dropped. `delegate` is its code, and `clock`
    /// measures its background time. With `isTerminated`, the app begins as if the system had terminated it
    /// before this process: its preserved services are published although it does not run.
    public func makeApp<C: Clock>(
        _ description: AppDescription, delegate: any AppDelegate, clock: C, isTerminated: Bool = false
    ) -> App where C.Duration == Duration {
        let app = AppProcess(
            number: memory.nextNumber(), description, delegate: delegate, clock: RunClock(clock),
            isTerminated: isTerminated, ports)
        memory.apps.append(app)
        app.installed()
        if isTerminated {
            // A phone that was restarted asks its devices for their attributes again.
            if !isRunning { central.devices.tables.forgetAll() }
            app.serveTerminated()
        }
        app.radioStateChanged(to: radioState)
        return app.makeHandle()
    }

    /// Makes the peripheral manager of an accessory, which keeps the phone alive.
    ///
    /// The manager's events go to `delegate`, or else to `events()`.
    public func makePeripheralManager(delegate: (any PeripheralManagerDelegate)? = nil) -> PeripheralManager {
        makePeripheralManager(sink: delegate.map { PeripheralManagerDelegateSink($0) })
    }

    /// Makes the peripheral manager of an accessory; its events go to `sink`, or else to `events()`.
    package func makePeripheralManager(sink: (any PeripheralSink)?) -> PeripheralManager {
        let manager = ManagerState(files, memory, sink: sink)
        memory.managers.append(manager)
        return manager.makeHandle(PhoneLink(self), radio, keeping: self)
    }

    /// Makes a central manager without an app, which keeps the phone alive.
    ///
    /// The manager counts as a separate app that is always in the foreground. Start the phone first, and then
    /// the manager with its `start()`. The manager's events go to `delegate`, or else to `events()`. Throws
    /// `unsupported` if the radio has no central role.
    public func makeCentralManager(
        options: CentralManager.Options = CentralManager.Options(),
        delegate: (any CentralManagerDelegate)? = nil
    ) throws(RadioError) -> CentralManager {
        try makeCentralManager(options: options, sink: delegate.map { CentralManagerDelegateSink($0) })
    }

    /// Makes a central manager without an app; its events go to `sink`, or else to `events()`.
    package func makeCentralManager(
        options: CentralManager.Options = CentralManager.Options(), sink: (any CentralManagerSink)?
    ) throws(RadioError) -> CentralManager {
        let (manager, radio) = try central.makeManager(options: options, sink: sink)
        return manager.makeHandle(PhoneLink(self), radio, keeping: self)
    }

    /// Turns Bluetooth off or on, as the user does.
    ///
    /// Throws `unsupported` with BlueZ, because other programs share its adapter.
    public func setPower(_ isOn: Bool) async throws(RadioError) { try await radio.setPower(isOn) }
    /// Opens the last alert, as the user does; that opens the alert's app, or Settings if Bluetooth is off.
    public func openAlert() {
        guard let (app, transition) = central.alerts.open() else { return }
        if let app = memory.app(app) { memory.apply(transition, to: app) }
    }
    /// Dismisses the last alert, as the user does.
    public func dismissAlert() { central.alerts.dismiss() }

    /// Starts to measure each app's use of the radio; returns `false` if the radio does not report its use.
    package func meterRadio() -> Bool { meter.start() }
    /// The use of the radio since the last report, or `nil` if it is not being measured.
    package func reportRadioUse() -> MeteredUse? { meter.report() }

    /// Disconnects a central.
    public func disconnect(_ central: Peer.ID) async { await radio.disconnect(central) }

    // MARK: Reports

    /// The address that a device last used on the air; `address` may be any of its known addresses.
    package func addressOnAir(of address: DeviceAddress) async -> DeviceAddress {
        await central.radio?.addressOnAir(of: address) ?? address
    }

    /// The name and address of a central.
    package func central(_ id: Peer.ID) -> Central { memory.centrals[id] }

    func warn(_ code: String, _ message: String) { reports.warn(code, message) }
}
