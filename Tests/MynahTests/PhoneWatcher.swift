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
    typealias Central = Int

    /// An event of the phone.
    enum Input: Hashable {
        case user(AppIndex, AppTransition)
        /// Calls of an app's code; with `alerts` it asks for each alert about the device.
        case connect(AppIndex, Device, alerts: Bool = false), cancel(AppIndex, Device)
        case scan(AppIndex, services: [BluetoothUUID], allowsDuplicates: Bool), stopScan(AppIndex)
        /// An app wants to hear of each device that connects to the phone.
        case register(AppIndex)
        /// A call that returned: the app is subscribed to a device's value, or is not any more.
        case notify(AppIndex, Device, Bool)
        /// A call that returned.
        case publish(AppIndex), advertise(AppIndex), stopAdvertising(AppIndex)
        /// Events from the air.
        case linked(Device), lost(Device), value(UInt16, Device), heard(Device, content: Int)
        case power(Bool, by: PowerCause = .controlCenter)
        /// The battery service of a device moves, which the device indicates or does not.
        case move(Device, isIndicated: Bool)
        /// A central reads the dynamic value of an app, subscribes to it, or is subscribed no more.
        case read(AppIndex), subscribe(AppIndex, Central), unsubscribe(AppIndex, Central)
        /// A central reads a value of the phone's own services.
        case readPhone
        /// Answers to what apps have read come.
        case answers
        /// An app discovers everything in a device, or opens a channel to it.
        case discover(AppIndex, Device), open(AppIndex, Device)
        /// The user answers an app's question for Bluetooth, or changes its permission in Settings.
        case authorize(AppIndex, BluetoothAuthorization)
        /// The user opens or dismisses the alert on top.
        case openAlert, dismissAlert
        /// The phone restarts; its user unlocks it for the first time after that.
        case restart, unlock
        /// An app adds a service that iOS keeps for itself.
        case addReserved(AppIndex)
        /// A request of an app needs an encrypted link, and the user would accept to pair.
        case secure(AppIndex, Device, accepts: Bool)
        /// A device deletes its bond; the user forgets a device in Settings.
        case loseBond(Device), forget(Device)
        /// A device has this GAP device name from now on.
        case rename(Device, String)
        /// A device requests connection parameters of a phone with this version of iOS.
        case request(Parameters, iOS: Int)
    }

    /// An event for an app, in order.
    enum Output: Hashable {
        case launched(inBackground: Bool, central: [String], peripheral: [String])
        /// Its permission changed, or the user is asked for it.
        case authorization(BluetoothAuthorization)
        case foreground, background, suspended, woken(BluetoothEvent), ended
        case restored(Set<Device>, scan: [BluetoothUUID]?), state(RadioState)
        case peripheralRestored(advertises: Bool, subscribers: Int), peripheralState
        /// An alert of it.
        case alert(AlertCause, Device?, AlertStep)
        /// An answer to a call of the process that began with this launch.
        case answered(launch: Int)
        case event(Event)
    }

    /// An event that an app must get, each once and in order.
    enum Event: Hashable {
        case state(RadioState), connected(Device, isLocal: Bool), disconnected(Device, wasPending: Bool)
        /// A device connected to the phone for any app, or its link ended.
        case peer(Device, isConnected: Bool)
        /// A connection ended or failed with CBError 14, because the device has lost its bond.
        case lostBond(Device), failed(Device)
        case value(UInt16), discovered(Device, content: Int)
        case read, subscribed(Central), unsubscribed(Central)

        var name: String {
            switch self {
            case .state: "state"
            case .connected: "connected"
            case .disconnected: "disconnected"
            case .peer: "peer"
            case .lostBond: "lostBond"
            case .failed: "failed"
            case .value: "value"
            case .discovered: "discovered"
            case .read: "read"
            case .subscribed: "subscribed"
            case .unsubscribed: "unsubscribed"
            }
        }

        var role: BluetoothRole {
            switch self {
            case .read, .subscribed, .unsubscribed: .peripheral
            default: .central
            }
        }
    }

    /// The reason why Bluetooth was off.
    enum PowerCause: String, Hashable {
        case settings, controlCenter, airplaneMode, restart
    }

    /// The cause of an alert: Bluetooth is off, or something happened to a device of a suspended app.
    enum AlertCause: Hashable { case power, connection, disconnection, notification }
    enum AlertStep: Hashable { case shown, opened, dismissed }

    struct Alert: Hashable {
        var app: AppIndex
        var cause: AlertCause
        var device: Device?
    }

    /// A step of an alert that has to come, and the rule that says so.
    struct DueAlert {
        var alert: Alert
        var step: AlertStep
        var rule: Int
    }

    /// The bond of the phone with a device.
    enum Bond: Hashable {
        case absent, bonded
        /// The device has lost it; the phone has found that out, or has not.
        case lost(isFound: Bool)
    }

    /// Connection parameters in the units of the Core Specification: 1.25 ms and 10 ms.
    struct Parameters: Hashable {
        var minimum, maximum, latency, timeout: Int
    }

    /// An L2CAP channel that an app opened.
    struct Channel {
        var app: AppIndex
        var device: Device
        var isOpen = true
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
        /// The names that the devices of each running app have for it.
        var names: [AppIndex: [Device: String]] = [:]
        /// The channels that are open, by the order in which they were opened.
        var channels: Set<Int> = []
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
        var iOS = 18
        /// Whether it shows a Live Activity, and whether it has scenes.
        var hasLiveActivity = false
        var hasScenes = false
        var place = Place.notRunning
        /// Connections that it waits for, and those that it has.
        var asked: Set<Device> = []
        var linked: Set<Device> = []
        /// The devices about which it asked for alerts.
        var alerts: Set<Device> = []
        /// Devices that are waited for no more, by the rule that says so.
        var dropped: [Device: Int] = [:]
        var subscribed: Set<Device> = []
        /// Subscriptions that may have come back with the link.
        var maySubscribe: Set<Device> = []
        var scan: Scan?
        /// Whether it registered for connection events.
        var isRegistered = false
        var advertises = false
        var publishes = false
        var subscribers: Set<Central> = []
        var authorization = BluetoothAuthorization.allowedAlways
        /// Whether the user is asked for the permission.
        var isAsking = false
        /// A change of the permission that has to be reported, and an end that has to follow from one.
        var changes: BluetoothAuthorization?
        var isToEnd = false
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
        /// Nothing relaunches it until its user has opened it, because Bluetooth was off for this cause.
        var forbidden: PowerCause?
        /// The phone restarted and has not been unlocked: the system works for no app.
        var isLocked = false

        var runs: Bool { place == .foreground || place == .background }
        var isAllowed: Bool { authorization == .allowedAlways }
        /// Whether its code may do something with Bluetooth.
        var acts: Bool { runs && isAllowed }
        var isAlive: Bool { runs || place == .suspended }

        /// Whether the system works on for it after it has ended it.
        func isKept(_ role: BluetoothRole) -> Bool {
            modes.contains(role) && identifiers[role] != nil && forbidden == nil
        }

        /// Whether it has the privileges of an app on the screen without being there.
        func isPrivileged(_ role: BluetoothRole) -> Bool {
            hasLiveActivity && iOS >= 26 && modes.contains(role)
                && (place == .background || place == .suspended)
        }

        /// Whether what it scans for is heard.
        var isHearing: Bool {
            guard let scan, !isLocked else { return false }
            switch place {
            case .foreground: return true
            case .background, .suspended:
                return isPrivileged(.central) || modes.contains(.central) && !scan.services.isEmpty
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
            case .terminated: isKept(.peripheral) && !isLocked
            case .notRunning, .quit: false
            }
        }
    }

    var apps: [App]
    private(set) var broken: [String] = []
    var isOn = false
    /// How it was turned off, or `nil` while it is on or the phone has not started.
    var offCause: PowerCause?
    var bonds: [Device: Bond] = [:]
    /// The links, in the order in which they began.
    var links: [Device] = []
    /// The GAP device names of the devices, and those that the phone has read.
    var ownNames: [Device: String] = [:]
    var readNames: [Device: String] = [:]
    /// How often the battery of each device has moved, now and when the phone discovered it.
    var moves: [Device: Int] = [:]
    var tables: [Device: Int] = [:]
    var channels: [Channel] = []
    /// The alerts on the screen, the last one on top.
    var alerts: [Alert] = []
    var dueAlerts: [DueAlert] = []
    /// Alerts that may or may not be shown.
    var allowedAlerts: Set<Alert> = []
    /// The alert that the user opens.
    var opened: Alert?
    /// The apps that were on the screen, the last one at the end.
    var fronts: [AppIndex] = []
    var input: Input?
    /// The kinds of what was seen, so that histories in which nothing happens are found.
    var seen: Set<String> = []
    /// The last input and output, to read beside a broken rule.
    private var last: [Entry] = []

    init(_ apps: [App]) { self.apps = apps }

    mutating func note(_ rule: Int, _ index: AppIndex?, _ text: String) {
        precondition(Self.rules.contains(rule))
        let app = index.map { "app \($0): " } ?? ""
        broken.append("R\(rule), \(app)\(text), after \(input.map { "\($0)" } ?? "nothing")")
    }

    /// An input, or an output of an app.
    enum Entry {
        case input(Input), output(AppIndex, Output)
    }

    mutating func keep(_ entry: Entry) {
        last.append(entry)
        // Words are made of them only if they are read.
        if last.count > 200 { last.removeFirst(100) }
    }

    /// The last input and output in words.
    var story: String {
        last.suffix(100).map { entry in
            switch entry {
            case .input(let input): "\(input)"
            case .output(let index, let output): "app \(index) is told \(output)"
            }
        }
        .joined(separator: "; ").replacing("MynahTests.PhoneWatcher.", with: "")
    }
}

// The air.
extension PhoneWatcher {
    /// The expected state of the air, once the radio has carried out its requests.
    var air: Air {
        var air = Air()
        air.published = Set(apps.indices.filter { apps[$0].publishes && apps[$0].isThere })
        guard isOn else { return air }
        let linked = apps.reduce(into: Set<Device>()) { $0.formUnion($1.linked) }
        air.links = linked
        let waiting = apps.filter { !$0.isLocked }
        air.wanted = waiting.reduce(into: Set<Device>()) { $0.formUnion($1.asked) }.subtracting(linked)
        // A pending connection is served by listening.
        let listening = waiting.filter { $0.isHearing || !$0.asked.isSubset(of: linked) }
        air.scans = !listening.isEmpty
        air.scansFast = listening.contains { $0.place == .foreground || $0.isPrivileged(.central) }
        air.advertises = apps.contains { $0.advertises && $0.isServed }
        for (index, app) in apps.enumerated() where app.runs && !app.linked.isEmpty {
            let names = readNames.filter { app.linked.contains($0.key) }
            if !names.isEmpty { air.names[index] = names }
        }
        air.channels = Set(channels.indices.filter { channels[$0].isOpen })
        return air
    }

    /// Everything has settled: the rules that an air breaks which is not as it has to be.
    mutating func judge(_ found: Air) {
        let due = air
        if found.wanted != due.wanted { judge(waitingFor: found.wanted, due.wanted) }
        if found.links != due.links {
            note(45, nil, "links are \(found.links), and apps hold \(due.links)")
        }
        if found.published != due.published {
            note(30, nil, "the services of apps \(found.published) are there, and not of \(due.published)")
        }
        if found.scans != due.scans { note(due.scans ? 10 : 1, nil, "the phone scans: \(found.scans)") }
        if found.scansFast != due.scansFast {
            let isInFront = apps.contains { $0.place == .foreground && ($0.isHearing || !$0.asked.isEmpty) }
            let isPrivileged = due.scansFast && !isInFront
            note(isPrivileged ? 90 : 13, nil, "the phone scans fast: \(found.scansFast)")
        }
        if found.advertises != due.advertises {
            note(due.advertises ? 17 : 1, nil, "the phone advertises: \(found.advertises)")
        }
        if found.names != due.names {
            note(82, nil, "devices are named \(found.names), and not \(due.names)")
        }
        if found.channels != due.channels {
            note(100, nil, "the channels \(found.channels) are open, and not \(due.channels)")
        }
    }

    private mutating func judge(waitingFor found: Set<Device>, _ due: Set<Device>) {
        for device in found.subtracting(due) {
            let isLocked = apps.contains { $0.asked.contains(device) && $0.isLocked }
            let rule = apps.compactMap { $0.dropped[device] }.first ?? (isLocked ? 98 : 29)
            note(rule, nil, "the phone waits for \(device)")
        }
        for device in due.subtracting(found) {
            let isOfProcess = apps.contains { $0.asked.contains(device) && $0.place != .terminated }
            note(isOfProcess ? 29 : 58, nil, "the phone does not wait for \(device)")
        }
    }
}
