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
    /// The managers of programs and of apps, with those whose process is gone and that the system works for.
    private(set) var managers: [CentralManagerState]
    let devices: KnownDevices
    let connections: CentralConnections
    let preservation = CentralPreservation()
    let scanner: PhoneScanner
    let connector = PhoneConnector()
    let subscriptions = SubscriptionWriter()
    let alerts = PhoneAlerts()
    private var stage = Stage.stopped
    private var starting = Waiters()
    /// The Bluetooth state.
    private(set) var radioState = RadioState.unknown
    /// Why the radio is gone, while it is.
    private var loss: RadioError?

    /// The half of a phone on a radio that may not play a central.
    init(_ radio: (any CentralRadio)?, seed: UInt64?, clock: RunClock) {
        connections = CentralConnections(clock)
        scanner = PhoneScanner(clock)
        self.radio = radio
        devices = KnownDevices(radio, seed: seed)
        managers = []
    }

    /// The half of a phone that one central manager is alone on; the phone's start starts it too.
    init(
        alone radio: any CentralRadio, options: CentralManager.Options, sink: (any CentralManagerSink)?
    ) {
        connections = CentralConnections(.real)
        scanner = PhoneScanner(.real)
        self.radio = radio
        devices = KnownDevices(radio)
        managers = [CentralManagerState(number: 0, state: .unknown, options: options, sink: sink)]
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
        devices.load(on: phone)
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
        guard phone.isRunning, case .stopped = stage, managers.contains(where: { $0.app != nil }) else {
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
        (stage, radioState) = (.stopped, .unknown)
        connector.stop()
        scanner.stop()
        for manager in managers {
            for peripheral in manager.askedPeripherals { peripheral.note(.ended) }
            manager.end()
        }
        managers = []
        alerts.stop()
        let error = RadioError(.lost, "the phone was stopped")
        subscriptions.stop(.failed(error))
        connections.stop(error)
    }

    // MARK: Managers

    /// Returns the manager of a handle, or `nil` if its app or the phone has ended.
    func manager(_ reference: CentralReference) -> CentralManagerState? {
        managers.first {
            $0.key.manager == reference.number && $0.epoch == reference.epoch && !$0.isEnded
        }
    }

    /// Returns a manager, also one whose app has ended and that the system works for.
    func manager(_ key: ManagerKey) -> CentralManagerState? {
        managers.first { $0.key == key }
    }

    /// Returns the manager of a handle if its program may act.
    func acting(_ reference: CentralReference) throws(RadioError) -> CentralManagerState {
        guard let manager = manager(reference) else { throw Self.managerIsGone }
        try manager.app?.checkMayActAsCentral()
        return manager
    }

    static var managerIsGone: RadioError {
        RadioError(.invalidState, "the app of this central manager has ended, or its phone was stopped")
    }

    func add(_ manager: CentralManagerState) {
        managers.append(manager)
    }

    /// Makes a manager without an app.
    func makeManager(
        options: CentralManager.Options, sink: (any CentralManagerSink)?, on phone: isolated Phone
    ) throws(RadioError) -> CentralManager {
        guard let radio else {
            throw RadioError(.unsupported, "this radio does not support the central role")
        }
        devices.load(on: phone)
        let manager = CentralManagerState(
            number: phone.nextNumber(), state: radioState, options: options, sink: sink)
        add(manager)
        return CentralManager(manager, radio: radio, on: phone, keepingPhone: true)
    }

    /// The process of a manager is gone, and the system works on for it.
    func processEnded(_ manager: CentralManagerState, on phone: isolated Phone) {
        manager.end()
        let access = PeripheralAccess(PhoneLink(phone), of: CentralReference(manager))
        manager.renewPeripherals { $0.renewed(access) }
        manager.closeChannels(of: phone)
        connections.endCalls(of: manager)
    }

    /// A manager's program has let go of it, or its app has ended and the system keeps nothing of it.
    func end(_ manager: CentralManagerState, on phone: isolated Phone) {
        manager.end()
        manager.stopScan()
        managers.removeAll { $0 === manager }
        if let name = manager.preservedName { phone.deletePreserved(name) }
        for peripheral in manager.askedPeripherals { peripheral.note(.ended) }
        connections.end(manager, on: phone)
        scanner.update(on: phone)
    }

    // MARK: The Bluetooth state

    /// The radio is gone, and says why.
    func lost(_ error: RadioError) {
        loss = error
    }

    /// Why nothing can be asked of the radio while Bluetooth is not powered on.
    var powerError: RadioError { loss ?? RadioError(.lost, "Bluetooth is \(radioState.rawValue)") }

    /// Throws `invalidState` unless Bluetooth is powered on.
    func checkPower() throws(RadioError) {
        guard radioState == .poweredOn else {
            throw loss
                ?? RadioError(
                    .invalidState, "Bluetooth is not powered on: it is \(radioState.rawValue)",
                    remedy: "wait for stateChanged(.poweredOn)")
        }
    }

    /// The Bluetooth state changed.
    func stateChanged(to new: RadioState, on phone: isolated Phone) {
        radioState = new
        if new == .poweredOn { loss = nil }
        if new != .poweredOn {
            devices.tables.forgetAll(on: phone)
            connector.stop()
            for manager in managers { manager.toldLinks = [] }
            connections.change(on: phone) { $0.powerLost(keepingFor: keeps, into: &$1) }
            for manager in managers where manager.app != nil {
                manager.powerLost(keepsScan: keeps(manager.key))
            }
            preservation.save(on: phone)
        }
        appChanged(on: phone)
        for manager in managers where manager.app == nil {
            deliver(.stateChanged(new), to: manager, on: phone)
        }
        for app in phone.apps { app.centralStateChanged(to: new, on: phone) }
    }

    /// Whether the system works for a manager whose process is gone.
    func keeps(_ key: ManagerKey) -> Bool {
        manager(key).map { $0.isEnded && $0.restoreIdentifier != nil } ?? false
    }

    // MARK: Wanted advertising

    /// The state of an app changed.
    func appChanged(_ app: AppProcess, on phone: isolated Phone) {
        alerts.appChanged(app, on: phone)
        appChanged(on: phone)
    }

    /// The state of an app, or that of Bluetooth, changed: what is scanned and listened for may be something
    /// else.
    private func appChanged(on phone: isolated Phone) {
        for manager in managers { manager.changeScan(to: manager.scanMode(radioState)) }
        listen(on: phone)
    }

    /// A link or a pending connection, began or ended, or the phone began or ceased to advertise.
    func listen(on phone: isolated Phone) {
        connector.listen(for: scanner.compose(on: phone).listensFor, on: phone)
        scanner.update(on: phone)
    }

    /// A link of either role began or ended.
    func linksChanged(on phone: isolated Phone) {
        connector.linksChanged(on: phone)
        listen(on: phone)
    }
}
