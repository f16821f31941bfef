import MynahCore
import MynahLifecycle

/// Judges what a phone does with its apps, from the numbered rules of Core Bluetooth alone.
///
/// It is told what the user, the apps' code and the air did (`Input`), and what the apps and the radio were
/// told (`Output`). It knows no type of the phone, the apps or their machines: what it expects follows from
/// its own account. Events that the rules leave open are allowed and not expected.
struct PhoneWatcher {
    typealias Device = DeviceAddress
    typealias AppIndex = Int

    /// The rules that it judges.
    ///
    /// `RuleTableTests` names the tests of the others.
    static let rules: Set<Int> = [
        1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 16, 17, 29, 30, 31, 32, 34, 35, 37, 39, 40, 44, 45, 51, 52,
        55, 57,
    ]

    /// An event of the phone.
    enum Input: Hashable {
        case user(AppIndex, AppTransition)
        /// Calls of an app's code.
        case connect(AppIndex, Device), cancel(AppIndex, Device)
        case scan(AppIndex, services: [BluetoothUUID], allowsDuplicates: Bool), stopScan(AppIndex)
        /// A call that returned: the app is subscribed to a device's value, or is not any more.
        case notify(AppIndex, Device, Bool)
        /// A call that returned.
        case publish(AppIndex), advertise(AppIndex), stopAdvertising(AppIndex)
        /// Events from the air.
        case linked(Device), lost(Device), value(UInt16, Device), heard(Device, content: Int), power(Bool)
        /// A central reads the dynamic value of an app.
        case read(AppIndex)
        /// Answers to what apps have read come.
        case answers
    }

    /// An event for an app, in order.
    enum Output: Hashable {
        case launched(inBackground: Bool, central: [String], peripheral: [String])
        case foreground, background, suspended, woken(BluetoothEvent), ended
        case restored(Set<Device>, scan: [BluetoothUUID]?), state(Bool)
        case peripheralRestored(advertises: Bool), peripheralState
        /// An answer to a call of the process that began with this launch.
        case answered(launch: Int)
        case event(Event)
    }

    /// An event that an app must get, each once and in order.
    enum Event: Hashable {
        case state(Bool), connected(Device, isLocal: Bool), disconnected(Device, wasPending: Bool)
        case value(UInt16), discovered(Device, content: Int), read

        var role: BluetoothRole { self == .read ? .peripheral : .central }
    }

    /// The radio's state once everything has settled.
    struct Air: Hashable {
        var wanted: Set<Device> = []
        var links: Set<Device> = []
        var scans = false
        /// Whether the scan is as fast as that of an app in the foreground.
        var scansFast = false
        var advertises = false
        /// The apps whose services centrals find.
        var published: Set<AppIndex> = []
    }

    enum Place: Hashable {
        case notRunning, foreground, background, suspended, terminated, quit
    }

    struct Scan: Hashable {
        var services: [BluetoothUUID]
        var allowsDuplicates: Bool
        /// The last report of each device to this scan.
        var reported: [Device: Int] = [:]
        /// Devices of which the rules do not say whether they are reported again.
        var unsure: Set<Device> = []
    }

    struct App: Hashable {
        let modes: Set<BluetoothRole>
        let identifiers: [BluetoothRole: String]
        var place = Place.notRunning
        /// Connections that it waits for, and those that it has.
        var asked: Set<Device> = []
        var linked: Set<Device> = []
        var subscribed: Set<Device> = []
        /// Subscriptions that may have come back with the link.
        var maySubscribe: Set<Device> = []
        var scan: Scan?
        var advertises = false
        var publishes = false
        var owed: [Event] = []
        /// The events that it may or may not get.
        var allowed: Set<Event> = []
        /// Managers of this launch that have their first call, and those that were restored.
        var ready: Set<BluetoothRole> = []
        var restored: Set<BluetoothRole> = []
        /// The event that relaunched it.
        var isJustLaunched = false
        /// How often it was launched.
        var launches = 0

        var runs: Bool { place == .foreground || place == .background }

        /// Whether the system works on for it after it has ended it.
        func isKept(_ role: BluetoothRole) -> Bool { modes.contains(role) && identifiers[role] != nil }

        /// Whether what it scans for is heard.
        var isHearing: Bool {
            guard let scan else { return false }
            switch place {
            case .foreground: return true
            case .background, .suspended: return modes.contains(.central) && !scan.services.isEmpty
            case .terminated: return isKept(.central) && !scan.services.isEmpty
            case .notRunning, .quit: return false
            }
        }

        /// Whether the system holds its services.
        var isThere: Bool {
            switch place {
            case .foreground, .background, .suspended: true
            case .terminated: isKept(.peripheral)
            case .notRunning, .quit: false
            }
        }

        /// Whether its advertisement is on the air, and its dynamic values are answered.
        var isServed: Bool {
            switch place {
            case .foreground: true
            case .background, .suspended: modes.contains(.peripheral)
            case .terminated: isKept(.peripheral)
            case .notRunning, .quit: false
            }
        }
    }

    private(set) var apps: [App]
    private(set) var broken: [String] = []
    private(set) var isOn = false
    private var input: Input?
    /// The kinds of what was seen, so that histories in which nothing happens are found.
    private(set) var seen: Set<String> = []
    /// The last input and output, to read beside a broken rule.
    private(set) var last: [String] = []

    init(_ apps: [App]) { self.apps = apps }

    mutating func note(_ rule: Int, _ index: AppIndex?, _ text: String) {
        precondition(Self.rules.contains(rule))
        let app = index.map { "app \($0): " } ?? ""
        broken.append("R\(rule), \(app)\(text), after \(input.map { "\($0)" } ?? "nothing")")
    }

    /// The expected state of the air, once the radio has carried out its requests.
    var air: Air {
        var air = Air()
        air.published = Set(apps.indices.filter { apps[$0].publishes && apps[$0].isThere })
        guard isOn else { return air }
        let linked = apps.reduce(into: Set<Device>()) { $0.formUnion($1.linked) }
        air.links = linked
        air.wanted = apps.reduce(into: Set<Device>()) { $0.formUnion($1.asked) }.subtracting(linked)
        // A pending connection is served by listening.
        let listening = apps.filter { $0.isHearing || !$0.asked.isSubset(of: linked) }
        air.scans = !listening.isEmpty
        air.scansFast = listening.contains { $0.place == .foreground }
        air.advertises = apps.contains { $0.advertises && $0.isServed }
        return air
    }

    /// The rule that an air breaks which does not become as it has to be.
    mutating func judge(_ found: Air) {
        let due = air
        if found.wanted != due.wanted {
            note(29, nil, "the phone waits for \(found.wanted), and is to wait for \(due.wanted)")
        }
        if found.links != due.links {
            note(45, nil, "links are \(found.links), and apps hold \(due.links)")
        }
        if found.published != due.published {
            note(30, nil, "the services of apps \(found.published) are there, and not of \(due.published)")
        }
        if found.scans != due.scans { note(due.scans ? 10 : 1, nil, "the phone scans: \(found.scans)") }
        if found.scansFast != due.scansFast { note(13, nil, "the phone scans fast: \(found.scansFast)") }
        if found.advertises != due.advertises {
            note(due.advertises ? 17 : 1, nil, "the phone advertises: \(found.advertises)")
        }
    }
}

// Events of the phone, and the events that apps must get for them.
extension PhoneWatcher {
    mutating func take(_ input: Input) {
        keep("\(input)")
        self.input = input
        for index in apps.indices { apps[index].isJustLaunched = false }
        switch input {
        case .user(let index, let transition): end(index, transition)
        case .connect(let index, let device): connect(index, device)
        case .cancel(let index, let device): cancel(index, device)
        case .scan(let index, let services, let allowsDuplicates):
            guard apps[index].runs, isOn else { break }
            var scan = Scan(services: services, allowsDuplicates: allowsDuplicates)
            // Whether a scan that begins in the background starts anew is not said.
            if apps[index].place == .background { scan.unsure = devices(of: index) }
            apps[index].scan = scan
        case .stopScan(let index): if apps[index].runs { apps[index].scan = nil }
        case .notify(let index, let device, let isOn):
            guard apps[index].linked.contains(device) else {
                // A device that is waited for and has been restored may be subscribed to again.
                if isOn { apps[index].maySubscribe.insert(device) }
                break
            }
            apps[index].maySubscribe.remove(device)
            if isOn { apps[index].subscribed.insert(device) } else { apps[index].subscribed.remove(device) }
        case .publish(let index): apps[index].publishes = true
        case .advertise(let index): apps[index].advertises = true
        case .stopAdvertising(let index): apps[index].advertises = false
        case .linked(let device):
            for index in apps.indices where apps[index].asked.remove(device) != nil {
                link(index, device, isLocal: false)
            }
        case .lost(let device):
            for index in apps.indices where apps[index].linked.remove(device) != nil {
                release(index, device)
                apps[index].owed.append(.disconnected(device, wasPending: false))
            }
        case .value(let number, let device):
            for index in apps.indices where apps[index].linked.contains(device) {
                if apps[index].subscribed.contains(device) {
                    apps[index].owed.append(.value(number))
                } else if apps[index].maySubscribe.contains(device) {
                    apps[index].allowed.insert(.value(number))
                }
            }
        case .heard(let device, let content):
            for index in apps.indices { hear(index, device, content) }
        case .power(let isOn): power(isOn)
        case .read(let index): if apps[index].isServed { apps[index].owed.append(.read) }
        case .answers: break
        }
    }

    private mutating func keep(_ text: String) {
        last.append(text)
        if last.count > 90 { last.removeFirst() }
    }

    /// Whether the devices of a scan are reported again is not said.
    private mutating func forgetReports(_ index: AppIndex) {
        guard let scan = apps[index].scan else { return }
        apps[index].scan?.unsure.formUnion(scan.reported.keys)
    }

    private func devices(of index: AppIndex) -> Set<Device> {
        guard let scan = apps[index].scan else {
            return Set((1...9).map { DeviceAddress(value: $0, kind: .public) })
        }
        return Set(scan.reported.keys).union(scan.unsure)
    }

    private mutating func end(_ index: AppIndex, _ transition: AppTransition) {
        let isKilled = transition == .terminate || transition == .crash
        guard isKilled && apps[index].place != .terminated || transition == .quit,
            apps[index].place != .notRunning, apps[index].place != .quit
        else { return }
        // Without a mode, or an identifier, the system does nothing for an app that has ended.
        if !isKilled || !apps[index].isKept(.central) {
            (apps[index].asked, apps[index].linked, apps[index].scan) = ([], [], nil)
            (apps[index].subscribed, apps[index].maySubscribe) = ([], [])
        }
        forgetReports(index)
        if !isKilled || apps[index].identifiers[.peripheral] == nil {
            (apps[index].advertises, apps[index].publishes) = (false, false)
        }
    }

    private mutating func connect(_ index: AppIndex, _ device: Device) {
        guard apps[index].runs, isOn, !apps[index].linked.contains(device) else { return }
        if apps.contains(where: { $0.linked.contains(device) }) {
            link(index, device, isLocal: true)
        } else {
            apps[index].asked.insert(device)
        }
    }

    private mutating func link(_ index: AppIndex, _ device: Device, isLocal: Bool) {
        apps[index].linked.insert(device)
        apps[index].owed.append(.connected(device, isLocal: isLocal))
        apps[index].scan?.unsure.insert(device)
    }

    private mutating func cancel(_ index: AppIndex, _ device: Device) {
        guard apps[index].runs else { return }
        if apps[index].linked.remove(device) != nil {
            release(index, device)
            apps[index].owed.append(.disconnected(device, wasPending: false))
        } else if apps[index].asked.remove(device) != nil {
            apps[index].owed.append(.disconnected(device, wasPending: true))
        }
    }

    private mutating func release(_ index: AppIndex, _ device: Device) {
        apps[index].subscribed.remove(device)
        apps[index].maySubscribe.remove(device)
    }

    private mutating func hear(_ index: AppIndex, _ device: Device, _ content: Int) {
        guard isOn, apps[index].isHearing, let scan = apps[index].scan else { return }
        let event = Event.discovered(device, content: content)
        if scan.allowsDuplicates, apps[index].place == .foreground {
            apps[index].owed.append(event)
        } else if scan.unsure.contains(device) {
            apps[index].allowed.insert(event)
            return
        } else if scan.reported[device] != content {
            apps[index].owed.append(event)
        }
        apps[index].scan?.reported[device] = content
    }

    private mutating func power(_ isOn: Bool) {
        self.isOn = isOn
        for index in apps.indices {
            let isAlive = apps[index].runs || apps[index].place == .suspended
            if !isOn {
                // A link that was up is no pending connection.
                let kept = apps[index].asked.subtracting(apps[index].linked)
                apps[index].maySubscribe.formUnion(apps[index].subscribed)
                apps[index].subscribed = []
                apps[index].linked = []
                apps[index].asked = isAlive ? [] : kept
                if isAlive { apps[index].scan = nil }
                forgetReports(index)
            }
            if isAlive { apps[index].owed.append(.state(isOn)) }
        }
    }
}

// Events of an app, and whether they are allowed.
extension PhoneWatcher {
    mutating func take(_ output: Output, of index: AppIndex) {
        keep("app \(index) is told \(output)")
        switch output {
        case .launched(let inBackground, let central, let peripheral):
            launch(index, inBackground, [.central: central, .peripheral: peripheral])
        case .foreground: comeToFront(index)
        case .background:
            guard apps[index].place == .foreground else { return note(4, index, "it leaves no screen") }
            apps[index].place = .background
        case .suspended:
            guard input == .user(index, .suspend) else { return note(5, index, "it is suspended at once") }
            apps[index].place = .suspended
        case .woken(let kind): wake(index, kind)
        case .ended:
            guard case .user(index, let transition) = input else { return note(3, index, "it ends") }
            apps[index].place = transition == .quit ? .quit : .terminated
            (apps[index].owed, apps[index].allowed, apps[index].ready, apps[index].restored) = (
                [], [], [], []
            )
        case .restored(let devices, let scan): restore(index, devices, scan)
        case .answered(let launch):
            if launch != apps[index].launches || !apps[index].runs {
                note(55, index, "an ended process is answered")
            }
        case .peripheralRestored(let advertises):
            if !apps[index].advertises, !apps[index].publishes {
                note(57, index, "its peripheral manager is restored with nothing")
            }
            guard apps[index].ready.isDisjoint(with: [.peripheral]),
                apps[index].restored.insert(.peripheral).inserted
            else { return note(37, index, "its peripheral manager is restored late") }
            guard advertises == apps[index].advertises, apps[index].identifiers[.peripheral] != nil else {
                return note(32, index, "its advertisement is restored: \(advertises)")
            }
        case .peripheralState: apps[index].ready.insert(.peripheral)
        case .state(let isOn): changeState(index, isOn)
        case .event(let event): tell(index, event)
        }
    }

    private mutating func launch(
        _ index: AppIndex, _ inBackground: Bool, _ named: [BluetoothRole: [String]]
    ) {
        let app = apps[index]
        guard !app.runs, app.place != .suspended else {
            return note(37, index, "it is launched while it lives")
        }
        if inBackground {
            guard app.place == .terminated, app.isKept(.central) || app.isKept(.peripheral) else {
                return note(30, index, "nothing relaunches it")
            }
            for role in [BluetoothRole.central, .peripheral] {
                let identifiers = app.isKept(role) ? app.identifiers[role].map { [$0] } ?? [] : []
                // A manager for which the system does nothing is not named.
                let isIdle =
                    switch role {
                    case .peripheral: !app.advertises && input != .read(index)
                    case .central: app.scan == nil && app.asked.isEmpty && app.linked.isEmpty
                    }
                let isAllowed =
                    named[role] == (isIdle ? [] : identifiers)
                    || role == .central && named[role] == identifiers
                if !isAllowed { note(34, index, "launched for \(named[role] ?? []), \(role)") }
            }
        } else {
            if input != .user(index, .enterForeground) { note(34, index, "the user did not launch it") }
            if named.values.contains(where: { !$0.isEmpty }) {
                note(34, index, "the user's launch names managers")
            }
        }
        (apps[index].ready, apps[index].restored) = ([], [])
        forgetReports(index)
        apps[index].launches += 1
        let isKept = app.place == .terminated && app.isKept(.central)
        let isRestored = isKept && (app.scan != nil || !preserved(index).isEmpty)
        if !isKept { apps[index].scan = nil }
        seen.insert(inBackground ? "relaunched" : isRestored ? "launched to be restored" : "launched")
        apps[index].isJustLaunched = inBackground
        // Whether it is to be restored is judged before its state comes.
        if isRestored { apps[index].restored.insert(.central) }
        apps[index].place = .background
    }

    private mutating func comeToFront(_ index: AppIndex) {
        if apps.contains(where: { $0.place == .foreground }) {
            note(4, index, "another app is on the screen")
        }
        if input != .user(index, .enterForeground) { note(4, index, "nobody opened it") }
        apps[index].place = .foreground
    }

    private mutating func wake(_ index: AppIndex, _ kind: BluetoothEvent) {
        let app = apps[index]
        seen.insert("woken by \(kind)")
        guard app.modes.contains(kind.role) else {
            return note(2, index, "woken by \(kind) without the mode")
        }
        guard app.place == .suspended || app.isJustLaunched else {
            return note(2, index, "woken by \(kind) while \(app.place)")
        }
        apps[index].isJustLaunched = false
        apps[index].place = .background
    }

    private mutating func restore(_ index: AppIndex, _ devices: Set<Device>, _ scan: [BluetoothUUID]?) {
        guard apps[index].restored.remove(.central) != nil else {
            let isNothing = devices.isEmpty && scan == nil && apps[index].isKept(.central)
            if isNothing, apps[index].ready.isEmpty {
                return note(57, index, "it is restored with nothing")
            }
            return note(37, index, "it is restored, and has nothing to be restored from")
        }
        guard !apps[index].ready.contains(.central) else {
            return note(35, index, "it is restored after its state came")
        }
        let due = preserved(index)
        if devices != due { note(31, index, "restored with \(devices), and not \(due)") }
        if scan != apps[index].scan?.services { note(31, index, "restored with a scan for \(scan ?? [])") }
        seen.insert("restored")
    }

    /// The devices that the system keeps for an app, with the one whose loss relaunches it.
    private func preserved(_ index: AppIndex) -> Set<Device> {
        var devices = apps[index].asked.union(apps[index].linked)
        if case .lost(let device) = input, apps[index].owed.contains(.disconnected(device, wasPending: false))
        {
            devices.insert(device)
        }
        return devices
    }

    private mutating func changeState(_ index: AppIndex, _ isOn: Bool) {
        guard apps[index].ready.contains(.central) else {
            apps[index].ready.insert(.central)
            if apps[index].restored.contains(.central) {
                note(35, index, "its state comes before it is restored")
            }
            if isOn != self.isOn { note(52, index, "its first state is \(isOn)") }
            if apps[index].owed.first == .state(isOn) { apps[index].owed.removeFirst() }
            return
        }
        tell(index, .state(isOn))
    }

    private mutating func tell(_ index: AppIndex, _ event: Event) {
        let app = apps[index]
        seen.insert("\(event)".prefix { $0 != "(" } + "")
        guard app.runs else { return note(5, index, "it is told of \(event) while \(app.place)") }
        if !app.ready.contains(event.role) { note(52, index, "\(event) comes before its state") }
        if app.isJustLaunched { note(35, index, "\(event) comes before it is woken") }
        if event == .read, !app.isServed { note(1, index, "it answers in the background") }
        if case .discovered = event {
            guard app.isHearing else {
                return note(app.modes.contains(.central) ? 14 : 1, index, "it hears \(event)")
            }
        }
        if app.owed.first == event {
            apps[index].owed.removeFirst()
        } else if let place = app.owed.firstIndex(of: event) {
            apps[index].owed.remove(at: place)
            note(7, index, "\(event) overtakes \(app.owed[0])")
        } else if app.allowed.contains(event) {
            apps[index].allowed.remove(event)
            if case .discovered(let device, let content) = event {
                apps[index].scan?.unsure.remove(device)
                apps[index].scan?.reported[device] = content
            }
        } else {
            surplus(index, event)
        }
    }

    /// It is told of what did not happen, or of what it was told before.
    private mutating func surplus(_ index: AppIndex, _ event: Event) {
        let rule =
            switch event {
            case .discovered: apps[index].place == .foreground ? 39 : 12
            case .connected: 51
            case .disconnected: 44
            case .value: 7
            case .state: 52
            case .read: 6
            }
        note(rule, index, "it is told of \(event), which is not to come, or twice")
    }

    /// Everything that had to follow from the input has.
    mutating func endStep() {
        for (index, app) in apps.enumerated() {
            if case .user(index, let transition) = input { judge(index, app, transition) }
            if app.isJustLaunched { note(35, index, "relaunched, and not woken") }
            guard let first = app.owed.first else { continue }
            switch app.place {
            case .foreground, .background: note(missing(first), index, "it is not told of \(first)")
            case .suspended where app.modes.contains(first.role):
                note(first.role == .central ? 11 : 16, index, "\(first) does not wake it")
            case .suspended: break
            case .terminated:
                let relaunches = app.isKept(first.role)
                if relaunches { note(30, index, "\(first) does not relaunch it") }
                apps[index].owed = []
            case .notRunning, .quit: apps[index].owed = []
            }
        }
        input = nil
    }

    /// The rule that is broken if an app that runs is not told of this.
    private func missing(_ event: Event) -> Int {
        switch event {
        case .state: 52
        case .connected(_, let isLocal): isLocal ? 51 : 29
        case .disconnected(_, let wasPending): wasPending ? 44 : 45
        case .value: 7
        case .discovered: 40
        case .read: 6
        }
    }

    private mutating func judge(_ index: AppIndex, _ app: App, _ transition: AppTransition) {
        let due: Set<Place> =
            switch transition {
            case .enterForeground: [.foreground]
            case .enterBackground: [.background, .suspended, .notRunning, .terminated, .quit]
            case .suspend: [.suspended, .notRunning, .terminated, .quit]
            case .terminate, .crash: [.terminated, .notRunning, .quit]
            case .quit: [.quit, .notRunning]
            case .memoryPressure: [app.place]
            }
        if !due.contains(app.place) { note(4, index, "it is \(app.place)") }
    }

    /// A central's read was answered, with a value or an error.
    mutating func answered(_ index: AppIndex, withValue isValue: Bool) {
        if isValue != apps[index].isServed {
            note(6, index, "a read of it was answered with \(isValue ? "a value" : "an error")")
        }
    }
}
