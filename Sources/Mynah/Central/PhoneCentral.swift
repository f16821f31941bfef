import MynahCore
import MynahLifecycle
import MynahSupport

/// The central role of a phone: its links to peripherals, its scan, and its central managers.
///
/// Routes each event of the radio's central role to the managers that it concerns. Belongs to a phone, and
/// runs on the phone's executor.
final class PhoneCentral {
    /// The steps of the start of the radio's central role.
    private enum Stage {
        case stopped
        case starting
        case running
    }

    /// The radio, or `nil` if it has no central role.
    let radio: (any CentralRadio)?
    /// The state that the objects of the central role share.
    let memory: CentralMemory
    let programs: CentralPrograms
    let devices: KnownDevices
    let connections: CentralConnections
    let preservation: CentralPreservation
    let scanner: PhoneScanner
    let connector: PhoneConnector
    let subscriptions: SubscriptionWriter
    let alerts: PhoneAlerts
    let consent: PairingConsent
    let events: ConnectionReporter
    let phone: PhoneMemory
    let work: PhoneWork
    private var stage = Stage.stopped
    private var starting = Waiters()

    /// Makes the central role of a phone, even for a radio that has no central role.
    init(_ radio: (any CentralRadio)?, _ common: PhoneCommon, seed: UInt64? = nil, clock: RunClock) {
        (self.radio, memory, phone, work) = (radio, common.central, common.memory, common.work)
        programs = CentralPrograms(memory, common.reports)
        devices = KnownDevices(radio, common, seed: seed)
        subscriptions = SubscriptionWriter(radio, work)
        preservation = CentralPreservation(common, devices, subscriptions)
        scanner = PhoneScanner(radio, common, programs, clock)
        connector = PhoneConnector(radio, common)
        alerts = PhoneAlerts(common, subscriptions)
        let names = PeripheralNames(radio, memory, devices, work)
        consent = PairingConsent(memory, common.reports)
        events = ConnectionReporter(common, devices)
        connections = CentralConnections(
            common, devices, preservation, subscriptions, connector, alerts, names, events, clock)
    }

    /// Makes the central role of a phone for one central manager that belongs to no app.
    ///
    /// The start of the phone then also starts the radio's central role.
    convenience init(
        alone radio: any CentralRadio, _ common: PhoneCommon, options: CentralManager.Options,
        sink: (any CentralManagerSink)?
    ) {
        self.init(radio, common, clock: .real)
        memory.managers = [CentralManagerState(number: 0, state: .unknown, options: options, sink: sink)]
        stage = .running
    }

    // MARK: Start and stop

    /// Starts the radio's central role, if it is not running.
    func start(as identity: DeviceIdentity) async throws(RadioError) {
        while case .starting = stage {
            await withCheckedContinuation { starting.add($0) }
        }
        guard case .stopped = stage else { return }
        guard let radio else {
            throw RadioError(.unsupported, "this radio does not support the central role")
        }
        guard phone.isRunning else { throw RadioError(.invalidState, "the phone has not been started") }
        devices.load()
        stage = .starting
        defer { starting.resumeAll() }
        do throws(RadioError) {
            try await radio.start(identity, central: work.link)
        } catch {
            if case .starting = stage { stage = .stopped }
            throw error
        }
        guard case .starting = stage else {
            throw RadioError(.invalidState, "the phone was stopped while its central half started")
        }
        stage = .running
    }

    /// Queues the start of the radio's central role, if an app has a central manager.
    func startSoon() {
        guard phone.isRunning, case .stopped = stage, memory.managers.contains(where: { $0.app != nil })
        else {
            return
        }
        work.start(.startCentral)
    }

    /// Stops the central role, because the phone and its radio stop.
    func stop() {
        (stage, memory.radioState) = (.stopped, .unknown)
        connector.stop()
        scanner.stop()
        for manager in memory.managers {
            for peripheral in manager.askedPeripherals { peripheral.note(.ended) }
            manager.end()
        }
        memory.managers = []
        alerts.stop()
        let error = RadioError(.lost, "the phone was stopped")
        subscriptions.stop(.failed(error))
        connections.stop(error)
    }

    // MARK: Managers

    func nextNumber() -> UInt64 { phone.nextNumber() }

    /// Makes a manager that belongs to no app, and returns it with the radio.
    func makeManager(
        options: CentralManager.Options, sink: (any CentralManagerSink)?
    ) throws(RadioError) -> (CentralManagerState, any CentralRadio) {
        guard let radio else {
            throw RadioError(.unsupported, "this radio does not support the central role")
        }
        devices.load()
        let manager = CentralManagerState(
            number: nextNumber(), state: memory.radioState, options: options, sink: sink)
        memory.managers.append(manager)
        return (manager, radio)
    }

    /// Keeps the scan and the connections of a manager whose process has ended.
    func processEnded(_ manager: CentralManagerState) {
        manager.end()
        let access = PeripheralAccess(work.link, of: CentralReference(manager))
        manager.renewPeripherals { $0.renewed(access) }
        manager.closeChannels(work)
        connections.endCalls(of: manager)
    }

    /// Ends a manager that its program has dropped, or whose app has ended and is not preserved.
    func end(_ manager: CentralManagerState) {
        manager.end()
        manager.stopScan()
        memory.managers.removeAll { $0 === manager }
        preservation.remove(manager)
        for peripheral in manager.askedPeripherals { peripheral.note(.ended) }
        connections.end(manager)
        scanner.update()
    }

    // MARK: The Bluetooth state

    /// Handles a change of the Bluetooth state.
    func stateChanged(to new: RadioState) {
        memory.radioState = new
        if new == .poweredOn { memory.loss = nil }
        if new != .poweredOn {
            devices.tables.forgetAll()
            connector.stop()
            for manager in memory.managers { manager.toldLinks = [] }
            connections.change { $0.powerLost(keepingFor: memory.keeps, into: &$1) }
            for manager in memory.managers where manager.app != nil {
                manager.powerLost(keepsScan: memory.keeps(manager.key))
            }
            preservation.save()
        }
        appChanged()
        for manager in memory.managers where manager.app == nil {
            _ = manager.deliver(.stateChanged(new))
        }
        for app in phone.apps { app.centralStateChanged(to: new) }
    }

    // MARK: Wanted advertising

    /// Handles a change of an app's state.
    func appChanged(_ app: AppProcess) {
        alerts.appChanged(app)
        appChanged()
    }

    /// Updates the scan and the pending connections after the state of an app or of Bluetooth changed.
    private func appChanged() {
        for manager in memory.managers { manager.changeScan(to: manager.scanMode(memory.radioState)) }
        listen()
    }

    /// Updates the devices to listen for, after a link or a pending connection began or ended, or the phone
    /// began or ended advertising.
    func listen() {
        perform(connector.listen(for: scanner.compose().listensFor))
        scanner.update()
    }

    /// Handles the beginning or the end of a link in the central or in the peripheral role.
    func linksChanged() {
        perform(connector.linksChanged())
        listen()
    }

    /// Carries out the actions of `PhoneConnector`.
    func perform(_ actions: [LinkInitiator.Action]) {
        for action in actions {
            switch action {
            case .initiate(let address, let number, let timeout):
                connector.connect(to: address, number, timeout: timeout)
            case .cancel(let number): connector.cancel(number)
            case .listenAnew: scanner.listenAnew()
            case .linksExhausted(let limit): programs.warn(.linksExhausted(limit))
            case .failed(let address, let error):
                let device = connector.device(at: address)
                connections.change { $0.failed(device, error, into: &$1) }
            }
        }
    }

    // MARK: Restored state

    /// Restores a manager that another process made, as `CentralPreservation.restore` describes.
    func restore(_ manager: CentralManagerState, _ state: PreservedCentralState) {
        let waited = preservation.restore(manager, state)
        connections.change { ledger, actions in
            for one in waited { ledger.restore(manager.key, to: one.address, one.options, into: &actions) }
        }
        scanner.update()
        startSoon()
    }

    /// Handles the GAP device name that was read from a link's device.
    func read(_ name: String, on link: Peer.ID) {
        for (manager, peripheral) in connections.names.read(name, on: link) {
            phone.pass(.nameUpdated(peripheral), to: manager)
        }
    }
}

extension RadioWarning {
    /// The warning that the controller is at its limit of connections.
    fileprivate static func linksExhausted(_ limit: Int) -> RadioWarning {
        RadioWarning(
            "linksExhausted",
            """
            the controller is at its limit of \(limit) connections; pending connections are made when one of \
            them ends
            """)
    }
}
