import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Plays one central manager of a device's app: it carries out what its script wants, and reports what
/// happens.
///
/// It belongs to its device's player.
final class CentralPlayer {
    unowned let player: DevicePlayer
    let central: Profile.Central
    private let link: CentralLink
    private var script: CentralScript
    private var manager: CentralManager?
    /// Counts the launches and the ends of its app: work of a process that has ended is for no other.
    private var launch = 0
    /// The peripherals of this launch that an entry was given, and those that the system kept.
    private var peripherals: [PeripheralIdentifier: Peripheral] = [:]
    private var state = RadioState.unknown
    /// Whether the run is under way.
    private var isBegun = false
    /// Whether the run is over.
    private var isEnded = false
    /// The actions that are still to be carried out, with the wake whose event caused them.
    private var waiting: [(action: CentralScript.Action, wake: Int?)] = []
    private var isCarryingOut = false
    /// The scan as it was reported last.
    private var scan: ScanStatus?
    /// The repeated writes and their timers.
    private var timers = SortedMap<Repetition, Task<Void, Never>>()
    /// The device that is being asked for, until that is reported.
    private var asked: Peripheral?
    /// The writes that were due while the app did not run, in the order in which they were due.
    private var held: [Repetition] = []
    private var waits = ReconnectWaits()
    private let room = ChangeSignal()
    /// Where the device of each entry was last.
    private var addresses: [Int: DeviceAddress] = [:]
    /// The steps that the app has done on each link.
    private var progress: [PeripheralIdentifier: WorkProgress] = [:]

    /// A value that is written again and again on a link.
    private struct Repetition: Comparable {
        let device: PeripheralIdentifier
        let entry: Int
        let write: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.entry, left.write, left.device.description)
                < (right.entry, right.write, right.device.description)
        }
    }

    init(_ central: Profile.Central, _ link: CentralLink, of player: DevicePlayer) {
        self.central = central
        self.link = link
        self.player = player
        script = CentralScript(central)
    }

    private var events: EventReporter { player.events }

    /// Its index among the central managers of the app.
    var number: Int { link.number }

    /// Whether the system works on for it when its app was terminated.
    private var isKept: Bool {
        central.restoreIdentifier != nil
            && player.device.app?.description.rules.backgroundModes.contains(.bluetoothCentral) == true
    }

    // MARK: Its app

    /// Whether its app's code runs; the answer holds until the next call that is waited for.
    private var isAppRunning: Bool { player.appSide.app?.access.isRunning == true }

    /// Begins with the app's process, which has started.
    func launched(_ app: App) throws(RadioError) {
        peripherals = [:]
        beginLaunch()
        state = .unknown
        script.launched()
        if let saved = player.appSide.saved { script.recall(saved[link.number]) }
        var options = CentralManager.Options()
        options.showsPowerAlert = central.showsPowerAlert
        manager = try app.access.makeCentralManager(
            restoreIdentifier: central.restoreIdentifier, options: options, sink: link)
    }

    /// Ends with the app's process, which is gone.
    func ended(byUser isQuit: Bool) {
        manager = nil
        beginLaunch()
        waits.cancel()
        stopWriting()
        room.signal()
        if isQuit || !isKept { report(nil) }
    }

    /// Anything that the process before has begun comes to nothing.
    private func beginLaunch() {
        launch += 1
        (waiting, isCarryingOut, asked) = ([], false, nil)
    }

    /// Queues work of this process of its app.
    private func enqueue(_ work: @escaping @Sendable (CentralPlayer) async -> Void) {
        let launch = launch
        link.enqueue { await $0.carryOut(work, of: launch) }
    }

    private func carryOut(_ work: (CentralPlayer) async -> Void, of launch: Int) async {
        if launch == self.launch { await work(self) }
    }

    /// The run is under way: it may scan and connect.
    func begin() {
        isBegun = true
        power()
    }

    /// The run is over: what follows from now on is not reported as trouble.
    func stop() {
        isBegun = false
        isEnded = true
        waiting = []
        waits.cancel()
        stopWriting()
        room.signal()
        report(nil)
    }

    /// Starts or stops the scan for the app's user.
    func setScanning(_ isWanted: Bool) {
        act { $0.userWants(isWanted, into: &$1) }
    }

    /// `wake` has the event that caused it.
    private func power(in wake: Int? = nil) {
        guard isBegun else { return }
        act(in: wake) { $0.powered(state == .poweredOn, into: &$1) }
    }

    // MARK: Events

    func take(_ event: CentralManagerEvent) {
        switch event {
        case .willRestoreState(let state): restore(state)
        case .stateChanged(let new):
            reportOwn(new, isReported: player.introduce(new))
            // The state that a launch begins with is no event.
            let wake = state == .unknown ? nil : player.appSide.wake
            state = new
            if new != .poweredOn {
                waits.cancel()
                stopWriting()
                room.signal()
                progress = [:]
            }
            power(in: wake)
            reportScan()
        case .discovered(let discovery): discovered(discovery)
        case .connected(let peripheral, let isLocal):
            remember(peripheral)
            reportConnecting()
            report(.peripheralConnected, peripheral) { .link(.init($0, isLocal: isLocal)) }
            progress[peripheral.identifier] = WorkProgress(wake: player.appSide.wake)
            act { $0.connected(peripheral.identifier, into: &$1) }
            save()
        case .failedToConnect(let peripheral, let error):
            report(.peripheralFailedToConnect, peripheral) { .link(.init($0, error)) }
            if error.isLostBond { return gaveUp(peripheral) }
            act { $0.failed(peripheral.identifier, into: &$1) }
        case .disconnected(let peripheral, let end):
            stopWriting { $0 == peripheral.identifier }
            progress[peripheral.identifier] = nil
            room.signal()
            report(.peripheralDisconnected, peripheral) { .link(.init($0, end)) }
            if end.error?.isLostBond == true { return gaveUp(peripheral) }
            act { $0.disconnected(peripheral.identifier, isReconnecting: end.isReconnecting, into: &$1) }
        case .valueUpdated(let update):
            let attribute = update.characteristic.map { EventAttribute($0) } ?? .init()
            report(.valueUpdated, update.peripheral) { .remote(.init($0, attribute, value: update.value)) }
        case .servicesChanged(let peripheral, _, let invalidated):
            report(.servicesChanged, peripheral) { .remote(.init($0, uuids: invalidated.map(\.uuid))) }
        case .nameUpdated(let peripheral): report(.nameUpdated, peripheral) { .link(.init($0)) }
        case .paired(let peripheral): report(.paired, peripheral) { .pairing(.init(nil, $0)) }
        case .readyToWrite: room.signal()
        case .missed(let count):
            events.warn(
                "eventsMissed",
                count.counting("event was", "events were")
                    + " dropped because too many waited until the app ran")
        case .connectionEvent(let event, let peripheral):
            report(event == .peerConnected ? .peerConnected : .peerDisconnected, peripheral) {
                .link(.init($0))
            }
        case .mtuChanged, .pairing, .lost, .recovered, .warning: break
        }
    }

    /// A device has lost its bond: there is nothing that the app can do until its user forgets the device.
    private func gaveUp(_ peripheral: Peripheral) {
        act { $0.lostBond(peripheral.identifier, into: &$1) }
    }

    /// The phone's user has forgotten the device at an address in Settings, or with `nil` every device.
    func forgotten(_ address: DeviceAddress?) {
        act(in: nil) { script, actions in
            let devices = address.map { [peripheral(at: $0)?.identifier] } ?? script.devices
            for device in devices.compactMap({ $0 }) { script.forgotten(device, into: &actions) }
        }
    }

    // MARK: AccessorySetupKit

    /// The entry of a name, or `nil` if it has none.
    func entry(named name: String) -> Profile.Central.Peripheral? {
        central.peripherals.firstIndex { $0.name == name }.map { central.peripherals[$0] }
    }

    /// The device that an entry of a name has or had last, also in an earlier run; `nil` if it never had one.
    func device(of name: String) -> PeripheralIdentifier? {
        central.peripherals.firstIndex { $0.name == name }.flatMap { script.device(of: $0) }
            ?? player.appSide.savedDevice(named: name, of: link.number)
    }

    /// Its user has picked the device at an address for the entry of a name.
    func picked(_ device: PeripheralIdentifier, at address: DeviceAddress, for name: String, called: String?)
    {
        guard let entry = central.peripherals.firstIndex(where: { $0.name == name }) else { return }
        addresses[entry] = address
        let peripheral = EventPeripheral(
            identifier: device.uuid, address: address, name: called, alias: name)
        events.report(.accessoryAdded, .link(.init(peripheral)))
        act(in: nil) { $0.picked(device, for: entry, into: &$1) }
        save()
    }

    /// The name of the entry that a device was given, or `nil` if it has none.
    func name(of device: PeripheralIdentifier) -> String? {
        script.entry(of: device).map { central.peripherals[$0].name }
    }

    /// Its user removes the accessory of an entry.
    func remove(_ device: PeripheralIdentifier, for name: String, at address: DeviceAddress?) {
        let peripheral =
            peripherals[device].map(eventPeripheral)
            ?? EventPeripheral(identifier: device.uuid, address: address, alias: name)
        script.letGo(device)
        events.report(.accessoryRemoved, .link(.init(peripheral)))
        _ = player.appSide.app?.access.remove(accessory: device)
        act(in: nil) { $0.removed(device, into: &$1) }
        // An identifier that was saved for the entry is gone with it.
        player.appSide.saved?[link.number][name] = nil
        save(isChanged: true)
    }

    /// A change of the Bluetooth state that waited, although the phone reported it when it happened; or one
    /// that woke the app.
    private func reportOwn(_ new: RadioState, isReported: Bool) {
        let hasWoken = player.appSide.takeWakeByState()
        let isQueued = player.appSide.isDeliveringQueued
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
        keep(peripheral)
        report(.peripheralDiscovered, peripheral) { .discovery(.init(discovery, $0)) }
        carryOut(actions, in: player.appSide.wake)
        remember(peripheral)
    }

    /// The app stores the identifiers of its devices, unless nothing about them is new.
    private func save(isChanged: Bool = false) {
        guard var saved = player.appSide.saved else { return }
        saved[link.number].merge(script.saved) { $1 }
        guard isChanged || saved != player.appSide.saved else { return }
        player.appSide.saved = saved
        player.appSide.app?.access.save(saved)
    }

    /// Others are let go of: a device that changes its address is another one each time.
    private func keep(_ peripheral: Peripheral) {
        if script.entry(of: peripheral.identifier) != nil { peripherals[peripheral.identifier] = peripheral }
    }

    private func remember(_ peripheral: Peripheral) {
        guard let entry = script.entry(of: peripheral.identifier),
            script.device(of: entry) == peripheral.identifier
        else { return }
        addresses[entry] = peripheral.address
    }

    private func restore(_ state: RestoredCentralState) {
        for peripheral in state.peripherals { peripherals[peripheral.identifier] = peripheral }
        func identifiers(_ state: PeripheralState, _ all: [Peripheral]) -> [PeripheralIdentifier] {
            all.filter { $0.look { $0.state } == state }.map(\.identifier)
        }
        let connected = identifiers(.connected, state.peripherals)
        script.recognize(
            state.peripherals.map { peripheral in
                let (name, services) = peripheral.look { ($0.name, $0.services.map(\.uuid)) }
                return (peripheral.identifier, .init(services: Set(services), localName: name, rssi: nil))
            })
        for peripheral in state.peripherals { remember(peripheral) }
        save()
        script.restored(
            isScanning: state.scanServices != nil, connected: connected,
            wanted: identifiers(.connecting, state.peripherals))
        for device in connected { progress[device, default: WorkProgress()].isResumed = true }
        events.report(
            .appRestored,
            .restoration(
                .init(state, restoreIdentifier: central.restoreIdentifier ?? "") { eventPeripheral($0) }))
    }

    // MARK: Actions

    private func actions(
        _ body: (inout CentralScript, inout [CentralScript.Action]) -> Void
    ) -> [CentralScript.Action] {
        var actions: [CentralScript.Action] = []
        body(&script, &actions)
        return actions
    }

    /// An event of this wake caused it.
    private func act(_ body: (inout CentralScript, inout [CentralScript.Action]) -> Void) {
        act(in: player.appSide.wake, body)
    }

    private func act(in wake: Int?, _ body: (inout CentralScript, inout [CentralScript.Action]) -> Void) {
        carryOut(actions(body), in: wake)
    }

    /// Carries actions out in their order; what is done on a link waits for nothing else.
    private func carryOut(_ actions: [CentralScript.Action], in wake: Int?) {
        guard !isEnded else { return }
        waiting += actions.map { ($0, wake) }
        guard !waiting.isEmpty, !isCarryingOut else { return }
        isCarryingOut = true
        enqueue { await $0.carryOutWaiting() }
    }

    private func carryOutWaiting() async {
        let launch = launch
        while launch == self.launch, !waiting.isEmpty {
            // The code of a suspended app does nothing, and goes on when the app runs.
            await player.appSide.app?.waitWhileSuspended()
            guard launch == self.launch, !waiting.isEmpty else { break }
            let (action, wake) = waiting.removeFirst()
            do throws(RadioError) {
                if let manager { try await carryOut(action, in: wake, manager) }
            } catch {
                guard isBegun, launch == self.launch else { continue }
                events.fail(error.description)
            }
        }
        if launch == self.launch { isCarryingOut = false }
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
            player.appSide.noteExtraneous(.scan, in: wake, to: events)
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
            player.appSide.noteExtraneous(.connect, in: wake, eventPeripheral(peripheral), to: events)
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
            guard let peripheral = peripherals[device] else { return }
            enqueue { await $0.work(on: peripheral, entry) }
        }
    }

    /// A retrieve call for an entry returned.
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
        for peripheral in found { keep(peripheral) }
    }

    /// Lets the plan of an entry wait; what ends while the app does not run ends when it runs again.
    private func wait(_ time: Duration, _ number: UInt64, _ entry: Int, _ wake: Int?) {
        let task = link.enqueue(at: player.clock.now.advanced(by: time), on: player.clock) {
            $0.waited(number, entry, wake)
        }
        waits.begin(entry, task)
    }

    private func waited(_ number: UInt64, _ entry: Int, _ wake: Int?) {
        guard isAppRunning else { return waits.hold(entry, number) }
        act(in: wake) { $0.waited(number, for: entry, into: &$1) }
    }

    /// A connection was asked for, which is on its way to the state directory by now; what comes of it is
    /// reported after it.
    private func reportConnecting() {
        guard let peripheral = asked else { return }
        asked = nil
        report(.peripheralConnecting, peripheral) { .link(.init($0)) }
    }

    private func peripheral(_ device: PeripheralIdentifier, _ manager: CentralManager) async -> Peripheral? {
        if let known = peripherals[device] { return known }
        let found = await manager.retrievePeripherals(withIdentifiers: [device]).first
        peripherals[device] = found
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
            report(name, peripheral, isQueued: hasWaited, payload)
        } talk: { [unowned self] channel in
            enqueue { await $0.talk(on: channel, peripheral, entry, launch) }
        }
    }

    /// Talks with a peripheral until the channel is closed.
    private func talk(
        on channel: any L2CAPChannel, _ peripheral: Peripheral, _ entry: Int, _ launch: Int
    ) async {
        let greeting = central.peripherals[entry].channel?.greeting
        var peer = EventPayload.ChannelUse()
        peer.peripheral = eventPeripheral(peripheral)
        await ChannelTalk(on: channel, greeting: greeting) { [self] name, payload in
            guard launch == self.launch else { return }
            events.report(name, payload, isQueued: player.appSide.isDeliveringQueued)
        }.run(with: peer)
    }

    private func report(_ error: RequestError, _ peripheral: Peripheral, of launch: Int) async {
        // A link that ended, or an app, has been reported.
        guard isBegun, launch == self.launch, await peripheral.isConnected else { return }
        report(.error, peripheral) { .notice(.init(error.description, $0)) }
    }

    // MARK: Writing again

    private func writeAgain(to device: PeripheralIdentifier, _ entry: Int) {
        for write in central.peripherals[entry].writes.indices {
            again(Repetition(device: device, entry: entry, write: write))
        }
    }

    private func again(_ repetition: Repetition) {
        let write = central.peripherals[repetition.entry].writes[repetition.write]
        guard isBegun, let every = write.every else { return }
        timers[repetition]?.cancel()
        timers[repetition] = link.enqueue(at: player.clock.now.advanced(by: every), on: player.clock) {
            await $0.writeAgain(repetition)
        }
    }

    private func writeAgain(_ repetition: Repetition) async {
        timers[repetition] = nil
        guard isBegun, manager != nil, let peripheral = peripherals[repetition.device],
            await peripheral.isConnected
        else { return }
        guard isAppRunning else {
            if !held.contains(repetition) { held.append(repetition) }
            return
        }
        let write = central.peripherals[repetition.entry].writes[repetition.write]
        let (work, launch) = (work(of: repetition.entry, on: peripheral), launch)
        player.appSide.noteExtraneous(
            .write, in: progress[repetition.device]?.wake, eventPeripheral(peripheral),
            on: work.attribute(of: write.target), to: events)
        do throws(RequestError) {
            try await work.write(write)
            if launch == self.launch { again(repetition) }
        } catch {
            await report(error, peripheral, of: launch)
        }
    }

    /// An app of the phone is in another state: its scan may be another, and what was held goes on from now.
    func appChanged() {
        reportScan()
        guard !held.isEmpty || waits.isHeld, isAppRunning else { return }
        for (entry, number) in waits.takeHeld() {
            act(in: nil) { $0.waited(number, for: entry, into: &$1) }
        }
        let all = held
        held = []
        for repetition in all { again(repetition) }
    }

    /// Writes nothing again on the links to these devices.
    private func stopWriting(to isMeant: (PeripheralIdentifier) -> Bool = { _ in true }) {
        for (repetition, timer) in timers.pairs where isMeant(repetition.device) {
            timer.cancel()
            timers[repetition] = nil
        }
        held.removeAll { isMeant($0.device) }
    }

    // MARK: Reports

    /// The phone's scan may be another than was reported.
    func reportScan() {
        if isBegun, let manager { report(manager.scanStatus) }
    }

    private func report(_ new: ScanStatus?) {
        defer { scan = new }
        guard let name = DeviceEvent.Name(from: scan, to: new), let shown = new ?? scan else { return }
        events.report(name, .scan(.init(shown)))
    }

    private func report(
        _ name: DeviceEvent.Name, _ peripheral: Peripheral, isQueued: Bool = false,
        _ payload: (EventPeripheral) -> EventPayload
    ) {
        guard events.isObserved else { return }
        events.report(
            name, payload(eventPeripheral(peripheral)),
            isQueued: isQueued || player.appSide.isDeliveringQueued)
    }

    /// A device of an entry, or another one, as events have it.
    func eventPeripheral(_ peripheral: Peripheral) -> EventPeripheral {
        let entry = script.entry(of: peripheral.identifier)
        return EventPeripheral(peripheral, alias: entry.map { central.peripherals[$0].name })
    }

    /// The address of the device that an entry of this name has or had last; `nil` if it never had one.
    func address(of name: String) -> DeviceAddress? {
        central.peripherals.firstIndex { $0.name == name }.flatMap { addresses[$0] }
    }

    /// A peripheral that was found at an address.
    func peripheral(at address: DeviceAddress) -> Peripheral? {
        peripherals.values.filter { $0.address == address }
            .min { $0.identifier.description < $1.identifier.description }
    }
}
