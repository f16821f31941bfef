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
    let names: DeviceNames
    let consent: PairingConsent
    private let work: PhoneWork
    private var stage = Stage.stopped
    private var starting = Waiters()

    /// The half of a phone on a radio that may not play a central.
    init(_ radio: (any CentralRadio)?, _ common: PhoneCommon, seed: UInt64? = nil, clock: RunClock) {
        (self.radio, memory, work) = (radio, common.central, common.work)
        programs = CentralPrograms(memory, common.reports)
        devices = KnownDevices(radio, common, seed: seed)
        subscriptions = SubscriptionWriter(radio, work)
        preservation = CentralPreservation(common, devices, subscriptions)
        connections = CentralConnections(common, devices, preservation, subscriptions, clock)
        scanner = PhoneScanner(radio, common, programs, clock)
        connector = PhoneConnector(radio, common)
        alerts = PhoneAlerts(common, subscriptions)
        names = DeviceNames(radio, memory, devices, work)
        consent = PairingConsent(memory, common.reports)
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
    func start(on phone: isolated Phone) async throws(RadioError) {
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
            try await radio.start(phone.identity, central: PhoneLink(phone))
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
    func startSoon(on phone: isolated Phone) {
        guard phone.isRunning, case .stopped = stage, memory.managers.contains(where: { $0.app != nil })
        else {
            return
        }
        PhoneLink(phone).enqueue { phone in
            do throws(RadioError) {
                try await phone.central.start(on: phone)
            } catch {
                phone.warn("centralNotStarted", "the central role cannot be started: \(error)")
            }
        }
    }

    /// The phone stopped, and its radio with it.
    func stop(on phone: isolated Phone) {
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

    /// Makes a manager without an app.
    func makeManager(
        options: CentralManager.Options, sink: (any CentralManagerSink)?, on phone: isolated Phone
    ) throws(RadioError) -> CentralManager {
        guard let radio else {
            throw RadioError(.unsupported, "this radio does not support the central role")
        }
        devices.load()
        let manager = CentralManagerState(
            number: phone.memory.nextNumber(), state: memory.radioState, options: options, sink: sink)
        memory.managers.append(manager)
        return CentralManager(manager, radio: radio, on: phone, keepingPhone: true)
    }

    /// The process of a manager is gone, and the system works on for it.
    func processEnded(_ manager: CentralManagerState, on phone: isolated Phone) {
        manager.end()
        let access = PeripheralAccess(work.link, of: CentralReference(manager))
        manager.renewPeripherals { $0.renewed(access) }
        manager.closeChannels(work)
        connections.endCalls(of: manager)
    }

    /// A manager's program has let go of it, or its app has ended and the system keeps nothing of it.
    func end(_ manager: CentralManagerState, on phone: isolated Phone) {
        manager.end()
        manager.stopScan()
        memory.managers.removeAll { $0 === manager }
        if let name = manager.preservedName { phone.files.remove(name) }
        for peripheral in manager.askedPeripherals { peripheral.note(.ended) }
        connections.end(manager, on: phone)
        scanner.update()
    }

    // MARK: The Bluetooth state

    /// The Bluetooth state changed.
    func stateChanged(to new: RadioState, on phone: isolated Phone) {
        memory.radioState = new
        if new == .poweredOn { memory.loss = nil }
        if new != .poweredOn {
            devices.tables.forgetAll()
            connector.stop()
            for manager in memory.managers { manager.toldLinks = [] }
            connections.change(on: phone) { $0.powerLost(keepingFor: memory.keeps, into: &$1) }
            for manager in memory.managers where manager.app != nil {
                manager.powerLost(keepsScan: memory.keeps(manager.key))
            }
            preservation.save()
        }
        appChanged(on: phone)
        for manager in memory.managers where manager.app == nil {
            deliver(.stateChanged(new), to: manager, on: phone)
        }
        for app in phone.memory.apps { app.centralStateChanged(to: new, on: phone) }
    }

    // MARK: Wanted advertising

    /// The state of an app changed.
    func appChanged(_ app: AppProcess, on phone: isolated Phone) {
        alerts.appChanged(app)
        appChanged(on: phone)
    }

    /// The state of an app, or that of Bluetooth, changed: what is scanned and listened for may be something
    /// else.
    private func appChanged(on phone: isolated Phone) {
        for manager in memory.managers { manager.changeScan(to: manager.scanMode(memory.radioState)) }
        listen(on: phone)
    }

    /// A link or a pending connection, began or ended, or the phone began or ceased to advertise.
    func listen(on phone: isolated Phone) {
        perform(connector.listen(for: scanner.compose().listensFor), on: phone)
        scanner.update()
    }

    /// A link of either role began or ended.
    func linksChanged(on phone: isolated Phone) {
        perform(connector.linksChanged(), on: phone)
        listen(on: phone)
    }

    /// Does what the connector asks for.
    func perform(_ actions: [LinkInitiator.Action], on phone: isolated Phone) {
        for action in actions {
            switch action {
            case .initiate(let address, let number, let timeout):
                connector.connect(to: address, number, timeout: timeout)
            case .cancel(let number): connector.cancel(number)
            case .listenAnew: scanner.listenAnew()
            case .linksExhausted(let limit): programs.warn(.linksExhausted(limit))
            case .failed(let address, let error):
                let device = connector.device(at: address)
                connections.change(on: phone) { $0.failed(device, error, into: &$1) }
            }
        }
    }

    // MARK: Restored state

    /// The system works on for a manager of another process, as `CentralPreservation.restore` says.
    func restore(_ manager: CentralManagerState, _ state: PreservedCentralState, on phone: isolated Phone) {
        let waited = preservation.restore(manager, state)
        connections.change(on: phone) { ledger, actions in
            for one in waited { ledger.restore(manager.key, to: one.address, one.options, into: &actions) }
        }
        scanner.update()
        startSoon(on: phone)
    }

    /// The name of a link's device was read.
    func read(_ name: String, on link: Peer.ID, on phone: isolated Phone) {
        for (manager, peripheral) in names.read(name, on: link) {
            deliver(.nameUpdated(peripheral), to: manager, on: phone)
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
