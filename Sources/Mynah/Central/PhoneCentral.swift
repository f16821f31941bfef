import MynahCore
import MynahLifecycle

/// The phone's other half: what its apps and programs do as centrals.
///
/// It is the radio's only central sink, and says which manager each event is for. It belongs to its phone, and runs on its
/// executor.
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
    private(set) var ledger = LinkLedger()
    /// What the ledger asked for and has not been carried out.
    private var actions: [LinkAction] = []
    private var isCarryingOut = false
    var known: KnownPeripherals
    var preservation = CentralPreservation()
    var links = CentralLinks()
    let scanner = PhoneScanner()
    let connector = PhoneConnector()
    let subscriptions = SubscriptionWriter()
    private(set) var waiters = ConnectionWaiters()
    var alerts = AlertPolicy()
    private var stage = Stage.stopped
    private var starting = Waiters()
    /// The Bluetooth state.
    private(set) var radioState = RadioState.unknown
    /// Why the radio is gone, while it is.
    var loss: RadioError?
    /// The clock of programs without an app.
    private let clock = AppClock(ContinuousClock())

    /// The half of a phone on a radio that may not play a central.
    init(_ radio: (any CentralRadio)?) {
        self.radio = radio
        managers = []
        known = KnownPeripherals(seed: .random(in: 0 ... .max))
    }

    /// The half of a phone that one central manager is alone on; the phone's start starts it too.
    init(
        alone radio: any CentralRadio, options: CentralManager.Options, sink: (any CentralManagerSink)?
    ) {
        self.radio = radio
        managers = [CentralManagerState(number: 0, state: .unknown, options: options, sink: sink)]
        known = KnownPeripherals(seed: .random(in: 0 ... .max))
        stage = .running
    }

    // MARK: Start and stop

    /// Starts the radio's central half, unless that was done before.
    func start(on phone: isolated Phone) async throws(RadioError) {
        while case .starting = stage {
            await withCheckedContinuation { starting.add($0) }
        }
        guard case .stopped = stage else { return }
        guard let radio else { throw RadioError(.unsupported, "this radio does not play a central") }
        guard phone.isRunning else { throw RadioError(.invalidState, "the phone has not been started") }
        loadKnownPeripherals(on: phone)
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
                phone.warn("centralNotStarted", "the radio does not play a central: \(error)")
            }
        }
    }

    /// The phone stopped, and its radio with it.
    func stop(on phone: isolated Phone) {
        stage = .stopped
        radioState = .unknown
        connector.stop()
        scanner.stop()
        for manager in managers {
            for peripheral in manager.asked.values { peripheral.take(.ended) }
            manager.end()
        }
        managers = []
        (ledger, actions, links, alerts) = (LinkLedger(), [], CentralLinks(), AlertPolicy())
        let error = RadioError(.lost, "the phone was stopped")
        subscriptions.stop(.failed(error))
        waiters.endAll(error)
    }

    // MARK: Managers

    /// Returns the manager of a handle, or `nil` if its app or the phone has ended.
    func manager(_ reference: CentralReference) -> CentralManagerState? {
        managers.first {
            $0.key.manager == reference.number && $0.epoch == reference.epoch && !$0.isEnded
        }
    }

    /// Returns the manager of a number, or `nil` if its app or the phone has ended.
    func manager(_ number: UInt64) -> CentralManagerState? {
        managers.first { $0.key.manager == number && !$0.isEnded }
    }

    private func manager(_ key: ManagerKey) -> CentralManagerState? {
        managers.first { $0.key == key }
    }

    /// Returns the manager of a handle if its program may act.
    func acting(_ reference: CentralReference) throws(RadioError) -> CentralManagerState {
        guard let manager = manager(reference) else { throw Self.managerIsGone }
        try manager.app?.checkRuns()
        return manager
    }

    static var managerIsGone: RadioError {
        RadioError(.invalidState, "the app of this central manager has ended, or its phone was stopped")
    }

    func add(_ manager: CentralManagerState) {
        managers.append(manager)
    }

    /// Makes a manager that is of no app.
    func makeManager(
        options: CentralManager.Options, sink: (any CentralManagerSink)?, on phone: isolated Phone
    ) throws(RadioError) -> CentralManager {
        guard let radio else { throw RadioError(.unsupported, "this radio does not play a central") }
        loadKnownPeripherals(on: phone)
        let manager = CentralManagerState(
            number: phone.nextNumber(), state: radioState, options: options, sink: sink)
        add(manager)
        return CentralManager(
            .init(number: manager.key.manager, epoch: manager.epoch), radio: radio, link: PhoneLink(phone),
            keeping: phone)
    }

    /// The process of a manager is gone, and the system works on for it.
    func processEnded(_ manager: CentralManagerState) {
        manager.end()
        waiters.end(manager.key, Self.managerIsGone)
    }

    /// What was kept of a manager while its process was gone.
    func restored(_ manager: CentralManagerState) -> RestoredCentralState {
        let devices = ledger.devices(of: manager.key)
        // What has just ended is what relaunches the app, and comes last.
        let ended = manager.asked.keys.filter { !devices.contains($0) }
        return RestoredCentralState(
            scanServices: manager.scan?.request.services, scanOptions: manager.scan?.options,
            peripherals: (devices + ended).compactMap { manager.asked[$0] })
    }

    /// A manager's program has let go of it, or its app has ended and the system keeps nothing of it.
    func end(_ manager: CentralManagerState, on phone: isolated Phone) {
        manager.end()
        manager.stopScan()
        managers.removeAll { $0 === manager }
        if let name = manager.preservedName { phone.deletePreserved(name) }
        for peripheral in manager.asked.values { peripheral.take(.ended) }
        waiters.end(manager.key, Self.managerIsGone)
        release(manager, ledger.devices(of: manager.key), on: phone) { $0.end(manager.key, into: &$1) }
        scanner.update(on: phone)
    }

    // MARK: Devices

    /// The peripheral of a manager at an address; the device is known from now on.
    func peripheral(
        at address: DeviceAddress, for manager: CentralManagerState, on phone: isolated Phone
    ) -> Peripheral? {
        let identifier = known.identifier(of: address) { ledger.concerns($0) }
        saveKnownPeripherals(on: phone)
        return peripheral(identifier, at: address, for: manager, on: phone)
    }

    func peripheral(
        _ identifier: PeripheralIdentifier, at address: DeviceAddress, for manager: CentralManagerState,
        on phone: isolated Phone
    ) -> Peripheral? {
        guard let radio else { return nil }
        return manager.peripheral(identifier) {
            Peripheral(
                identifier: identifier, address: address, radio: radio,
                access: PeripheralAccess(PhoneLink(phone), manager: manager.key.manager),
                pairsWhenAsked: manager.options.pairsWhenAsked)
        }
    }

    /// The devices of these identifiers that are known, for a manager (retrievePeripherals(withIdentifiers:)).
    func retrieve(
        _ identifiers: [PeripheralIdentifier], for manager: CentralManagerState, on phone: isolated Phone
    ) -> [Peripheral] {
        identifiers.compactMap { identifier in
            guard let entry = known.retrieve(identifier) else { return nil }
            let peripheral = peripheral(identifier, at: entry.address, for: manager, on: phone)
            if let name = entry.name { peripheral?.take(.named(name)) }
            return peripheral
        }
    }

    /// The address by which a peripheral's connections are kept: its identity address if that is known.
    func address(of peripheral: Peripheral) -> DeviceAddress {
        // One that was forgotten is known again by the address that it was found with.
        known.retrieve(peripheral.identifier)?.address ?? peripheral.address
    }

    /// The state of a manager's peripheral.
    func state(of peripheral: Peripheral, for manager: CentralManagerState) -> PeripheralState {
        ledger.state(of: address(of: peripheral), for: manager.key)
    }

    /// A device's name became known.
    func name(_ address: DeviceAddress, _ name: String, on phone: isolated Phone) {
        known.name(address, name)
        saveKnownPeripherals(on: phone)
    }

    // MARK: The ledger

    /// Lets the ledger take something and carries out what it asks for; what follows from that comes after it.
    func change(
        on phone: isolated Phone, _ body: (inout LinkLedger, inout [LinkAction]) -> Void
    ) {
        body(&ledger, &actions)
        // What follows is reported to programs, and has to be in place by then.
        preserve(on: phone)
        guard !isCarryingOut else { return }
        isCarryingOut = true
        defer { isCarryingOut = false }
        while !actions.isEmpty { carryOut(actions.removeFirst(), on: phone) }
    }

    /// Lets a manager give up connections: what it is subscribed to ends with the link, or is left to the others.
    func release(
        _ manager: CentralManagerState, _ addresses: [DeviceAddress], on phone: isolated Phone,
        _ body: (inout LinkLedger, inout [LinkAction]) -> Void
    ) {
        let held = addresses.compactMap { ledger.link(to: $0, of: manager.key) }
        change(on: phone, body)
        for link in held where !ledger.holders(of: link).isEmpty {
            subscriptions.release(link, by: manager.key, on: phone)
        }
    }

    private func carryOut(_ action: LinkAction, on phone: isolated Phone) {
        switch action {
        case .connecting: break
        case .connected(let key, let address, let link, let isLocal):
            connected(key, address, link, isLocal: isLocal, on: phone)
        case .failedToConnect(let key, let address, let error):
            released(key, address, .failure(error)) { manager, peripheral in
                deliver(.failedToConnect(peripheral, error), to: manager, on: phone)
            }
        case .disconnected(let key, let address, let end):
            disconnected(key, address, end, on: phone)
        case .forgotten(let key, let address):
            let error = loss ?? RadioError(.lost, "Bluetooth is \(radioState.rawValue)")
            released(key, address, .failure(error))
        case .endLink(let link):
            subscriptions.linkEnded(link, Self.disconnected, on: phone)
            PhoneLink(phone).enqueue { await $0.central.radio?.disconnect(link) }
        case .linkKept(let address, let apps):
            phone.report(.linkKept(address, by: names(apps, on: phone)))
        case .linkEnded(let address, let link):
            links[link] = nil
            phone.report(.linkEnded(address))
            linkEnded(link, to: address, on: phone)
            subscriptions.linkEnded(link, Self.disconnected, on: phone)
        case .waitForStart(let request, let delay):
            let clock = ledger.manager(of: request).flatMap(manager)?.app?.clock ?? clock
            _ = PhoneLink(phone).enqueue(at: clock.now.advanced(by: delay), on: clock) { phone in
                phone.central.change(on: phone) { $0.delayElapsed(request, into: &$1) }
            }
        case .wantedChanged: connector.update(on: phone)
        }
    }

    private static var disconnected: RequestError {
        .failed(RadioError(.disconnected, "the peripheral is not connected"))
    }

    private func connected(
        _ key: ManagerKey, _ address: DeviceAddress, _ link: Peer.ID, isLocal: Bool, on phone: isolated Phone
    ) {
        guard let manager = manager(key), let peripheral = manager.asked[address], let state = links[link]
        else { return }
        manager.connected(address)
        peripheral.take(.connected(state.peer, mtu: state.mtu))
        subscribeAgain(manager, to: peripheral, by: link, on: phone)
        deliver(.connected(peripheral, isLocal: isLocal), to: manager, on: phone)
        waiters.end(key, address, .success(()))
    }

    private func disconnected(
        _ key: ManagerKey, _ address: DeviceAddress, _ end: Disconnection, on phone: isolated Phone
    ) {
        let error = end.error ?? RadioError(.disconnected, "connecting to \(address) was cancelled")
        let report = { (manager: CentralManagerState, peripheral: Peripheral) in
            // With the radio gone an app's peripherals are disconnected without a callback.
            guard manager.app == nil || end.error?.code != .lost else { return }
            self.deliver(.disconnected(peripheral, end), to: manager, on: phone)
        }
        guard end.isReconnecting, let manager = manager(key), let peripheral = manager.asked[address] else {
            return released(key, address, .failure(error), report)
        }
        peripheral.take(.ended)
        preserve(manager, on: phone)
        report(manager, peripheral)
    }

    /// A manager neither holds nor waits for a device any more.
    private func released(
        _ key: ManagerKey, _ address: DeviceAddress, _ result: Result<Void, RadioError>,
        _ report: (CentralManagerState, Peripheral) -> Void = { _, _ in }
    ) {
        if let manager = manager(key), let peripheral = manager.asked[address] {
            peripheral.take(.ended)
            // An app that this relaunches is restored with the peripheral, and may ask for it again.
            report(manager, peripheral)
            if ledger.state(of: address, for: key) == .disconnected { manager.released(address) }
        }
        waiters.end(key, address, result)
    }

    // MARK: The Bluetooth state

    /// The Bluetooth state changed.
    func stateChanged(to new: RadioState, on phone: isolated Phone) {
        radioState = new
        if new == .poweredOn { loss = nil }
        if new != .poweredOn {
            connector.stop()
            links.parked.removeAll()
            for manager in managers { manager.toldLinks = [] }
            change(on: phone) { $0.powerLost(keepingFor: keeps, into: &$1) }
            for manager in managers where manager.app != nil {
                manager.powerLost(keepsScan: keeps(manager.key))
            }
            preserve(on: phone)
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

    /// The state of an app, or that of Bluetooth, changed: what is scanned and listened for may be something else.
    func appChanged(on phone: isolated Phone) {
        for manager in managers { manager.changeScan(to: manager.scanMode(radioState)) }
        scanner.update(on: phone)
        connector.update(on: phone)
    }

    // MARK: Addresses

    /// A link's device has turned out to have another address.
    func moved(_ link: Peer.ID, to new: DeviceAddress, on phone: isolated Phone) {
        guard let old = ledger.address(of: link), old != new else { return }
        change(on: phone) { ledger, actions in
            ledger.moved(link, to: new, into: &actions)
            guard ledger.address(of: link) == new else { return }
            known.moved(from: old, to: new)
            for manager in managers { manager.moved(from: old, to: new) }
            saveKnownPeripherals(on: phone)
        }
    }

    // MARK: Requests

    /// A manager asks for a connection.
    func connect(
        _ manager: CentralManagerState, to peripheral: Peripheral, _ options: ConnectOptions,
        on phone: isolated Phone
    ) {
        let address = address(of: peripheral)
        if ledger.state(of: address, for: manager.key) == .disconnected {
            manager.ask(for: peripheral, at: address)
        }
        change(on: phone) { $0.connect(manager.key, to: address, options, into: &$1) }
    }

    /// A manager cancels its connection, active or pending.
    func cancel(_ manager: CentralManagerState, _ peripheral: Peripheral, on phone: isolated Phone) {
        let address = address(of: peripheral)
        release(manager, [address], on: phone) { $0.cancel(manager.key, to: address, into: &$1) }
    }

    /// A manager asks for a connection and waits for it, no longer than the timeout.
    func connectAndWait(
        _ manager: CentralManagerState, to peripheral: Peripheral, timeout: Duration?,
        on phone: isolated Phone
    ) async throws(RadioError) {
        let address = address(of: peripheral)
        let before = ledger.state(of: address, for: manager.key)
        guard before != .connected else { return }
        let number = waiters.nextNumber()
        let link = PhoneLink(phone)
        let isOwn = before == .disconnected
        let alarm = timeout.map { timeout in
            link.enqueue(at: clock.now.advanced(by: timeout), on: clock) {
                $0.central.giveUp(
                    number, RadioError(.timedOut, "\(address) did not answer within \(timeout)"), on: $0)
            }
        }
        defer { alarm?.cancel() }
        try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters.add(
                    .init(
                        number: number, manager: manager.key, address: address, isOwn: isOwn,
                        continuation: continuation))
                connect(manager, to: peripheral, ConnectOptions(), on: phone)
            }
        } onCancel: {
            link.enqueue {
                $0.central.giveUp(
                    number, RadioError(.timedOut, "connecting to \(address) was cancelled"), on: $0)
            }
        }.get()
    }

    /// A call waits no longer, and no longer wants the connection that it asked for.
    private func giveUp(_ number: UInt64, _ error: RadioError, on phone: isolated Phone) {
        guard let waiter = waiters.take(number) else { return }
        if waiter.isOwn, let manager = manager(waiter.manager) {
            if ledger.state(of: waiter.address, for: waiter.manager) == .connecting {
                manager.released(waiter.address)
            }
            change(on: phone) { $0.withdraw(waiter.manager, from: waiter.address, into: &$1) }
        }
        waiter.continuation.resume(returning: .failure(error))
    }
}
