import MynahCore
import MynahLifecycle

// Events of an app, and whether they are allowed.
extension PhoneWatcher {
    mutating func take(_ output: Output, of index: AppIndex) {
        keep(.output(index, output))
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
        case .ended: end(index)
        case .authorization(let new): authorization(index, new)
        case .alert(let cause, let device, let step):
            told(Alert(app: index, cause: cause, device: device), step)
        case .restored(let devices, let scan): restore(index, devices, scan)
        case .answered(let launch):
            if launch != apps[index].launches || !apps[index].runs {
                note(55, index, "an ended process is answered")
            }
        case .peripheralRestored(let advertises, let subscribers):
            restore(index, advertises: advertises, subscribers: subscribers)
        case .peripheralState: apps[index].ready.insert(.peripheral)
        case .state(let new): changeState(index, new)
        case .event(let event): tell(index, event)
        }
    }

    // MARK: Its life

    private mutating func launch(
        _ index: AppIndex, _ inBackground: Bool, _ named: [BluetoothRole: [String]]
    ) {
        let app = apps[index]
        guard !app.runs, app.place != .suspended else {
            return note(37, index, "it is launched while it lives")
        }
        if inBackground, !app.isAllowed { note(84, index, "it is relaunched without permission") }
        if input == .readPhone { note(71, index, "it is launched") }
        if app.isLocked { note(98, index, "it is launched before the first unlock") }
        if app.hasScenes, named.values.contains(where: { !$0.isEmpty }) {
            note(89, index, "its launch names managers")
        }
        if inBackground {
            guard app.place == .terminated, app.isKept(.central) || app.isKept(.peripheral) else {
                return note(app.forbidden.map(Self.rule) ?? 30, index, "nothing relaunches it")
            }
            if !app.hasScenes { judgeNames(index, named) }
        } else {
            if !isOpened(index) { note(34, index, "the user did not launch it") }
            if named.values.contains(where: { !$0.isEmpty }) {
                note(34, index, "the user's launch names managers")
            }
        }
        (apps[index].ready, apps[index].restored) = ([], [])
        forgetReports(index)
        apps[index].launches += 1
        // Its first manager asks for the permission, and the user is offered to turn Bluetooth on.
        let alert = Alert(app: index, cause: .power)
        if !inBackground, offCause != nil, app.isAllowed, !alerts.contains(alert) { show(alert, by: 87) }
        let isKept = app.place == .terminated && app.isKept(.central)
        let isRestored = isKept && (app.scan != nil || !preserved(index).isEmpty)
        if !isKept { apps[index].scan = nil }
        seen.insert(inBackground ? "relaunched" : isRestored ? "launched to be restored" : "launched")
        if inBackground, app.hasScenes { seen.insert("relaunched with scenes") }
        apps[index].isJustLaunched = inBackground
        // Whether it is to be restored is judged before its state comes.
        if isRestored { apps[index].restored.insert(.central) }
        (apps[index].place, apps[index].forbidden, apps[index].dropped) = (.background, nil, [:])
    }

    /// The managers that a relaunch names: those for which the system does something.
    private mutating func judgeNames(_ index: AppIndex, _ named: [BluetoothRole: [String]]) {
        let app = apps[index]
        for role in [BluetoothRole.central, .peripheral] {
            let identifiers = app.isKept(role) ? app.identifiers[role].map { [$0] } ?? [] : []
            let isIdle =
                switch role {
                case .peripheral: !app.advertises && app.subscribers.isEmpty && !isRequest(for: index)
                case .central: app.scan == nil && app.asked.isEmpty && app.linked.isEmpty
                }
            let isAllowed =
                named[role] == (isIdle ? [] : identifiers)
                || role == .central && named[role] == identifiers
            guard !isAllowed else { continue }
            note(role == .peripheral ? 66 : 34, index, "launched for \(named[role] ?? []), \(role)")
        }
    }

    private mutating func comeToFront(_ index: AppIndex) {
        if apps.contains(where: { $0.place == .foreground }) {
            note(4, index, "another app is on the screen")
        }
        if !isOpened(index) { note(4, index, "nobody opened it") }
        apps[index].place = .foreground
        fronts.removeAll { $0 == index }
        fronts.append(index)
        dismissAlerts(of: index) { $0.cause != .power }
    }

    private mutating func wake(_ index: AppIndex, _ kind: BluetoothEvent) {
        let app = apps[index]
        seen.insert("woken by \(kind.rawValue)")
        if !app.isAllowed { note(84, index, "woken by \(kind) without permission") }
        switch input {
        case .readPhone: note(71, index, "woken by \(kind)")
        case .request: note(88, index, "woken by \(kind)")
        default: break
        }
        guard app.modes.contains(kind.role) else {
            return note(2, index, "woken by \(kind) without the mode")
        }
        guard app.place == .suspended || app.isJustLaunched else {
            return note(2, index, "woken by \(kind) while \(app.place)")
        }
        apps[index].isJustLaunched = false
        apps[index].place = .background
    }

    private mutating func end(_ index: AppIndex) {
        switch input {
        case .user(index, let transition):
            apps[index].place = transition == .quit ? .quit : .terminated
            guard transition == .quit else { break }
            fronts.removeAll { $0 == index }
            dismissAlerts(of: index)
        case .authorize(index, _):
            if !apps[index].isToEnd { note(84, index, "it ends") }
            apps[index].place = .terminated
        case .restart:
            if !apps[index].isToEnd { note(98, index, "it ends") }
            apps[index].place = .terminated
        default: return note(3, index, "it ends")
        }
        closeChannels { $0.app == index }
        (apps[index].isAsking, apps[index].isToEnd, apps[index].isRegistered) = (false, false, false)
        (apps[index].owed, apps[index].allowed, apps[index].ready, apps[index].restored) = ([], [], [], [])
    }

    // MARK: Restoration

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
        for event in apps[index].owed {
            switch (input, event) {
            case (.lost?, .disconnected(let device, wasPending: false)),
                (.forget?, .disconnected(let device, wasPending: false)), (.secure?, .lostBond(let device)),
                (.linked?, .failed(let device)):
                devices.insert(device)
            default: break
            }
        }
        return devices
    }

    private mutating func restore(_ index: AppIndex, advertises: Bool, subscribers: Int) {
        if !apps[index].advertises, !apps[index].publishes {
            note(57, index, "its peripheral manager is restored with nothing")
        }
        guard apps[index].ready.isDisjoint(with: [.peripheral]),
            apps[index].restored.insert(.peripheral).inserted
        else { return note(37, index, "its peripheral manager is restored late") }
        guard advertises == apps[index].advertises, apps[index].identifiers[.peripheral] != nil else {
            return note(32, index, "its advertisement is restored: \(advertises)")
        }
        if subscribers != apps[index].subscribers.count {
            note(32, index, "\(subscribers) subscribers are restored")
        }
    }

    /// Whether a central asks something of an app, or is about to have asked for nothing any more.
    private func isRequest(for index: AppIndex) -> Bool {
        switch input {
        case .read(index), .subscribe(index, _), .unsubscribe(index, _): true
        default: false
        }
    }

    // MARK: Its state

    /// Its permission is said to have changed, or the user to be asked for it.
    private mutating func authorization(_ index: AppIndex, _ new: BluetoothAuthorization) {
        if new == .notDetermined {
            let isGiven = apps[index].authorization != new
            if isGiven || apps[index].isAsking || !apps[index].runs {
                note(isGiven ? 101 : 83, index, "it asks for the permission")
            }
            apps[index].isAsking = true
        } else {
            if apps[index].changes != new { note(84, index, "its permission becomes \(new)") }
            apps[index].changes = nil
        }
    }

    private mutating func changeState(_ index: AppIndex, _ new: RadioState) {
        guard apps[index].ready.contains(.central) else {
            apps[index].ready.insert(.central)
            if apps[index].restored.contains(.central) {
                note(35, index, "its state comes before it is restored")
            }
            if new != state(of: index) {
                let isOfPermission = new == .unauthorized || !apps[index].isAllowed
                note(isOfPermission ? 83 : 52, index, "its first state is \(new)")
            }
            if apps[index].owed.first == .state(new) { apps[index].owed.removeFirst() }
            return
        }
        tell(index, .state(new))
    }

    // MARK: Events

    private mutating func tell(_ index: AppIndex, _ event: Event) {
        let app = apps[index]
        seen.insert(event.name)
        if !app.isAllowed { return note(app.runs ? 83 : 84, index, "told of \(event) without permission") }
        if input == .readPhone { note(71, index, "told of \(event)") }
        guard app.runs else {
            return note(event.name == "state" ? 60 : 5, index, "it is told of \(event) while \(app.place)")
        }
        if !app.ready.contains(event.role) { note(52, index, "\(event) comes before its state") }
        if app.isJustLaunched { note(35, index, "\(event) comes before it is woken") }
        if event.role == .peripheral, !app.isServed { note(1, index, "it answers in the background") }
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
            case .peer: 93
            case .value: 7
            case .state: 52
            case .read: 6
            case .subscribed: 16
            // Bluetooth that is off ends it without a callback.
            case .unsubscribed: isOn ? 16 : 52
            case .lostBond, .failed: 85
            }
        note(rule, index, "it is told of \(event), which is not to come, or twice")
    }

    /// Everything that had to follow from the input has.
    mutating func endStep() {
        judgeAlerts()
        for (index, app) in apps.enumerated() {
            if case .user(index, let transition) = input { judge(index, app, transition) }
            judgePermission(index, app)
            if app.isJustLaunched { note(35, index, "relaunched, and not woken") }
            guard let first = app.owed.first else { continue }
            switch app.place {
            case .foreground, .background: note(missing(first, index), index, "it is not told of \(first)")
            case .suspended where app.modes.contains(first.role):
                let rule = app.isPrivileged(.central) ? missing(first, index) : 11
                note(first.role == .central ? rule : 16, index, "\(first) does not wake it")
            case .suspended: break
            case .terminated:
                // A request relaunches an app that advertises nothing, too.
                let rule = first.role == .peripheral && !app.advertises ? 65 : 30
                if app.isKept(first.role) { note(rule, index, "\(first) does not relaunch it") }
                apps[index].owed = []
            case .notRunning, .quit: apps[index].owed = []
            }
        }
        input = nil
    }

    /// The rule that is broken if an app that runs is not told of this.
    private func missing(_ event: Event, _ index: AppIndex) -> Int {
        switch event {
        case .state: 52
        case .connected(_, let isLocal): isLocal ? 51 : 29
        case .disconnected(_, let wasPending): wasPending ? 44 : 45
        case .peer: 93
        case .value: 7
        case .discovered: apps[index].isPrivileged(.central) ? 90 : 40
        case .read: 6
        case .subscribed, .unsubscribed: 16
        case .lostBond, .failed: 85
        }
    }

    private mutating func judgePermission(_ index: AppIndex, _ app: App) {
        if app.runs, app.authorization == .notDetermined, !app.isAsking {
            note(83, index, "it does not ask for the permission")
        }
        if app.changes != nil { note(84, index, "its permission is not changed") }
        if app.isToEnd { note(input == .restart ? 98 : 84, index, "it is not terminated") }
        (apps[index].changes, apps[index].isToEnd) = (nil, false)
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
}

// Answers to calls of apps, and to centrals.
extension PhoneWatcher {
    /// A call of an app that needs its permission returned, or threw.
    mutating func called(_ index: AppIndex, isDone: Bool) {
        if isDone, !apps[index].acts { note(83, index, "it does something without permission") }
    }

    /// A device that is waited for was heard, and the phone is about to connect to it, or is not.
    mutating func heard(_ device: Device, isAnswered: Bool) {
        if !isAnswered { note(29, nil, "\(device) was heard, and the phone does not connect to it") }
    }

    /// An app's service that iOS keeps for itself was refused with a code of Core Bluetooth, or added.
    mutating func refused(_ index: AppIndex, with code: Int?) {
        seen.insert("refused")
        if code == nil || apps[index].acts && code != 8 {
            note(81, index, "a service of the system is answered with \(code.map { "\($0)" } ?? "success")")
        }
    }

    /// A request that needs an encrypted link ended, after so many pairing dialogs.
    mutating func secured(_ before: Bond, isDone: Bool, dialogs: Int) {
        guard case .secure(let index, let device, let accepts) = input else { return }
        switch before {
        case .absent:
            seen.insert(accepts ? "accepted" : "declined")
            if dialogs != 1 { note(86, index, "the user is asked \(dialogs) times to pair") }
            if isDone != accepts { note(86, index, "its request is done: \(isDone)") }
            if !apps[index].linked.contains(device) { note(86, index, "the link ends") }
        case .bonded: if dialogs > 0 { note(86, index, "the user is asked to pair with a bonded device") }
        case .lost:
            if dialogs > 0 || isDone { note(85, index, "the phone pairs with a device that lost its bond") }
        }
    }

    /// An app discovered everything in a device, which the phone asked so often.
    ///
    /// `moves` says where it found the battery, by how often that had moved.
    mutating func discovered(
        _ index: AppIndex, _ device: Device, asking count: Int, _ types: Set<BluetoothUUID>, moves: Int?
    ) {
        let isBonded = bonds[device] ?? .absent != .absent
        let (kept, now) = (isBonded ? tables[device] : nil, self.moves[device] ?? 0)
        seen.insert(kept.map { $0 == now ? "kept table" : "stale table" } ?? "asked for services")
        if count > 0, kept != nil { note(91, index, "\(device) is asked again for its services") }
        if count == 0, kept == nil { note(91, index, "\(device) is not asked for its services") }
        if moves != kept ?? now {
            note(
                kept.map { $0 != now } ?? false ? 92 : 91, index, "its battery has moved \(moves ?? -1) times"
            )
        }
        tables[device] = kept ?? now
        let hidden = types.intersection(Self.hiddenServices)
        if !hidden.isEmpty { note(69, index, "it discovers \(hidden)") }
    }

    /// An app discovered services of one type, and had these types before and after.
    mutating func discoveredMore(_ index: AppIndex, _ before: Set<BluetoothUUID>, _ after: Set<BluetoothUUID>)
    {
        if !before.isSubset(of: after) { note(59, index, "of \(before) it has \(after) left") }
    }

    /// An app opened a channel to a device.
    mutating func openedChannel(_ index: AppIndex, _ device: Device, isDone: Bool) {
        seen.insert("channel")
        guard isDone else { return note(100, index, "no channel to \(device) can be opened") }
        channels.append(Channel(app: index, device: device))
    }

    /// A read of the phone's own services was answered.
    mutating func phoneAnswered(withValue isValue: Bool) {
        seen.insert("phone read")
        if !isValue { note(71, nil, "a read of the phone's services was answered with an error") }
    }

    /// A request for connection parameters was answered.
    ///
    /// The rules are those of Apple's Accessory Design Guidelines, of 2013 up to iOS 9 and as quoted since
    /// 2025 from iOS 18 on.
    mutating func requested(_ wanted: Parameters, iOS: Int, isAccepted: Bool) {
        seen.insert(isAccepted ? "parameters accepted" : "parameters rejected")
        // In microseconds.
        let (shortest, longest, timeout) = (
            wanted.minimum * 1250, wanted.maximum * 1250, wanted.timeout * 10000
        )
        let silence = longest * (wanted.latency + 1)
        let isOld = iOS < 10
        let isSingle = !isOld && wanted.minimum == 12 && wanted.maximum == 12
        let isDue =
            shortest >= (isOld ? 20000 : 15000) && shortest <= (iOS < 18 ? 4_000_000 : 2_000_000)
            && (isOld || wanted.minimum % 12 == 0)
            && (isSingle || longest >= shortest + (isOld ? 20000 : 15000))
            && wanted.latency <= (isOld ? 4 : 30) && silence <= (iOS < 18 ? 2_000_000 : 6_000_000)
            && timeout >= (isOld ? 100_000 : iOS < 18 ? 2_000_000 : 6_000_000)
            && timeout <= (iOS < 18 ? 6_000_000 : 18_000_000) && timeout > silence * 3
        if isAccepted != isDue { note(88, nil, "\(wanted) are accepted by iOS \(iOS): \(isAccepted)") }
    }

    /// A central's read was answered, with a value or an error.
    mutating func answered(_ index: AppIndex, withValue isValue: Bool) {
        if isValue != apps[index].isServed {
            note(6, index, "a read of it was answered with \(isValue ? "a value" : "an error")")
        }
    }
}
