import MynahCore
import MynahLifecycle
import MynahSupport

/// A phone's links to peripherals and the connections that its managers wait for.
///
/// Drives `LinkLedger`, which records the links and pending connections of each manager. Belongs to a phone,
/// and runs on the phone's executor.
final class CentralConnections {
    /// The actions of `LinkLedger` that have not been carried out yet.
    private var actions: [LinkAction] = []
    private var isCarryingOut = false
    private var waiters = ConnectionWaiters()
    /// The tasks that wait for a start delay, by the number of the connection request.
    private var delays = SortedMap<UInt64, Task<Void, Never>>()
    /// The clock for connections of managers that belong to no app.
    private let clock: RunClock
    private let memory: CentralMemory
    private let phone: PhoneMemory
    private let devices: KnownDevices
    private let preservation: CentralPreservation
    private let subscriptions: SubscriptionWriter
    private let meter: PhoneMeter
    private let work: PhoneWork
    private let connector: PhoneConnector
    private let alerts: PhoneAlerts
    let names: PeripheralNames
    private let events: ConnectionReporter

    init(
        _ common: PhoneCommon, _ devices: KnownDevices, _ preservation: CentralPreservation,
        _ subscriptions: SubscriptionWriter, _ connector: PhoneConnector, _ alerts: PhoneAlerts,
        _ names: PeripheralNames, _ events: ConnectionReporter, _ clock: RunClock
    ) {
        (self.connector, self.alerts, self.names, self.events) = (connector, alerts, names, events)
        phone = common.memory
        (memory, meter, work, self.clock) = (common.central, common.meter, common.work, clock)
        (self.devices, self.preservation, self.subscriptions) = (devices, preservation, subscriptions)
    }

    /// The state of a manager's peripheral.
    func state(of peripheral: Peripheral, for manager: CentralManagerState) -> PeripheralState {
        memory.ledger.state(of: devices.address(of: peripheral), for: manager.key)
    }

    // MARK: Requests of managers

    /// Requests a connection for a manager.
    func connect(
        _ manager: CentralManagerState, to peripheral: Peripheral, _ options: ConnectOptions
    ) {
        let address = devices.address(of: peripheral)
        if memory.ledger.state(of: address, for: manager.key) == .disconnected {
            manager.ask(for: peripheral, at: address)
        }
        change { $0.connect(manager.key, to: address, options, into: &$1) }
    }

    /// Cancels a manager's connection, active or pending.
    func cancel(_ manager: CentralManagerState, _ peripheral: Peripheral) {
        let address = devices.address(of: peripheral)
        release(manager, [address]) { $0.cancel(manager.key, to: address, into: &$1) }
    }

    /// Requests a connection for a manager, and waits until it is made or the timeout elapses.
    func connectAndWait(
        _ manager: CentralManagerState, to peripheral: Peripheral, timeout: Duration?,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RadioError) {
        let address = devices.address(of: peripheral)
        let before = memory.ledger.state(of: address, for: manager.key)
        guard before != .connected else { return }
        let number = waiters.nextNumber()
        let isOwn = before == .disconnected
        let alarm = timeout.map { timeout in
            let error = RadioError(.timedOut, "\(address) did not answer within \(timeout.text)")
            return work.tell(.timedOut(number, error), at: clock.now.advanced(by: timeout), on: clock)
        }
        defer { alarm?.cancel() }
        try await withTaskCancellationHandler {
            // Without an actor of its own the closure would leave the phone's executor.
            _ = isolation
            return await withCheckedContinuation { continuation in
                waiters.add(
                    .init(
                        number: number, manager: manager.key, address: address, isOwn: isOwn,
                        continuation: continuation))
                connect(manager, to: peripheral, ConnectOptions())
            }
        } onCancel: { [work] in
            work.start(.giveUp(number, RadioError(.timedOut, "connecting to \(address) was cancelled")))
        }.get()
    }

    /// Fails a call that waits for a connection, and withdraws the connection request if the call made it.
    func giveUp(_ number: UInt64, _ error: RadioError) {
        guard let waiter = waiters.remove(number) else { return }
        if waiter.isOwn, let manager = memory.manager(waiter.manager) {
            if memory.ledger.state(of: waiter.address, for: waiter.manager) == .connecting {
                manager.released(waiter.address)
            }
            change { $0.withdraw(waiter.manager, from: waiter.address, into: &$1) }
        }
        waiter.continuation.resume(returning: .failure(error))
    }

    /// Ends the waiting calls of a manager whose process has ended.
    func endCalls(of manager: CentralManagerState) {
        memory.links.release(by: manager.key)
        waiters.end(manager.key, CentralMemory.managerIsGone)
    }

    /// Ends a manager, its connections and its pending connections.
    func end(_ manager: CentralManagerState) {
        endCalls(of: manager)
        release(manager, memory.ledger.devices(of: manager.key)) { $0.end(manager.key, into: &$1) }
    }

    /// Forgets all links and fails the waiting calls, because the phone has stopped.
    func stop(_ error: RadioError) {
        (memory.ledger, actions, memory.links) = (LinkLedger(), [], CentralLinks())
        endDelays()
        waiters.endAll(error)
    }

    // MARK: Events of the radio

    /// Handles a new link.
    func began(_ peer: Peer) {
        guard let (address, actions) = connector.device(of: peer) else {
            return work.start(.disconnect(peer.id))
        }
        work.tell(.connector(actions))
        memory.links.note(.connected(peer))
        devices.linked(peer, to: address)
        if let error = devices.lostBonds.refusal(of: address) {
            change { $0.failed(address, error, into: &$1) }
        }
        let waiting = alerts.candidates(memory.ledger.claimants(of: address), for: address)
        let isShared = phone.centrals.isConnected(peer.id)
        change { $0.linkUp(peer.id, to: address, isShared: isShared, into: &$1) }
        if memory.ledger.link(to: address) == peer.id {
            alerts.happened(.connection, to: address, for: waiting)
            events.linkBegan(peer.id)
        }
        if let own = peer.address { moved(peer.id, to: own) }
    }

    /// Handles a link that ended.
    func ended(_ link: Peer.ID, _ error: RadioError?) {
        let address = memory.ledger.address(of: link)
        let holding = address.map { alerts.candidates(memory.ledger.holders(of: link), for: $0) } ?? []
        // If the radio is lost, the devices are not reported one by one.
        if error?.code == .lost {
            for manager in memory.managers { manager.toldLinks.remove(link) }
        }
        change { $0.linkDown(link, error, into: &$1) }
        if let address, error?.code != .lost {
            alerts.happened(.disconnection, to: address, for: holding)
        }
    }

    /// Replaces the address of a link's device after the radio reported another one.
    func moved(_ link: Peer.ID, to new: DeviceAddress) {
        guard let old = memory.ledger.address(of: link), old != new else { return }
        change { ledger, actions in
            ledger.moved(link, to: new, into: &actions)
            guard ledger.address(of: link) == new else { return }
            for manager in memory.managers { manager.moved(from: old, to: new) }
            devices.moved(from: old, to: new)
        }
    }

    /// Starts to connect for a request whose start delay has elapsed.
    func delayElapsed(_ request: UInt64) { change { $0.delayElapsed(request, into: &$1) } }

    // MARK: The ledger

    /// Changes the ledger and carries out the resulting actions in order; actions that these cause come last.
    func change(
        _ body: (inout LinkLedger, inout [LinkAction]) -> Void
    ) {
        body(&memory.ledger, &actions)
        endDelays()
        meter.update()
        // The state is saved before programs receive the resulting events.
        preservation.save()
        guard !isCarryingOut else { return }
        isCarryingOut = true
        defer { isCarryingOut = false }
        while !actions.isEmpty { perform(actions.removeFirst()) }
    }

    /// Cancels the start delays of requests that have ended; a delay may be as long as a year.
    private func endDelays() {
        for (request, delay) in delays.pairs where !memory.ledger.isDelayed(request) {
            delay.cancel()
            delays[request] = nil
        }
    }

    /// Cancels connections of a manager.
    ///
    /// On a link that stays up, the manager's subscriptions and channels end at once.
    private func release(
        _ manager: CentralManagerState, _ addresses: [DeviceAddress],
        _ body: (inout LinkLedger, inout [LinkAction]) -> Void
    ) {
        let held = addresses.compactMap { memory.ledger.link(to: $0, of: manager.key) }
        change(body)
        for link in held
        where !memory.ledger.holders(of: link).isEmpty || phone.centrals.isConnected(link) {
            memory.links.release(link, by: manager.key)
            manager.closeChannels(on: link, work)
            subscriptions.release(link, by: manager.key)
        }
    }

    private func perform(_ action: LinkAction) {
        switch action {
        case .connected(let key, let address, let link, let isLocal):
            connected(key, address, link, isLocal: isLocal)
        case .failedToConnect(let key, let address, let error):
            released(key, address, .failure(error)) { manager, peripheral in
                phone.pass(.failedToConnect(peripheral, error), to: manager)
            }
        case .disconnected(let key, let address, let end):
            disconnected(key, address, end)
        case .forgotten(let key, let address):
            released(key, address, .failure(memory.powerError))
        case .endLink(let link):
            subscriptions.linkEnded(link, Self.disconnected)
            work.start(.disconnect(link))
        case .leaveLink(let address, let link):
            memory.links[link] = nil
            events.linkEnded(link, to: address)
            work.tell(.leave(link))
        case .linkKept(let address, let apps):
            events.linkKept(address, by: apps)
        case .linkEnded(let address, let link):
            devices.tables.ended(memory.links.remove(link), to: address)
            events.linkEndedOnAir(link, to: address)
            subscriptions.linkEnded(link, Self.disconnected)
        case .waitForStart(let request, let delay) where memory.ledger.isDelayed(request):
            let clock = memory.ledger.manager(of: request).flatMap(memory.manager)?.app?.clock ?? clock
            delays[request] = work.tell(.delayElapsed(request), at: clock.now.advanced(by: delay), on: clock)
        case .connecting, .waitForStart: break
        case .wantedChanged: work.tell(.listen)
        }
    }

    private static let disconnected = RequestError.failed(
        RadioError(.disconnected, "the peripheral is not connected"))

    private func connected(
        _ key: ManagerKey, _ address: DeviceAddress, _ link: Peer.ID, isLocal: Bool
    ) {
        guard let manager = memory.manager(key), let peripheral = manager.asked[address],
            let state = memory.links[link]
        else { return }
        manager.connected(address)
        peripheral.note(.connected(state.peer, mtu: state.mtu))
        preservation.subscribeAgain(manager, to: peripheral, by: link)
        names.connected(manager, to: peripheral, by: link)
        phone.pass(.connected(peripheral, isLocal: isLocal), to: manager)
        waiters.end(key, address, .success(()))
    }

    private func disconnected(
        _ key: ManagerKey, _ address: DeviceAddress, _ end: Disconnection
    ) {
        let error = end.error ?? RadioError(.disconnected, "connecting to \(address) was cancelled")
        let report = { [phone] (manager: CentralManagerState, peripheral: Peripheral) in
            // If the radio was lost, an app's peripherals are disconnected without a callback.
            guard manager.app == nil || end.error?.code != .lost else { return }
            phone.pass(.disconnected(peripheral, end), to: manager)
        }
        guard end.isReconnecting, let manager = memory.manager(key),
            let peripheral = manager.asked[address]
        else { return released(key, address, .failure(error), report) }
        peripheral.note(.ended)
        preservation.save(manager)
        report(manager, peripheral)
    }

    /// Handles a device that a manager is neither connected to nor waiting for any longer.
    private func released(
        _ key: ManagerKey, _ address: DeviceAddress, _ result: Result<Void, RadioError>,
        _ report: (CentralManagerState, Peripheral) -> Void = { _, _ in }
    ) {
        if let manager = memory.manager(key), let peripheral = manager.asked[address] {
            peripheral.note(.ended)
            // The report may relaunch the app, which then gets the peripheral restored and may connect it
            // again.
            report(manager, peripheral)
            if memory.ledger.state(of: address, for: key) == .disconnected { manager.released(address) }
        }
        waiters.end(key, address, result)
    }
}
