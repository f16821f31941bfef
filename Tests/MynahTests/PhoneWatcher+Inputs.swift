import MynahCore
import MynahLifecycle

// Events of the phone, and the events that apps must get for them.
extension PhoneWatcher {
    mutating func take(_ input: Input) {
        keep(.input(input))
        self.input = input
        for index in apps.indices { apps[index].isJustLaunched = false }
        switch input {
        case .user(let index, let transition): end(index, transition)
        case .connect(let index, let device, let alerts): connect(index, device, alerts)
        case .cancel(let index, let device): cancel(index, device)
        case .scan(let index, let services, let allowsDuplicates):
            scan(index, services, allowsDuplicates: allowsDuplicates)
        case .stopScan(let index): if apps[index].acts { apps[index].scan = nil }
        case .register(let index): register(index)
        case .notify(let index, let device, let isOn): notify(index, device, isOn)
        case .publish(let index): apps[index].publishes = true
        case .advertise(let index): apps[index].advertises = true
        case .stopAdvertising(let index): apps[index].advertises = false
        case .linked(let device): linked(device)
        case .lost(let device): endLinks(device, .disconnected(device, wasPending: false))
        case .value(let number, let device): value(number, device)
        case .heard(let device, let content):
            for index in apps.indices { hear(index, device, content) }
        case .power(let isOn, let cause): power(isOn, cause)
        case .move(let device, let isIndicated):
            moves[device, default: 0] += 1
            if isIndicated, links.contains(device) { tables[device] = nil }
        case .read(let index): if apps[index].isServed { apps[index].owed.append(.read) }
        case .subscribe(let index, let central):
            apps[index].subscribers.insert(central)
            apps[index].owed.append(.subscribed(central))
        case .unsubscribe(let index, let central):
            apps[index].subscribers.remove(central)
            apps[index].owed.append(.unsubscribed(central))
        case .authorize(let index, let new): authorize(index, new)
        case .openAlert: leaveAlert(.opened)
        case .dismissAlert: leaveAlert(.dismissed)
        case .restart: restart()
        case .unlock: for index in apps.indices { apps[index].isLocked = false }
        case .secure(_, let device, let accepts): secure(device, accepts: accepts)
        case .loseBond(let device): if bonds[device] == .bonded { bonds[device] = .lost(isFound: false) }
        case .forget(let device):
            guard bonds[device] ?? .absent != .absent else { break }
            bonds[device] = .absent
            tables[device] = nil
            endLinks(device, .disconnected(device, wasPending: false))
        case .rename(let device, let name): ownNames[device] = name
        case .answers, .addReserved, .readPhone, .request, .discover, .open: break
        }
    }

    // MARK: Links

    private mutating func connect(_ index: AppIndex, _ device: Device, _ alerts: Bool) {
        guard apps[index].acts, isOn else { return }
        if alerts { apps[index].alerts.insert(device) } else { apps[index].alerts.remove(device) }
        guard !apps[index].linked.contains(device) else { return }
        apps[index].dropped[device] = nil
        if links.contains(device) {
            link(index, device, isLocal: true)
        } else {
            apps[index].asked.insert(device)
        }
    }

    private mutating func linked(_ device: Device) {
        let waiting = apps.indices.filter { apps[$0].asked.contains(device) }
        if bonds[device] == .lost(isFound: true) {
            for index in waiting {
                apps[index].asked.remove(device)
                apps[index].owed.append(.failed(device))
            }
            return
        }
        guard !waiting.isEmpty else { return }
        happened(.connection, to: device, of: waiting)
        // The table of a device without a bond is of another link.
        if bonds[device] ?? .absent == .absent { tables[device] = nil }
        readNames[device] = ownNames[device]
        links.append(device)
        for index in waiting {
            apps[index].asked.remove(device)
            link(index, device, isLocal: false)
        }
        for index in apps.indices where apps[index].isRegistered {
            apps[index].owed.append(.peer(device, isConnected: true))
        }
    }

    private mutating func link(_ index: AppIndex, _ device: Device, isLocal: Bool) {
        apps[index].linked.insert(device)
        apps[index].owed.append(.connected(device, isLocal: isLocal))
        apps[index].scan?.unsure.insert(device)
    }

    private mutating func cancel(_ index: AppIndex, _ device: Device) {
        guard apps[index].acts else { return }
        if apps[index].linked.remove(device) != nil {
            release(index, device)
            apps[index].owed.append(.disconnected(device, wasPending: false))
        } else if apps[index].asked.remove(device) != nil {
            apps[index].owed.append(.disconnected(device, wasPending: true))
        }
        dropLinks()
    }

    /// The link to a device ends, for each app that has it.
    private mutating func endLinks(_ device: Device, _ event: Event) {
        let holding = apps.indices.filter { apps[$0].linked.contains(device) }
        happened(.disconnection, to: device, of: holding)
        for index in holding {
            apps[index].linked.remove(device)
            release(index, device)
            apps[index].owed.append(event)
        }
        guard links.contains(device) else { return }
        links.removeAll { $0 == device }
        for index in apps.indices where apps[index].isRegistered {
            apps[index].owed.append(.peer(device, isConnected: false))
        }
    }

    /// Links that no app holds any more end soon, and those who registered for it are told then.
    private mutating func dropLinks() {
        for device in links where !apps.contains(where: { $0.linked.contains(device) }) {
            links.removeAll { $0 == device }
            for index in apps.indices where apps[index].isRegistered {
                apps[index].allowed.insert(.peer(device, isConnected: false))
            }
        }
    }

    private mutating func release(_ index: AppIndex, _ device: Device) {
        apps[index].subscribed.remove(device)
        apps[index].maySubscribe.remove(device)
        closeChannels { $0.app == index && $0.device == device }
    }

    mutating func closeChannels(where isOver: (Channel) -> Bool) {
        for index in channels.indices where isOver(channels[index]) { channels[index].isOpen = false }
    }

    private mutating func register(_ index: AppIndex) {
        guard apps[index].acts else { return }
        apps[index].isRegistered = true
        for device in links { apps[index].owed.append(.peer(device, isConnected: true)) }
    }

    // MARK: Values

    private mutating func notify(_ index: AppIndex, _ device: Device, _ isOn: Bool) {
        guard apps[index].linked.contains(device) else {
            // A device that is waited for and has been restored may be subscribed to again.
            if isOn { apps[index].maySubscribe.insert(device) }
            return
        }
        apps[index].maySubscribe.remove(device)
        if isOn { apps[index].subscribed.insert(device) } else { apps[index].subscribed.remove(device) }
    }

    private mutating func value(_ number: UInt16, _ device: Device) {
        let linked = apps.indices.filter { apps[$0].linked.contains(device) }
        let unsure = linked.filter {
            !apps[$0].subscribed.contains(device) && apps[$0].maySubscribe.contains(device)
        }
        let hearing = linked.filter { apps[$0].subscribed.contains(device) }
        happened(.notification, to: device, of: hearing, perhaps: unsure)
        for index in hearing { apps[index].owed.append(.value(number)) }
        for index in unsure { apps[index].allowed.insert(.value(number)) }
    }

    // MARK: Scans

    private mutating func scan(_ index: AppIndex, _ services: [BluetoothUUID], allowsDuplicates: Bool) {
        guard apps[index].acts, isOn else { return }
        var scan = Scan(services: services, allowsDuplicates: allowsDuplicates)
        // Whether a scan that begins in the background starts anew is not said.
        if apps[index].place == .background { scan.unsure = devices(of: index) }
        apps[index].scan = scan
    }

    /// Whether the devices of a scan are reported again is not said.
    mutating func forgetReports(_ index: AppIndex) {
        guard let scan = apps[index].scan else { return }
        apps[index].scan?.unsure.formUnion(scan.reported.keys)
    }

    private func devices(of index: AppIndex) -> Set<Device> {
        guard let scan = apps[index].scan else {
            return Set((1...9).map { DeviceAddress(value: $0, kind: .public) })
        }
        return Set(scan.reported.keys).union(scan.unsure)
    }

    private mutating func hear(_ index: AppIndex, _ device: Device, _ content: Int) {
        guard isOn, apps[index].isHearing, let scan = apps[index].scan else { return }
        let event = Event.discovered(device, content: content)
        if scan.allowsDuplicates, apps[index].place == .foreground || apps[index].isPrivileged(.central) {
            apps[index].owed.append(event)
        } else if scan.unsure.contains(device) {
            apps[index].allowed.insert(event)
            return
        } else if scan.reported[device] != content {
            apps[index].owed.append(event)
        }
        apps[index].scan?.reported[device] = content
    }

    // MARK: Ends and permission

    private mutating func end(_ index: AppIndex, _ transition: AppTransition) {
        let isKilled = transition == .terminate || transition == .crash
        guard isKilled && apps[index].place != .terminated || transition == .quit,
            apps[index].place != .notRunning, apps[index].place != .quit
        else { return }
        // Without a mode, or an identifier, the system does nothing for an app that has ended.
        if !isKilled || !apps[index].isKept(.central) { forgetCentral(index) }
        forgetReports(index)
        if !isKilled || apps[index].identifiers[.peripheral] == nil {
            (apps[index].advertises, apps[index].publishes) = (false, false)
        }
        if !isKilled || !apps[index].isKept(.peripheral) { apps[index].subscribers = [] }
    }

    private mutating func forgetCentral(_ index: AppIndex) {
        (apps[index].asked, apps[index].linked, apps[index].scan) = ([], [], nil)
        (apps[index].subscribed, apps[index].maySubscribe) = ([], [])
        dropLinks()
    }

    /// The system works for an app no more.
    private mutating func forgetAll(_ index: AppIndex) {
        forgetCentral(index)
        apps[index].subscribers = []
        (apps[index].advertises, apps[index].publishes) = (false, false)
    }

    /// The effect of a new permission: `nil` if there is none, or else whether the app ends.
    func ends(_ index: AppIndex, by new: BluetoothAuthorization) -> Bool? {
        let app = apps[index]
        if new == app.authorization { return nil }
        guard app.authorization == .notDetermined, new != .restricted else { return true }
        return app.isAsking ? false : nil
    }

    private mutating func authorize(_ index: AppIndex, _ new: BluetoothAuthorization) {
        guard let ends = ends(index, by: new) else { return }
        let wasAllowed = apps[index].isAllowed
        (apps[index].authorization, apps[index].changes, apps[index].isAsking) = (new, new, false)
        seen.insert(ends ? "changed in Settings" : "answered")
        guard ends else {
            if new == .allowedAlways { apps[index].owed.append(.state(state(of: index))) }
            return
        }
        apps[index].isToEnd = apps[index].isAlive
        end(index, .terminate)
        guard wasAllowed else { return }
        forgetAll(index)
        apps[index].owed = []
    }

    /// The Bluetooth state of an app's managers.
    func state(of index: AppIndex) -> RadioState {
        apps[index].isAllowed ? (isOn ? .poweredOn : .poweredOff) : .unauthorized
    }

    // MARK: Bonds

    private mutating func secure(_ device: Device, accepts: Bool) {
        switch bonds[device] ?? .absent {
        case .absent: if accepts { bonds[device] = .bonded }
        case .bonded: break
        case .lost:
            bonds[device] = .lost(isFound: true)
            endLinks(device, .lostBond(device))
        }
    }

    // MARK: Bluetooth

    private mutating func power(_ isOn: Bool, _ cause: PowerCause) {
        if isOn, let offCause { powerReturns(after: offCause) }
        self.isOn = isOn
        offCause = isOn ? nil : cause
        tables = [:]
        if !isOn { closeChannels { _ in true } }
        for index in apps.indices {
            let isAlive = apps[index].isAlive
            if !isOn { lose(index, isAlive: isAlive) }
            if isAlive, apps[index].isAllowed { apps[index].owed.append(.state(state(of: index))) }
        }
        if !isOn { links = [] }
    }

    private mutating func lose(_ index: AppIndex, isAlive: Bool) {
        apps[index].subscribers = []
        // A link that was up is no pending connection.
        for device in apps[index].linked where !isAlive { apps[index].dropped[device] = 62 }
        let kept = apps[index].asked.subtracting(apps[index].linked)
        apps[index].maySubscribe.formUnion(apps[index].subscribed)
        apps[index].subscribed = []
        apps[index].linked = []
        apps[index].asked = isAlive ? [] : kept
        if isAlive { apps[index].scan = nil }
        forgetReports(index)
    }

    /// Terminated apps are not relaunched any more if TN3115 says so.
    private mutating func powerReturns(after cause: PowerCause) {
        for index in apps.indices where apps[index].place == .terminated { forbid(index, after: cause) }
    }

    private mutating func forbid(_ index: AppIndex, after cause: PowerCause) {
        let app = apps[index]
        guard app.isKept(.central) || app.isKept(.peripheral), !Self.relaunches(app.iOS, after: cause) else {
            return
        }
        seen.insert("forbidden by \(cause)")
        for device in app.asked { apps[index].dropped[device] = Self.rule(of: cause) }
        forgetAll(index)
        apps[index].forbidden = cause
    }

    /// The phone restarts, which ends its apps and its links.
    private mutating func restart() {
        for index in apps.indices {
            let isEnding = apps[index].isAlive
            apps[index].isToEnd = isEnding
            end(index, .terminate)
            dismissAlerts(of: index)
            // The system waits for the devices of the links that it kept.
            apps[index].asked.formUnion(apps[index].linked)
            apps[index].maySubscribe.formUnion(apps[index].subscribed)
            (apps[index].linked, apps[index].subscribed, apps[index].subscribers) = ([], [], [])
            forgetReports(index)
            if isEnding || apps[index].place == .terminated { forbid(index, after: .restart) }
            apps[index].isLocked = true
        }
        closeChannels { _ in true }
        (links, tables, fronts) = ([], [:], [])
    }

    /// Whether a terminated app is relaunched by what comes after Bluetooth was off (TN3115, notes 2 to 5;
    /// QA1962 up to iOS 10).
    private static func relaunches(_ iOS: Int, after cause: PowerCause) -> Bool {
        switch cause {
        case .settings, .airplaneMode: false
        case .controlCenter: iOS > 10 && iOS < 26
        case .restart: iOS > 10
        }
    }

    static func rule(of cause: PowerCause) -> Int {
        switch cause {
        case .settings: 95
        case .controlCenter: 96
        case .airplaneMode: 97
        case .restart: 98
        }
    }
}

// Alerts.
extension PhoneWatcher {
    /// Something happened to a device of these apps; some may not hear of it.
    private mutating func happened(
        _ cause: AlertCause, to device: Device, of hearing: [AppIndex], perhaps unsure: [AppIndex] = []
    ) {
        let asking = hearing.filter { asksForAlert($0, device) }
        let alerts = (asking + unsure.filter { asksForAlert($0, device) }).map {
            Alert(app: $0, cause: cause, device: device)
        }
        guard alerts.count == asking.count else { return allowedAlerts.formUnion(alerts) }
        if let app = fronts.last(where: asking.contains) ?? (asking.count == 1 ? asking[0] : nil) {
            show(Alert(app: app, cause: cause, device: device), by: asking.count > 1 ? 67 : 8)
        } else {
            // None has been on the screen since the phone restarted.
            allowedAlerts.formUnion(alerts)
        }
    }

    private func asksForAlert(_ index: AppIndex, _ device: Device) -> Bool {
        let app = apps[index]
        return app.place == .suspended && !app.modes.contains(.central) && app.alerts.contains(device)
    }

    mutating func show(_ alert: Alert, by rule: Int) {
        alerts.removeAll { $0 == alert }
        alerts.append(alert)
        dueAlerts.append(DueAlert(alert: alert, step: .shown, rule: rule))
    }

    /// The user opens or dismisses the alert on top.
    private mutating func leaveAlert(_ step: AlertStep) {
        opened = nil
        guard let alert = alerts.popLast() else { return }
        if step == .opened { opened = alert }
        dueAlerts.append(DueAlert(alert: alert, step: step, rule: alert.cause == .power ? 87 : 8))
    }

    /// Alerts of an app are gone because its user has opened or quit it.
    mutating func dismissAlerts(of index: AppIndex, where isOver: (Alert) -> Bool = { _ in true }) {
        for alert in alerts where alert.app == index && isOver(alert) {
            dueAlerts.append(DueAlert(alert: alert, step: .dismissed, rule: alert.cause == .power ? 87 : 8))
        }
        alerts.removeAll { $0.app == index && isOver($0) }
    }

    mutating func told(_ alert: Alert, _ step: AlertStep) {
        seen.insert("alert \(step)")
        seen.insert("alert of \(alert.cause)")
        if let place = dueAlerts.firstIndex(where: { $0.alert == alert && $0.step == step }) {
            dueAlerts.remove(at: place)
        } else if step == .shown, allowedAlerts.remove(alert) != nil {
            alerts.removeAll { $0 == alert }
            alerts.append(alert)
        } else {
            let isOfOther = dueAlerts.contains { $0.alert.cause == alert.cause && $0.step == step }
            note(
                alert.cause == .power ? 87 : isOfOther ? 67 : 8, alert.app,
                "an alert of \(alert.cause) is \(step)")
        }
    }

    mutating func judgeAlerts() {
        for due in dueAlerts {
            note(due.rule, due.alert.app, "no alert of \(due.alert.cause) is \(due.step)")
        }
        (dueAlerts, allowedAlerts) = ([], [])
        if input == .openAlert, let opened, opened.cause != .power, apps[opened.app].place != .foreground {
            note(8, opened.app, "its alert does not open it")
        }
    }

    /// Whether the user brings an app to the screen now.
    func isOpened(_ index: AppIndex) -> Bool {
        if input == .user(index, .enterForeground) { return true }
        return input == .openAlert && opened.map { $0.app == index && $0.cause != .power } ?? false
    }
}
