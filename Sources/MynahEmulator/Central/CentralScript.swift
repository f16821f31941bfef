import MynahCore
import MynahLifecycle
import MynahProfiles

/// The behaviour of an app with one central manager: which devices it connects to, and when it scans.
///
/// The script has no reference to a manager: `CentralPlayer` passes events in, and carries out the returned
/// actions. Its saved devices outlive the app's process, as an app's saved data does.
///
/// Each profile entry connects to its device by its own plan. The plan begins when Bluetooth is on, and
/// after a disconnection if the profile requires it. For an entry that never had a device, the app always
/// scans.
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
        /// Starts a timer; the player must call `waited` with this number when it fires.
        case wait(UInt64, Duration, entry: Int)
        /// Requests a connection to the device of an entry.
        case connect(PeripheralIdentifier, entry: Int)
        /// Carries out the entry's reads, subscriptions and writes on a link.
        case work(PeripheralIdentifier, entry: Int)
        /// Cancels a connection, active or pending.
        case cancel(PeripheralIdentifier)
    }

    /// The data of a discovered device that is compared with the profile entries.
    struct Heard {
        /// The services that the device advertises, in its lists of services or in its overflow area.
        var services: Set<BluetoothUUID>
        var localName: String?
        var rssi: Int?
    }

    /// The state of a profile entry and of its device.
    private struct Entry {
        enum Link {
            case none
            /// A connection is pending that the plan did not request: the app or the system reconnects after
            /// a disconnection.
            case wanted(PeripheralIdentifier)
            case connected(PeripheralIdentifier)
            /// The app's work with the device is finished.
            case finished
        }

        var plan = ReconnectPlan([])
        var link = Link.none
        /// The device that was last assigned to the entry; the app has saved its identifier.
        var saved: PeripheralIdentifier?
        /// The device that was discovered since the plan began, or `nil` if there is none.
        var discovered: PeripheralIdentifier?
        /// `true` if the app has connected to the device since the scan began.
        var hasConnected = false
        /// `true` if the app stopped connecting to the device, because the device has deleted its bond.
        var hasLostBond = false
        /// `true` if the app must continue the work that an earlier process began on the link.
        var isToResume = false
        /// The timer of the plan: its number in the script, and its number in the plan (`own`).
        var wait: (number: UInt64, own: UInt64)?

        /// `true` if the entry has no link, and its plan does not try to connect.
        var isIdle: Bool { if case .none = link { !plan.isTrying } else { false } }

        /// Whether a device belongs to the entry.
        ///
        /// This is the saved device, the discovered device, or one to which the plan has a pending
        /// connection.
        func holds(_ device: PeripheralIdentifier) -> Bool {
            saved == device || discovered == device || plan.isPending(device)
        }

        /// Whether the entry accepts a newly discovered device.
        ///
        /// `connects` is `false` if the app only reports the devices of this entry, without connecting to
        /// them.
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
    /// The index of the entry that each device is assigned to.
    private var owners: [PeripheralIdentifier: Int] = [:]
    /// Whether the app's current process has registered for connection events.
    private var isRegistered = false
    private var isPoweredOn = false
    private var isScanning = false
    private var lastWait: UInt64 = 0
    /// Whether the app's user wants to scan, or `nil` if the user has not chosen and the profile decides.
    private var userWish: Bool?

    init(_ central: Profile.Central) {
        self.central = central
        entries = central.peripherals.map { _ in Entry() }
    }

    /// Returns the index of the entry that a device is assigned to, or `nil` if there is none.
    func entry(of device: PeripheralIdentifier) -> Int? { owners[device] }

    /// Returns the device that was last assigned to an entry, or `nil` if none ever was.
    func device(of entry: Int) -> PeripheralIdentifier? { entries[entry].saved }

    /// The saved device of each entry, in the order of the entries.
    var devices: [PeripheralIdentifier?] { entries.map(\.saved) }

    /// Returns the entry that a device belongs to, or `nil` if any entry may use the device.
    private func holder(of device: PeripheralIdentifier) -> Int? {
        owners[device].flatMap { entries[$0].holds(device) ? $0 : nil }
    }

    private func connects(_ index: Int) -> Bool { central.peripherals[index].connection != nil }

    // MARK: The app

    /// Resets the state for a new process of the app.
    mutating func launched() {
        userWish = nil
        isRegistered = false
        forgetLinks()
    }

    /// The identifiers that the app has saved, by the names of the entries.
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

    /// Assigns preserved devices that have no entry, each to the first entry that matches.
    ///
    /// This happens after a restart of the phone. RSSIs are not preserved, so the minimum RSSI of an entry
    /// is ignored.
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

    /// Handles restored state: a scan, and active (`connected`) and pending (`wanted`) connections.
    ///
    /// When Bluetooth is on, the app continues its scan, and its work on active connections. A device with a
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

    /// Handles a change of the Bluetooth state.
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

    /// Handles an advertisement of an entry's device.
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

    /// Handles the result of a retrieve call for an entry: the devices, each with its name if it is known.
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

    /// Handles the end of a timer that the script started with `wait`.
    mutating func waited(_ wait: UInt64, for index: Int, into actions: inout [Action]) {
        guard let own = entries[index].wait, own.number == wait else { return }
        plan(index, into: &actions) { $0.waited(own.own, into: &$1) }
        updateScan(into: &actions)
    }

    mutating func connected(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners[device] else { return }
        // This connection was established before the plan could cancel it.
        if case .connected(let other) = entries[index].link, other != device { return }
        // The app was launched for this connection, and is already working on it.
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

    /// Handles a failed connection.
    ///
    /// The app then tries the next way to connect. It also connects when it receives another advertisement of
    /// the device.
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
        // The plan gave this connection up, or the app has finished its work with the device.
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

    /// Stops connecting to a device that has deleted its bond, until the user has forgotten the device in
    /// Settings.
    mutating func lostBond(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners[device] else { return }
        entries[index].plan = ReconnectPlan([])
        entries[index].wait = nil
        entries[index].link = .finished
        entries[index].hasLostBond = true
        updateScan(into: &actions)
    }

    /// Handles that the user has forgotten a device in Settings.
    ///
    /// The app connects to the device again if `lostBond` had stopped that.
    mutating func forgotten(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners[device], entries[index].hasLostBond else { return }
        entries[index].hasLostBond = false
        entries[index].link = .none
        reconnect(index, into: &actions)
        updateScan(into: &actions)
    }

    /// Handles that the user picked a device for an entry with AccessorySetupKit.
    ///
    /// The app saves the device's identifier, and connects to it like a device that it already knew.
    mutating func picked(_ device: PeripheralIdentifier, for index: Int, into actions: inout [Action]) {
        if let before = owners[device], before != index { removed(device, into: &actions) }
        if let other = entries[index].saved, other != device { owners[other] = nil }
        owners[device] = index
        entries[index].saved = device
        if entries[index].isIdle { reconnect(index, into: &actions) }
        updateScan(into: &actions)
    }

    /// Ends the plan and the link of a device that is about to be removed from the app's accessories.
    mutating func letGo(_ device: PeripheralIdentifier) {
        guard let index = owners[device] else { return }
        entries[index].plan = ReconnectPlan([])
        entries[index].wait = nil
        entries[index].link = .finished
    }

    /// Handles the removal of a device from the app's accessories; its entry can be assigned another device.
    mutating func removed(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let index = owners.removeValue(forKey: device) else { return }
        entries[index] = Entry()
        updateScan(into: &actions)
    }

    /// Handles the completion of an entry's work on a link.
    ///
    /// `isSubscribed` is `true` if the peripheral may still send values.
    mutating func done(
        _ device: PeripheralIdentifier, isSubscribed: Bool, into actions: inout [Action]
    ) {
        guard let index = owners[device], case .connected(device) = entries[index].link, !isSubscribed,
            central.peripherals[index].whenDone == .disconnect
        else { return }
        entries[index].link = .finished
        actions.append(.cancel(device))
    }

    /// Starts or stops the scan for the app's user, and remembers the choice.
    mutating func userWants(_ isScanWanted: Bool, into actions: inout [Action]) {
        userWish = isScanWanted
        updateScan(into: &actions)
    }

    // MARK: Consequences

    private mutating func give(_ device: PeripheralIdentifier, to index: Int) {
        owners[device] = index
        if entries[index].saved == nil { entries[index].saved = device }
    }

    /// Starts a new plan to connect to an entry's device.
    private mutating func reconnect(_ index: Int, into actions: inout [Action]) {
        guard isPoweredOn, connects(index) else { return }
        entries[index].plan = ReconnectPlan(ways(to: index))
        entries[index].discovered = nil
        plan(index, into: &actions) { $0.begin(into: &$1) }
    }

    /// Returns the ways to connect to an entry's device, in the order in which the app tries them.
    private func ways(to index: Int) -> [[ReconnectWay]] {
        var ways = central.reconnect
        if entries[index].saved == nil, !ways.joined().contains(.scan) { ways.append([.scan]) }
        if central.scan == nil { ways = ways.map { $0.filter { $0 != .scan } } }
        return ways
    }

    /// Changes the plan of an entry by `body`, and appends the actions that the plan requests.
    ///
    /// Requests to start or stop the scan are not appended, because all entries share one scan.
    private mutating func plan(
        _ index: Int, into actions: inout [Action],
        _ body: (inout ReconnectPlan, inout [ReconnectPlan.Action]) -> Void
    ) {
        var steps: [ReconnectPlan.Action] = []
        // The wait of a stage that ended at once is obsolete.
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
                // The device may have been assigned to another entry since it was retrieved.
                if let holder = holder(of: device), holder != index {
                    entries[index].plan.failed(device, into: &steps)
                } else {
                    owners[device] = index
                    actions.append(.connect(device, entry: index))
                }
            case .cancel(let device): actions.append(.cancel(device))
            case .wait(let number, let time): wait = (number, time)
            case .startScan:
                // All entries share one scan, which reports each device only once.
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
    /// Whether a discovered device matches this profile entry.
    func matches(_ heard: CentralScript.Heard) -> Bool {
        guard services.allSatisfy(heard.services.contains) else { return false }
        if let localName, localName != heard.localName { return false }
        if let rssi { return heard.rssi.map { $0 >= rssi } ?? false }
        return true
    }
}
