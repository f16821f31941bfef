import MynahCore
import MynahLifecycle
import MynahProfiles

/// The behaviour of an app with one central manager: its devices, and its scans.
///
/// The script refers to no manager: the player passes events in and carries out the actions. The script's
/// knowledge of devices outlives the app's process, as an app's saved data does.
///
/// Each entry of the profile connects to its device by a plan of its own. The plan begins when Bluetooth is
/// on, and after a disconnection if the profile requires it. For an entry that never had a device, the app
/// always scans.
struct CentralScript {
    enum Action: Hashable {
        /// Registers for the connection events of devices with one of these services, or of all devices if
        /// there are none.
        case registerForConnectionEvents([BluetoothUUID])
        case startScan
        case stopScan
        /// Calls retrievePeripherals(withIdentifiers:), whose result goes to `retrieved`.
        case retrieveKnown([PeripheralIdentifier], entry: Int)
        /// Calls retrieveConnectedPeripherals(withServices:), whose result goes to `retrieved`.
        case retrieveConnected([BluetoothUUID], entry: Int)
        /// Calls `waited` with this number after this time.
        case wait(UInt64, Duration, entry: Int)
        /// Requests a connection to the device of an entry.
        case connect(PeripheralIdentifier, entry: Int)
        /// Does the entry's work on a link.
        case work(PeripheralIdentifier, entry: Int)
        /// Cancels a connection, active or pending.
        case cancel(PeripheralIdentifier)
    }

    /// The data of a device that is compared with the entries.
    struct Heard {
        /// The services that the device advertises, in its list or in its overflow area.
        var services: Set<BluetoothUUID>
        var localName: String?
        var rssi: Int?
    }

    /// The state of an entry of the profile, and of its device.
    private struct Entry {
        enum Link {
            case none
            /// A connection was requested, but not by the plan.
            case wanted(PeripheralIdentifier)
            case connected(PeripheralIdentifier)
            /// The app's work with the device is finished.
            case finished
        }

        var plan = ReconnectPlan([])
        var link = Link.none
        /// The entry's last device, whose identifier the app has saved.
        var saved: PeripheralIdentifier?
        /// The device that was discovered since the plan began.
        var discovered: PeripheralIdentifier?
        /// `true` if the app has connected the device since the scan began.
        var hasConnected = false
        /// Whether the app has given up because the device has lost its bond.
        var hasLostBond = false
        /// Whether the work that an earlier process began on the link must be continued.
        var isToResume = false
        /// The current wait of the plan: its number for the player, and its number in the plan.
        var wait: (number: UInt64, own: UInt64)?

        /// Whether nothing is requested for the entry.
        var isIdle: Bool { if case .none = link { !plan.isTrying } else { false } }

        /// Whether a device belongs to the entry: it was its last one, was discovered for it, or is waited
        /// for.
        func holds(_ device: PeripheralIdentifier) -> Bool {
            saved == device || discovered == device || plan.isPending(device)
        }

        /// Returns whether the entry accepts a discovered device.
        func takesDevice(connects: Bool) -> Bool {
            guard case .none = link, discovered == nil else { return false }
            return connects ? !plan.isTrying || plan.isScanning : saved == nil
        }

        /// Whether the entry's device must be found by the scan.
        var awaitsScan: Bool {
            if plan.isTrying { return plan.isScanning }
            if case .finished = link { return false }
            return !hasConnected
        }
    }

    private let central: Profile.Central
    private var entries: [Entry]
    /// The entry that each device is assigned to.
    private var owners: [PeripheralIdentifier: Int] = [:]
    /// Whether this process of the app has registered for connection events.
    private var isRegistered = false
    private var isPoweredOn = false
    private var isScanning = false
    private var lastWait: UInt64 = 0
    /// Whether the app's user wants the app to scan; `nil` if the profile decides.
    private var userWish: Bool?

    init(_ central: Profile.Central) {
        self.central = central
        entries = central.peripherals.map { _ in Entry() }
    }

    /// The entry that a device is assigned to, or `nil` if there is none.
    func entry(of device: PeripheralIdentifier) -> Int? { owners[device] }

    /// The device that was last assigned to an entry, or `nil` if none ever was.
    func device(of entry: Int) -> PeripheralIdentifier? { entries[entry].saved }

    /// The last device of each entry.
    var devices: [PeripheralIdentifier?] { entries.map(\.saved) }

    /// The entry that a device belongs to, so that no other entry may use it.
    private func holder(of device: PeripheralIdentifier) -> Int? {
        owners[device].flatMap { entries[$0].holds(device) ? $0 : nil }
    }

    private func connects(_ index: Int) -> Bool { central.peripherals[index].connection != nil }

    // MARK: The app

    /// Begins with a new process of the app.
    mutating func launched() {
        userWish = nil
        isRegistered = false
        forgetLinks()
    }

    /// The identifiers that the app has saved, by the names of their entries.
    var saved: [String: PeripheralIdentifier] {
        zip(central.peripherals, entries).reduce(into: [:]) { saved, pair in
            saved[pair.0.name] = pair.1.saved
        }
    }

    /// Loads the identifiers that the app saved in an earlier process.
    mutating func recall(_ saved: [String: PeripheralIdentifier]) {
        for (index, peripheral) in central.peripherals.enumerated() where entries[index].saved == nil {
            if let device = saved[peripheral.name], owners[device] == nil { give(device, to: index) }
        }
    }

    /// Assigns the first matching entry to each preserved device without one, as after a restart of the
    /// phone.
    ///
    /// Their RSSI is not preserved, so an entry's minimum is ignored.
    mutating func recognize(_ kept: [(device: PeripheralIdentifier, known: Heard)]) {
        for (device, known) in kept where owners[device] == nil {
            let index = entries.indices.first { index in
                var match = central.peripherals[index].match
                match.rssi = nil
                return entries[index].saved == nil && match.matches(known)
            }
            if let index { give(device, to: index) }
        }
    }

    /// Handles restored state: a scan, active connections and pending ones.
    ///
    /// When Bluetooth is on, the app continues its work on active connections, and its scan. A device with a
    /// pending connection is already assigned to its entry, and is not scanned for.
    mutating func restored(
        isScanning: Bool, connected: [PeripheralIdentifier], wanted: [PeripheralIdentifier]
    ) {
        self.isScanning = isScanning
        for device in connected {
            guard let index = owners[device] else { continue }
            entries[index].link = .connected(device)
            entries[index].hasConnected = true
            entries[index].isToResume = true
        }
        for device in wanted {
            guard let index = owners[device] else { continue }
            entries[index].link = .wanted(device)
            entries[index].hasConnected = true
            entries[index].isToResume = isScanning
        }
        for index in entries.indices where isScanning && entries[index].saved == nil {
            entries[index].isToResume = true
        }
    }

    private mutating func forgetLinks() {
        isPoweredOn = false
        isScanning = false
        for index in entries.indices {
            entries[index] = Entry(saved: entries[index].saved)
        }
    }

    // MARK: Events

    /// Handles that Bluetooth was turned on or off.
    mutating func powered(_ isOn: Bool, into actions: inout [Action]) {
        guard isOn else { return forgetLinks() }
        guard !isPoweredOn else { return }
        isPoweredOn = true
        if let services = central.connectionEvents, !isRegistered {
            isRegistered = true
            actions.append(.registerForConnectionEvents(services))
        }
        for index in entries.indices {
            if entries[index].isToResume {
                resume(index, into: &actions)
            } else if entries[index].isIdle {
                reconnect(index, into: &actions)
            }
        }
        updateScan(into: &actions)
    }

    /// Continues the work that an earlier process began for an entry.
    private mutating func resume(_ index: Int, into actions: inout [Action]) {
        entries[index].isToResume = false
        switch entries[index].link {
        case .connected(let device): actions.append(.work(device, entry: index))
        case .wanted(let device):
            let ways = ways(to: index)
            guard ways.joined().contains(.scan) else { break }
            entries[index].link = .none
            entries[index].plan = ReconnectPlan(ways)
            plan(index, into: &actions) { $0.resume(pending: [device], into: &$1) }
        case .none where connects(index):
            entries[index].plan = ReconnectPlan(ways(to: index))
            plan(index, into: &actions) { $0.resume(pending: [], into: &$1) }
        case .none, .finished: break
        }
    }

    /// Handles a received advertisement: assigns the device to the first entry that matches it and has no
    /// device.
    mutating func heard(_ device: PeripheralIdentifier, _ heard: Heard, into actions: inout [Action]) {
        if let index = holder(of: device) {
            found(device, index, into: &actions)
        } else {
            let index = entries.indices.first { index in
                entries[index].takesDevice(connects: connects(index))
                    && central.peripherals[index].match.matches(heard)
            }
            guard let index else { return }
            give(device, to: index)
            found(device, index, into: &actions)
        }
        updateScan(into: &actions)
    }

    /// Handles that an entry's device was received.
    private mutating func found(_ device: PeripheralIdentifier, _ index: Int, into actions: inout [Action]) {
        entries[index].discovered = device
        guard isPoweredOn, connects(index) else { return }
        if entries[index].isIdle {
            entries[index].link = .wanted(device)
            actions.append(.connect(device, entry: index))
        } else {
            plan(index, into: &actions) { $0.discovered(device, into: &$1) }
        }
    }

    /// Handles the result of a retrieve call for an entry: devices, and their names if they are known.
    mutating func retrieved(
        _ way: ReconnectWay, _ devices: [(device: PeripheralIdentifier, name: String?)], for index: Int,
        into actions: inout [Action]
    ) {
        let match = central.peripherals[index].match
        let own = devices.filter { device, name in
            if let holder = holder(of: device) { return holder == index }
            return match.localName == nil || match.localName == name
        }
        plan(index, into: &actions) { $0.retrieved(way, own.map(\.device), into: &$1) }
        updateScan(into: &actions)
    }

    /// Handles that a wait is over.
    mutating func waited(_ wait: UInt64, for index: Int, into actions: inout [Action]) {
        guard let own = entries[index].wait, own.number == wait else { return }
        plan(index, into: &actions) { $0.waited(own.own, into: &$1) }
        updateScan(into: &actions)
    }

    mutating func connected(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners[device] else { return }
        // One that came about before the plan could cancel it.
        if case .connected(let other) = entries[index].link, other != device { return }
        // The app was launched for this connection, and goes on with its work already.
        let isWorking = if case .connected = entries[index].link { !entries[index].isToResume } else { false }
        entries[index].isToResume = false
        entries[index].saved = device
        entries[index].link = .connected(device)
        entries[index].hasConnected = true
        var after: [Action] = []
        plan(index, into: &after) { $0.connected(device, into: &$1) }
        updateScan(into: &actions)
        actions += after
        if !isWorking { actions.append(.work(device, entry: index)) }
    }

    /// Handles a failed connection: the app tries the next way, and connects the device again when it is
    /// received again.
    mutating func failed(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners[device] else { return }
        if entries[index].discovered == device { entries[index].discovered = nil }
        if case .wanted(device) = entries[index].link {
            entries[index].link = .none
            reconnect(index, into: &actions)
        } else {
            plan(index, into: &actions) { $0.failed(device, into: &$1) }
        }
        updateScan(into: &actions)
    }

    /// Handles the end of a connection; `isReconnecting` is `true` if the system connects again by itself.
    mutating func disconnected(
        _ device: PeripheralIdentifier, isReconnecting: Bool, into actions: inout [Action]
    ) {
        guard let index = owners[device] else { return }
        switch entries[index].link {
        case .connected(device), .wanted(device): break
        // A connection that the plan gave up, or one that the app is done with.
        case .connected, .wanted, .none, .finished: return
        }
        entries[index].discovered = nil
        plan(index, into: &actions) { plan, _ in plan.disconnected(device) }
        guard !isReconnecting else { return entries[index].link = .wanted(device) }
        switch central.peripherals[index].onDisconnect {
        case .nothing: entries[index].link = .finished
        case .connect:
            entries[index].link = .wanted(device)
            actions.append(.connect(device, entry: index))
        case .reconnect:
            entries[index].link = .none
            reconnect(index, into: &actions)
            updateScan(into: &actions)
        }
    }

    /// Handles a device with a lost bond: the app gives it up until its user has forgotten it in Settings.
    mutating func lostBond(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners[device] else { return }
        entries[index].plan = ReconnectPlan([])
        entries[index].wait = nil
        entries[index].link = .finished
        entries[index].hasLostBond = true
        updateScan(into: &actions)
    }

    /// Handles that the user has forgotten a device in Settings: an app that had given it up connects it
    /// again.
    mutating func forgotten(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners[device], entries[index].hasLostBond else { return }
        entries[index].hasLostBond = false
        entries[index].link = .none
        reconnect(index, into: &actions)
        updateScan(into: &actions)
    }

    /// Handles that the user has picked a device for an entry with AccessorySetupKit: the app saves its
    /// identifier, and connects it like a known device.
    mutating func picked(_ device: PeripheralIdentifier, for index: Int, into actions: inout [Action]) {
        if let before = owners[device], before != index { removed(device, into: &actions) }
        if let other = entries[index].saved, other != device { owners[other] = nil }
        owners[device] = index
        entries[index].saved = device
        if entries[index].isIdle { reconnect(index, into: &actions) }
        updateScan(into: &actions)
    }

    /// Gives up the link to a device, or the wait for it, because it is about to be removed from the app's
    /// accessories.
    mutating func letGo(_ device: PeripheralIdentifier) {
        guard let index = owners[device] else { return }
        entries[index].plan = ReconnectPlan([])
        entries[index].wait = nil
        entries[index].link = .finished
    }

    /// Handles that a device was removed from the app's accessories: its entry may get another one.
    mutating func removed(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners.removeValue(forKey: device) else { return }
        entries[index] = Entry()
        updateScan(into: &actions)
    }

    /// Handles that all work of an entry was done on a link; `isSubscribed` is `true` if values may still
    /// arrive.
    mutating func done(
        _ device: PeripheralIdentifier, isSubscribed: Bool, into actions: inout [Action]
    ) {
        guard let index = owners[device], case .connected(device) = entries[index].link, !isSubscribed,
            central.peripherals[index].whenDone == .disconnect
        else { return }
        entries[index].link = .finished
        actions.append(.cancel(device))
    }

    /// Starts or stops the scan for the app's user, whose choice then stays in force.
    mutating func userWants(_ isScanWanted: Bool, into actions: inout [Action]) {
        userWish = isScanWanted
        updateScan(into: &actions)
    }

    // MARK: Consequences

    private mutating func give(_ device: PeripheralIdentifier, to index: Int) {
        owners[device] = index
        if entries[index].saved == nil { entries[index].saved = device }
    }

    /// Begins to connect an entry's device in the first of its ways.
    private mutating func reconnect(_ index: Int, into actions: inout [Action]) {
        guard isPoweredOn, connects(index) else { return }
        entries[index].plan = ReconnectPlan(ways(to: index))
        entries[index].discovered = nil
        plan(index, into: &actions) { $0.begin(into: &$1) }
    }

    /// The ways to connect the device of an entry, in their order.
    private func ways(to index: Int) -> [[ReconnectWay]] {
        var ways = central.reconnect
        if entries[index].saved == nil, !ways.joined().contains(.scan) { ways.append([.scan]) }
        if central.scan == nil { ways = ways.map { $0.filter { $0 != .scan } } }
        return ways
    }

    /// Changes the plan of an entry, and adds its actions; the scan is shared by all entries.
    private mutating func plan(
        _ index: Int, into actions: inout [Action],
        _ body: (inout ReconnectPlan, inout [ReconnectPlan.Action]) -> Void
    ) {
        var steps: [ReconnectPlan.Action] = []
        // Of a stage that gave way at once, the wait means nothing.
        var wait: (number: UInt64, time: Duration)?
        body(&entries[index].plan, &steps)
        while !steps.isEmpty {
            switch steps.removeFirst() {
            case .retrieveKnown:
                if let saved = entries[index].saved {
                    actions.append(.retrieveKnown([saved], entry: index))
                } else {
                    entries[index].plan.retrieved(.known, [], into: &steps)
                }
            case .retrieveConnected:
                let own = central.peripherals[index].match.services
                let services = own.isEmpty ? central.scan?.services ?? [] : own
                if services.isEmpty {
                    entries[index].plan.retrieved(.connected, [], into: &steps)
                } else {
                    actions.append(.retrieveConnected(services, entry: index))
                }
            case .connect(let device):
                // Another entry may have taken it since it was retrieved.
                if let holder = holder(of: device), holder != index {
                    entries[index].plan.failed(device, into: &steps)
                } else {
                    owners[device] = index
                    actions.append(.connect(device, entry: index))
                }
            case .cancel(let device): actions.append(.cancel(device))
            case .wait(let number, let time): wait = (number, time)
            case .startScan:
                // One scan is for all entries, and reports a device once.
                if let device = entries[index].discovered {
                    entries[index].plan.discovered(device, into: &steps)
                }
            case .stopScan, .exhausted: break
            }
        }
        guard let wait else { return }
        lastWait += 1
        entries[index].wait = (lastWait, wait.number)
        actions.append(.wait(lastWait, wait.time, entry: index))
    }

    private mutating func updateScan(into actions: inout [Action]) {
        let isWanted = isPoweredOn && central.scan.map { userWish ?? isNeeded(until: $0.end) } ?? false
        guard isWanted != isScanning else { return }
        isScanning = isWanted
        actions.append(isWanted ? .startScan : .stopScan)
    }

    private func isNeeded(until end: Profile.Central.Scan.End) -> Bool {
        let connecting = entries.indices.filter(connects)
        switch end {
        case .never: return true
        case .found:
            return entries.isEmpty
                || entries.indices.contains { index in
                    connects(index)
                        ? entries[index].awaitsScan && entries[index].discovered == nil
                        : entries[index].saved == nil
                }
        case .connected:
            return connecting.isEmpty || connecting.contains { entries[$0].awaitsScan }
        }
    }
}

extension Profile.Central.Match {
    /// Whether a received device matches this entry of the profile.
    func matches(_ heard: CentralScript.Heard) -> Bool {
        guard services.allSatisfy(heard.services.contains) else { return false }
        if let localName, localName != heard.localName { return false }
        if let rssi { return heard.rssi.map { $0 >= rssi } ?? false }
        return true
    }
}
