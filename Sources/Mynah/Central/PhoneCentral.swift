import MynahCore
import MynahLifecycle
import MynahSupport

/// The phone's other half: what its apps and programs do as centrals.
///
/// The radio has no other central sink; this one says which manager each event is for. Belongs to a phone,
/// and runs on the phone's executor.
final class PhoneCentral {
    /// How far the radio's central half is.
    private enum Stage {
        case stopped
        case starting
        case running
    }

    /// The radio, or `nil` if it plays peripherals alone.
    let radio: (any CentralRadio)?
    /// The knowledge that the parts of this half share.
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
    private let work: PhoneWork
    private var stage = Stage.stopped
    private var starting = Waiters()

    /// The half of a phone on a radio that may not play a central.
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

    /// The half of a phone that one central manager is alone on; the phone's start starts it too.
    convenience init(
        alone radio: any CentralRadio, _ common: PhoneCommon, options: CentralManager.Options,
        sink: (any CentralManagerSink)?
    ) {
        self.init(radio, common, clock: .real)
        memory.managers = [CentralManagerState(number: 0, state: .unknown, options: options, sink: sink)]
        stage = .running
    }

    // MARK: Start and stop

    /// Starts the radio's central half, unless that was done before.
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

    /// Starts the radio's central half soon: an app has made a central manager.
    func startSoon() {
        guard phone.isRunning, case .stopped = stage, memory.managers.contains(where: { $0.app != nil })
        else {
            return
        }
        work.start(.startCentral)
    }

    /// The phone stopped, and its radio with it.
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

    /// Makes a manager without an app, on the radio that it is for.
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

    /// The process of a manager is gone, and the system works on for it.
    func processEnded(_ manager: CentralManagerState) {
        manager.end()
        let access = PeripheralAccess(work.link, of: CentralReference(manager))
        manager.renewPeripherals { $0.renewed(access) }
        manager.closeChannels(work)
        connections.endCalls(of: manager)
    }

    /// A manager's program has let go of it, or its app has ended and the system keeps nothing of it.
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

    /// The Bluetooth state changed.
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

    /// The state of an app changed.
    func appChanged(_ app: AppProcess) {
        alerts.appChanged(app)
        appChanged()
    }

    /// The state of an app, or that of Bluetooth, changed: what is scanned and listened for may be something
    /// else.
    private func appChanged() {
        for manager in memory.managers { manager.changeScan(to: manager.scanMode(memory.radioState)) }
        listen()
    }

    /// A link or a pending connection, began or ended, or the phone began or ceased to advertise.
    func listen() {
        perform(connector.listen(for: scanner.compose().listensFor))
        scanner.update()
    }

    /// A link of either role began or ended.
    func linksChanged() {
        perform(connector.linksChanged())
        listen()
    }

    /// Does what the connector asks for.
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

    /// The system works on for a manager of another process, as `CentralPreservation.restore` says.
    func restore(_ manager: CentralManagerState, _ state: PreservedCentralState) {
        let waited = preservation.restore(manager, state)
        connections.change { ledger, actions in
            for one in waited { ledger.restore(manager.key, to: one.address, one.options, into: &actions) }
        }
        scanner.update()
        startSoon()
    }

    /// The name of a link's device was read.
    func read(_ name: String, on link: Peer.ID) {
        for (manager, peripheral) in connections.names.read(name, on: link) {
            manager.pass(.nameUpdated(peripheral))
        }
    }
}

extension RadioWarning {
    /// The controller has as many connections as it can.
    fileprivate static func linksExhausted(_ limit: Int) -> RadioWarning {
        RadioWarning(
            "linksExhausted",
            """
            the controller is at its limit of \(limit) connections; pending connections are made when one of \
            them ends
            """)
    }
}
