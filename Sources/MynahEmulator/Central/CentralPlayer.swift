import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Plays one central manager of a device's app: it carries out the actions of `CentralScript`, and reports
/// events.
///
/// Belongs to the app's `DevicePlayer`, with which it shares the device's state.
final class CentralPlayer {
    let memory: DeviceMemory
    let devices: CentralDevices
    private let link: CentralLink
    private var manager: CentralManager?
    /// The number of launches and ends of the app so far.
    ///
    /// Work that was queued under an earlier number is dropped.
    private var launch = 0
    private var state = RadioState.unknown
    private var stage = Stage.waiting
    private var waiting = WaitingActions()
    /// The last reported status of the scan.
    private var scan: ScanStatus?
    private var writes = RepeatedWrites()
    /// The device to which a connection was requested, until the request is reported as an event.
    private var asked: Peripheral?
    private var waits = ReconnectWaits()
    private let room = ChangeSignal()
    /// The completed steps of the app on each link.
    private var progress: [PeripheralIdentifier: WorkProgress] = [:]

    private enum Stage {
        case waiting
        /// The run is ready, so the manager may scan and connect.
        case begun
        case ended
    }

    init(_ central: Profile.Central, _ link: CentralLink, of memory: DeviceMemory) {
        devices = CentralDevices(of: central, link.number, memory)
        self.link = link
        self.memory = memory
    }

    private var central: Profile.Central { devices.central }
    private var events: EventReporter { memory.events }
    private var isBegun: Bool { stage == .begun }

    /// The manager's index among the central managers of the app.
    var number: Int { link.number }

    /// `true` if the system keeps working for the manager after it terminated the app.
    ///
    /// This requires a restore identifier and the background mode `bluetooth-central`.
    private var isKept: Bool {
        central.restoreIdentifier != nil
            && memory.device.app?.description.rules.backgroundModes.contains(.bluetoothCentral) == true
    }

    // MARK: The app

    /// Whether the app's code runs; the answer is valid until the next `await`.
    private var isAppRunning: Bool { memory.appSide.app?.access.isRunning == true }

    /// Resets the state for a new process of the app.
    func launched(_ app: App) throws(RadioError) {
        devices.peripherals = [:]
        beginLaunch()
        state = .unknown
        devices.script.launched()
        if let saved = memory.appSide.saved { devices.script.recall(saved[link.number]) }
        var options = CentralManager.Options()
        options.showsPowerAlert = central.showsPowerAlert
        manager = try app.access.makeCentralManager(
            restoreIdentifier: central.restoreIdentifier, options: options, sink: link)
    }

    /// Resets the state after the app's process has ended.
    func ended(byUser isQuit: Bool) {
        manager = nil
        beginLaunch()
        waits.cancel()
        writes.stop()
        room.signal()
        if isQuit || !isKept { report(nil) }
    }

    /// Drops all queued work of the app's earlier process.
    private func beginLaunch() {
        launch += 1
        (waiting, asked) = (WaitingActions(), nil)
    }

    /// Queues work, which is dropped if the app's process ends before its turn.
    private func enqueue(_ work: @escaping @Sendable (CentralPlayer) async -> Void) {
        let launch = launch
        link.enqueue { await $0.carryOut(work, of: launch) }
    }

    private func carryOut(_ work: (CentralPlayer) async -> Void, of launch: Int) async {
        if launch == self.launch { await work(self) }
    }

    /// Allows the manager to scan and to connect from now on; called when the run is ready.
    func begin() {
        if stage == .waiting { stage = .begun }
        power()
    }

    /// Ends the manager's scan and all of its work at the end of the run.
    func stop() {
        stage = .ended
        waiting.removeAll()
        waits.cancel()
        writes.stop()
        room.signal()
        report(nil)
    }

    /// Starts or stops the scan on behalf of the app's user.
    func setScanning(_ isWanted: Bool) {
        act { $0.userWants(isWanted, into: &$1) }
    }

    /// Passes the Bluetooth state to the script.
    ///
    /// `wake` is the number of the app's wake (`AppSide.wake`) in which the state changed, or `nil` if the
    /// app was not woken for the change.
    private func power(in wake: Int? = nil) {
        guard isBegun else { return }
        act(in: wake) { $0.powered(state == .poweredOn, into: &$1) }
    }

    // MARK: Events

    func handle(_ event: CentralManagerEvent) {
        switch event {
        case .willRestoreState(let state):
            for device in devices.restore(state) {
                progress[device, default: WorkProgress()].isResumed = true
            }
        case .stateChanged(let new):
            reportOwn(new, isReported: memory.introduce(new))
            // The state that a launch begins with is no event.
            let wake = state == .unknown ? nil : memory.appSide.wake
            state = new
            if new != .poweredOn {
                waits.cancel()
                writes.stop()
                room.signal()
                progress = [:]
            }
            power(in: wake)
            reportScan()
        case .discovered(let discovery): discovered(discovery)
        case .connected(let peripheral, let isLocal):
            devices.remember(peripheral)
            reportConnecting()
            devices.report(.peripheralConnected, peripheral) { .link(.init($0, isLocal: isLocal)) }
            progress[peripheral.identifier] = WorkProgress(wake: memory.appSide.wake)
            act { $0.connected(peripheral.identifier, into: &$1) }
            devices.save()
        case .failedToConnect(let peripheral, let error):
            devices.report(.peripheralFailedToConnect, peripheral) { .link(.init($0, error)) }
            if error.isLostBond { return gaveUp(peripheral) }
            act { $0.failed(peripheral.identifier, into: &$1) }
        case .disconnected(let peripheral, let end):
            writes.stop { $0 == peripheral.identifier }
            progress[peripheral.identifier] = nil
            room.signal()
            devices.report(.peripheralDisconnected, peripheral) { .link(.init($0, end)) }
            if end.error?.isLostBond == true { return gaveUp(peripheral) }
            act { $0.disconnected(peripheral.identifier, isReconnecting: end.isReconnecting, into: &$1) }
        case .valueUpdated(let update):
            let attribute = update.characteristic.map { EventAttribute($0) } ?? .init()
            devices.report(.valueUpdated, update.peripheral) {
                .remote(.init($0, attribute, value: update.value))
            }
        case .servicesChanged(let peripheral, _, let invalidated):
            devices.report(.servicesChanged, peripheral) {
                .remote(.init($0, uuids: invalidated.map(\.uuid)))
            }
        case .nameUpdated(let peripheral): devices.report(.nameUpdated, peripheral) { .link(.init($0)) }
        case .paired(let peripheral): devices.report(.paired, peripheral) { .pairing(.init(nil, $0)) }
        case .readyToWrite: room.signal()
        case .missed(let count):
            events.warn(
                "eventsMissed",
                count.counting("event was", "events were")
                    + " dropped because too many waited until the app ran")
        case .connectionEvent(let event, let peripheral):
            devices.report(event == .peerConnected ? .peerConnected : .peerDisconnected, peripheral) {
                .link(.init($0))
            }
        case .mtuChanged, .pairing, .lost, .recovered, .warning: break
        }
    }

    /// Stops connecting to a device that has deleted its bond with the phone.
    ///
    /// The app connects again after the user has forgotten the device in Settings.
    private func gaveUp(_ peripheral: Peripheral) {
        act { $0.lostBond(peripheral.identifier, into: &$1) }
    }

    /// Handles that the phone's user has forgotten a device in Settings, or all devices if `address` is
    /// `nil`.
    func forgotten(_ address: DeviceAddress?) {
        act(in: nil) { script, actions in
            let found = address.map { [devices.peripheral(at: $0)?.identifier] } ?? script.devices
            for device in found.compactMap({ $0 }) { script.forgotten(device, into: &actions) }
        }
    }

    // MARK: AccessorySetupKit

    /// Assigns a device that the user picked with AccessorySetupKit to the named entry, and reports it.
    func picked(_ device: PeripheralIdentifier, at address: DeviceAddress, for name: String, called: String?)
    {
        guard let entry = central.peripherals.firstIndex(where: { $0.name == name }) else { return }
        devices.notePick(at: address, for: entry)
        let peripheral = EventPeripheral(
            identifier: device.uuid, address: address, name: called, alias: name)
        events.report(.accessoryAdded, .link(.init(peripheral)))
        act(in: nil) { $0.picked(device, for: entry, into: &$1) }
        devices.save()
    }

    /// Removes an entry's device from the app's accessories, and reports it.
    func remove(_ device: PeripheralIdentifier, for name: String, at address: DeviceAddress?) {
        let peripheral =
            devices.peripherals[device].map(devices.eventPeripheral)
            ?? EventPeripheral(identifier: device.uuid, address: address, alias: name)
        devices.script.letGo(device)
        events.report(.accessoryRemoved, .link(.init(peripheral)))
        _ = memory.appSide.app?.access.remove(accessory: device)
        act(in: nil) { $0.removed(device, into: &$1) }
        // The identifier that the app saved for the entry is deleted too.
        devices.forgetSaved(name)
    }

    /// Reports the Bluetooth state that the manager received, unless `isReported` is `true`.
    ///
    /// The state is reported only if it woke the app, or if it was queued while the app did not run. Other
    /// changes are reported by the emulator.
    private func reportOwn(_ new: RadioState, isReported: Bool) {
        let hasWoken = memory.appSide.takeWakeByState()
        let isQueued = memory.appSide.isDeliveringQueued
        guard !isReported, hasWoken || isQueued && link.isFirst else { return }
        events.report(.stateChanged, .state(new), isQueued: isQueued)
    }

    private func discovered(_ discovery: Discovery) {
        reportScan()
        let peripheral = discovery.peripheral
        let advertisement = discovery.advertisement
        let services = Set(advertisement.serviceUUIDs).union(discovery.overflowServices)
        let actions = actions {
            $0.heard(
                peripheral.identifier,
                .init(
                    services: services, localName: advertisement.localName,
                    rssi: discovery.rssi.map { Int($0) }
                ), into: &$1)
        }
        devices.keep(peripheral)
        devices.report(.peripheralDiscovered, peripheral) { .discovery(.init(discovery, $0)) }
        carryOut(actions, in: memory.appSide.wake)
        devices.remember(peripheral)
    }

    // MARK: Actions

    private func actions(
        _ body: (inout CentralScript, inout [CentralScript.Action]) -> Void
    ) -> [CentralScript.Action] {
        var actions: [CentralScript.Action] = []
        body(&devices.script, &actions)
        return actions
    }

    /// Passes an event to the script, and carries out the resulting actions as work of the app's current
    /// wake.
    private func act(_ body: (inout CentralScript, inout [CentralScript.Action]) -> Void) {
        act(in: memory.appSide.wake, body)
    }

    private func act(in wake: Int?, _ body: (inout CentralScript, inout [CentralScript.Action]) -> Void) {
        carryOut(actions(body), in: wake)
    }

    /// Carries out actions one after the other.
    ///
    /// Reads, writes and subscriptions on a link do not delay other actions.
    private func carryOut(_ actions: [CentralScript.Action], in wake: Int?) {
        guard stage != .ended, waiting.add(actions, in: wake) else { return }
        enqueue { await $0.carryOutWaiting() }
    }

    private func carryOutWaiting() async {
        let launch = launch
        while launch == self.launch, !waiting.isEmpty {
            // The code of a suspended app does nothing, and goes on when the app runs.
            await memory.appSide.app?.waitWhileSuspended()
            guard launch == self.launch, let (action, wake) = waiting.next() else { break }
            do throws(RadioError) {
                if let manager { try await carryOut(action, in: wake, manager) }
            } catch {
                guard isBegun, launch == self.launch else { continue }
                events.fail(error.description)
            }
        }
        if launch == self.launch { waiting.finish() }
    }

    private func carryOut(
        _ action: CentralScript.Action, in wake: Int?, _ manager: CentralManager
    ) async throws(RadioError) {
        switch action {
        case .registerForConnectionEvents(let services):
            await manager.registerForConnectionEvents(ConnectionEventMatching(services: services))
        case .startScan:
            let scan = central.scan ?? .init()
            try await manager.scanForPeripherals(
                withServices: scan.services.isEmpty ? nil : scan.services,
                options: ScanOptions(
                    allowsDuplicates: scan.allowsDuplicates, solicitedServiceUUIDs: scan.solicited))
            reportScan()
            memory.appSide.noteExtraneous(.scan, in: wake, to: events)
        case .stopScan:
            await manager.stopScan()
            reportScan()
        case .connect(let device, let entry):
            guard let peripheral = await peripheral(device, manager) else { return }
            let options = central.peripherals[entry].connection
            asked = peripheral
            defer { if asked === peripheral { asked = nil } }
            try await manager.connect(peripheral, options: options ?? ConnectOptions())
            reportConnecting()
            memory.appSide.noteExtraneous(.connect, in: wake, devices.eventPeripheral(peripheral), to: events)
        case .cancel(let device):
            guard let peripheral = await peripheral(device, manager) else { return }
            await manager.cancelPeripheralConnection(peripheral)
        case .retrieveKnown(let identifiers, let entry):
            let found = await manager.retrievePeripherals(withIdentifiers: identifiers)
            retrieved(.known, identifiers.map(\.uuid.in128Bits), found, entry, wake, manager)
        case .retrieveConnected(let services, let entry):
            let found = try await manager.retrieveConnectedPeripherals(withServices: services)
            retrieved(.connected, services, found, entry, wake, manager)
        case .wait(let number, let time, let entry): wait(time, number, entry, wake)
        case .work(let device, let entry):
            guard let peripheral = devices.peripherals[device] else { return }
            enqueue { await $0.work(on: peripheral, entry) }
        }
    }

    /// Passes the result of a retrieve call, such as `retrievePeripherals(withIdentifiers:)`, to the script.
    ///
    /// `asked` has the identifiers or the services that were the argument of the call.
    private func retrieved(
        _ way: ReconnectWay, _ asked: [BluetoothUUID], _ found: [Peripheral], _ entry: Int, _ wake: Int?,
        _ manager: CentralManager
    ) {
        // Its app may have ended meanwhile.
        guard isBegun, self.manager === manager else { return }
        events.report(
            .peripheralsRetrieved,
            .retrieval(
                .init(
                    central.peripherals[entry].name, by: way == .known ? "identifiers" : "connected", asked,
                    found: found.map(\.identifier.uuid.in128Bits))))
        act(in: wake) { script, actions in
            script.retrieved(
                way, found.map { ($0.identifier, $0.look { $0.name }) }, for: entry, into: &actions)
        }
        for peripheral in found { devices.keep(peripheral) }
    }

    /// Starts a timer for the plan of an entry.
    ///
    /// If the timer fires while the app does not run, the script is informed when the app runs again.
    private func wait(_ time: Duration, _ number: UInt64, _ entry: Int, _ wake: Int?) {
        let task = link.enqueue(at: memory.clock.now.advanced(by: time), on: memory.clock) {
            $0.waited(number, entry, wake)
        }
        waits.begin(entry, task)
    }

    private func waited(_ number: UInt64, _ entry: Int, _ wake: Int?) {
        guard isAppRunning else { return waits.hold(entry, number) }
        act(in: wake) { $0.waited(number, for: entry, into: &$1) }
    }

    /// Reports that a connection was requested, after the request was queued for saving in the state
    /// directory.
    ///
    /// The result of the request is reported later.
    private func reportConnecting() {
        guard let peripheral = asked else { return }
        asked = nil
        devices.report(.peripheralConnecting, peripheral) { .link(.init($0)) }
    }

    private func peripheral(_ device: PeripheralIdentifier, _ manager: CentralManager) async -> Peripheral? {
        if let known = devices.peripherals[device] { return known }
        let found = await manager.retrievePeripherals(withIdentifiers: [device]).first
        devices.peripherals[device] = found
        return found
    }

    private func work(on peripheral: Peripheral, _ entry: Int) async {
        let (work, launch) = (work(of: entry, on: peripheral), launch)
        do throws(RequestError) {
            let isSubscribed = try await work.run()
            guard launch == self.launch else { return }
            act { $0.done(peripheral.identifier, isSubscribed: isSubscribed, into: &$1) }
            writeAgain(to: peripheral.identifier, entry)
        } catch {
            await report(error, peripheral, of: launch)
        }
    }

    private func work(of entry: Int, on peripheral: Peripheral) -> PeripheralWork {
        let (launch, device) = (launch, peripheral.identifier)
        return PeripheralWork(
            central.peripherals[entry], on: peripheral, progress[device] ?? WorkProgress(), room
        ) { [unowned self] step in
            if launch == self.launch { progress[device]?.done.insert(step) }
        } report: { [unowned self] name, payload in
            guard launch == self.launch else { return }
            let hasWaited = name != .warning && peripheral.look { $0.hasAnswerWaited }
            devices.report(name, peripheral, isQueued: hasWaited, payload)
        } talk: { [unowned self] channel in
            enqueue { await $0.talk(on: channel, peripheral, entry, launch) }
        }
    }

    /// Exchanges data on a channel until it is closed.
    private func talk(
        on channel: any L2CAPChannel, _ peripheral: Peripheral, _ entry: Int, _ launch: Int
    ) async {
        let greeting = central.peripherals[entry].channel?.greeting
        var peer = EventPayload.ChannelUse()
        peer.peripheral = devices.eventPeripheral(peripheral)
        await ChannelTalk(on: channel, greeting: greeting) { [self] name, payload in
            guard launch == self.launch else { return }
            events.report(name, payload, isQueued: memory.appSide.isDeliveringQueued)
        }.run(with: peer)
    }

    private func report(_ error: RequestError, _ peripheral: Peripheral, of launch: Int) async {
        // The end of the link or of the app was already reported.
        guard isBegun, launch == self.launch, await peripheral.isConnected else { return }
        devices.report(.error, peripheral) { .notice(.init(error.description, $0)) }
    }

    // MARK: Writing again

    private func writeAgain(to device: PeripheralIdentifier, _ entry: Int) {
        for (index, write) in central.peripherals[entry].writes.enumerated() {
            let isDone = progress[device]?.done.contains(.write(index)) == true
            again(
                .init(device: device, entry: entry, write: index),
                in: isDone ? write.every : write.after ?? write.every)
        }
    }

    private func again(_ repetition: RepeatedWrites.Repetition) {
        again(repetition, in: central.peripherals[repetition.entry].writes[repetition.write].every)
    }

    private func again(_ repetition: RepeatedWrites.Repetition, in time: Duration?) {
        guard isBegun, let time else { return }
        writes.cancel(repetition)
        let due = memory.clock.now.advanced(by: time)
        let timer = link.enqueue(at: due, on: memory.clock) { await $0.writeAgain(repetition) }
        writes.wait(for: repetition, timer)
    }

    private func writeAgain(_ repetition: RepeatedWrites.Repetition) async {
        writes.end(repetition)
        guard isBegun, manager != nil, let peripheral = devices.peripherals[repetition.device],
            await peripheral.isConnected
        else { return }
        guard isAppRunning else { return writes.hold(repetition) }
        let write = central.peripherals[repetition.entry].writes[repetition.write]
        let (work, launch) = (work(of: repetition.entry, on: peripheral), launch)
        memory.appSide.noteExtraneous(
            .write, in: progress[repetition.device]?.wake, devices.eventPeripheral(peripheral),
            on: work.attribute(of: write.target), to: events)
        do throws(RequestError) {
            try await work.write(write)
            guard launch == self.launch else { return }
            progress[repetition.device]?.done.insert(.write(repetition.write))
            again(repetition)
        } catch {
            await report(error, peripheral, of: launch)
        }
    }

    /// Handles a change of the app's life-cycle state.
    ///
    /// Reports the scan if it has changed. If the app runs again, this also handles the timers that fired and
    /// the writes that became due in the meantime.
    func appChanged() {
        reportScan()
        guard writes.isHeld || waits.isHeld, isAppRunning else { return }
        for (entry, number) in waits.takeHeld() {
            act(in: nil) { $0.waited(number, for: entry, into: &$1) }
        }
        for repetition in writes.release() {
            let write = central.peripherals[repetition.entry].writes[repetition.write]
            let isDone = progress[repetition.device]?.done.contains(.write(repetition.write)) == true
            // A write with `after` that was not made while the app was not running is sent at once.
            again(repetition, in: isDone || write.after == nil ? write.every : .zero)
        }
    }

    // MARK: Reports

    /// Reports the manager's scan, if it has changed.
    func reportScan() {
        if isBegun, let manager { report(manager.scanStatus) }
    }

    private func report(_ new: ScanStatus?) {
        defer { scan = new }
        guard let name = DeviceEvent.Name(from: scan, to: new), let shown = new ?? scan else { return }
        events.report(name, .scan(.init(shown)))
    }
}
