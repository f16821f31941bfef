import MynahCore

/// The life of an iOS app, as a machine without clock or radio: an event and its time in, actions out.
///
/// Apple documents that an app without the background mode neither advertises nor answers off the screen and
/// gets what was queued when it returns; that one with it is woken for "read, write, or subscription events",
/// has "around 10 seconds", and is throttled or ended when it overruns ("Core Bluetooth Background Processing
/// for iOS Apps"); that one with a restore identifier is relaunched after the system ended it or it crashed,
/// and not after the user's quit (TN3115); and the fate of adverts and services while Bluetooth is off
/// (CBPeripheralManager). A central is woken for every call of its delegate. A central without the
/// background mode gets events of its connections when it runs again. No capture confirms any of this.
/// Each point that Apple leaves open is an assumption, and the code that decides it says so.
///
/// A time that an event names must not be before the last one's; an event that makes no sense in a state
/// changes nothing.
package struct AppLifecycle<Instant: InstantProtocol & Sendable>: Sendable
where Instant.Duration == Duration {
    /// Where the app is, with exactly what holds there.
    enum Phase {
        case notRunning
        case foreground
        case background(Running)
        case suspended
        /// The system goes on working for its managers of these roles, and their events relaunch it.
        case terminated(kept: Set<BluetoothRole>)
        /// The same after its user has quit it, which keeps nothing but for an app with AccessorySetupKit.
        case quit(kept: Set<BluetoothRole>)
    }

    /// An app that runs while it is not on the screen.
    struct Running {
        /// An event woke it, rather than that it has just left the screen.
        let isWoken: Bool
        /// Until then it runs, with work under way or without.
        private(set) var idleUntil: Instant
        /// Until then work may go on that is under way when `idleUntil` comes.
        private(set) var busyUntil: Instant
        /// Until then its own work for events takes; `nil` if its rules do not say how long that is.
        private(set) var taskUntil: Instant?
        /// Whether that work overran: throttled, it is not done before the app is ended, an assumption.
        private(set) var isTaskLate = false
        /// When its time is over, for now.
        private(set) var deadline: Instant
        /// When it is ended, because it has overrun its time already; `nil` if it has not.
        private(set) var endsAt: Instant?

        var isThrottled: Bool { endsAt != nil }

        init(isWoken: Bool, idleUntil: Instant, busyUntil: Instant) {
            self.isWoken = isWoken
            self.idleUntil = idleUntil
            self.busyUntil = busyUntil
            deadline = idleUntil
        }

        /// The app was woken, and has time for the event.
        init(wokenAt now: Instant, _ rules: AppRules) {
            self.init(isWoken: true, idleUntil: now, busyUntil: now)
            grant(rules, at: now)
        }

        /// Gives the app time for an event, unless it overran its time before, which is an assumption.
        mutating func grant(_ rules: AppRules, at now: Instant) {
            guard !isThrottled else { return }
            let granted = now.advanced(by: rules.wakeAllowance)
            busyUntil = max(busyUntil, granted)
            if let taskTime = rules.taskTime {
                let end = now.advanced(by: taskTime)
                taskUntil = max(taskUntil ?? end, end)
            } else {
                idleUntil = max(idleUntil, granted)
            }
            rest()
        }

        /// Whether its own work for events goes on.
        func isAtTask(_ now: Instant) -> Bool { isTaskLate || taskUntil.map { $0 > now } ?? false }

        /// Returns whether the app may be idle in the background.
        func mayIdle(_ now: Instant) -> Bool { !isThrottled && idleUntil > now }

        /// No event is being handled: the app runs until its own work is done, or its time is over.
        mutating func rest() {
            let done = max(idleUntil, taskUntil ?? idleUntil)
            let end = endsAt ?? busyUntil
            deadline = isTaskLate ? end : min(done, end)
        }

        /// Gives the app the time of work in progress.
        mutating func bearWork() {
            deadline = endsAt ?? busyUntil
        }

        mutating func throttle(until instant: Instant, at now: Instant, isWorking: Bool) {
            endsAt = instant
            isTaskLate = isAtTask(now)
            if isWorking { bearWork() } else { rest() }
        }
    }

    /// The rules that apply; a new manager with a restore identifier may change them.
    package var rules: AppRules
    private(set) var phase = Phase.notRunning
    private(set) var radioState = RadioState.unknown
    /// Pieces of work under way: requests that are answered later, background tasks.
    private(set) var work = 0
    /// `true` if the app's advertising waits for Bluetooth to be powered on again.
    private(set) var isPaused = false

    /// An app that has not been started.
    package init(_ rules: AppRules = AppRules()) {
        self.rules = rules
    }

    /// An app that the system terminated before the phone was restarted.
    package init(terminated rules: AppRules) {
        self.rules = rules
        phase = .terminated(kept: rules.relaunchedRoles)
    }

    /// Where the app is; one that was woken is in the background.
    package var state: AppState {
        switch phase {
        case .notRunning: .notRunning
        case .foreground: .foreground
        case .background: .background
        case .suspended: .suspended
        case .terminated: .terminated
        case .quit: .quit
        }
    }

    /// Whether its code runs.
    package var isRunning: Bool {
        switch phase {
        case .foreground, .background: true
        case .notRunning, .suspended, .terminated, .quit: false
        }
    }

    /// `true` if the app runs because an event woke it.
    package var isWoken: Bool {
        if case .background(let running) = phase { running.isWoken } else { false }
    }

    /// `true` if the app has overrun its time and is about to be ended.
    package var isThrottled: Bool {
        if case .background(let running) = phase { running.isThrottled } else { false }
    }

    /// When `.deadlineReached` is to be given; `nil` if nothing is waited for.
    package var deadline: Instant? {
        if case .background(let running) = phase { running.deadline } else { nil }
    }

    /// Whether the system works for it although it has ended it.
    package var isKept: Bool { !kept.isEmpty }

    /// The roles whose managers it works for although the app has ended.
    var kept: Set<BluetoothRole> {
        switch phase {
        case .terminated(let kept), .quit(let kept): kept
        case .notRunning, .foreground, .background, .suspended: []
        }
    }

    /// Returns whether the system works for the app's managers of a role although the app has ended.
    package func isKept(for role: BluetoothRole) -> Bool { kept.contains(role) }

    /// Whether the system holds its services and advertisement.
    var isServed: Bool {
        switch phase {
        case .foreground, .background, .suspended: true
        case .terminated(let kept): kept.contains(.peripheral)
        case .notRunning, .quit: false
        }
    }

    /// How what the app advertises goes on the air now.
    package var advertisingMode: AdvertisingMode {
        guard radioState == .poweredOn else { return .off }
        switch phase {
        case .foreground: return .foreground
        case .background, .suspended:
            guard rules.isBackgroundPeripheral else { return .off }
            return rules.keepsPrivileges ? .foreground : .background
        case .terminated(let kept): return kept.contains(.peripheral) ? .background : .off
        case .notRunning, .quit: return .off
        }
    }

    /// Whether the contents of its services are disabled: it is not on the screen and has no background mode
    /// (CBPeripheralManager).
    ///
    /// Values of static characteristics are answered all the same, as the guide has it, an assumption:
    /// CBPeripheralManager excepts nothing.
    package var disablesServices: Bool {
        switch phase {
        case .background, .suspended: !rules.isBackgroundPeripheral
        case .foreground, .terminated, .notRunning, .quit: false
        }
    }

    /// Whether a request for a dynamic value reaches the app, at once or by waking it.
    package var servesDynamicValues: Bool {
        switch phase {
        case .foreground: true
        case .background, .suspended: rules.isBackgroundPeripheral
        case .terminated(let kept): kept.contains(.peripheral)
        case .notRunning, .quit: false
        }
    }
}

/// The way to advertise an app.
public enum AdvertisingMode: String, Hashable, Sendable, CaseIterable {
    /// The app is not advertised.
    case off
    /// The app advertises with its name and service UUIDs.
    case foreground
    /// The app advertises without its name, with every UUID in the overflow area, and at a longer interval.
    case background
}

extension AppLifecycle {
    mutating func enter(_ phase: Phase) {
        self.phase = phase
    }

    mutating func setRadioState(_ state: RadioState) {
        radioState = state
    }

    mutating func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
    }

    mutating func beginWork() {
        work += 1
    }

    /// Ends one piece of work; returns `false` if there was none.
    mutating func endWork() -> Bool {
        guard work > 0 else { return false }
        work -= 1
        return true
    }

    mutating func forgetWork() {
        work = 0
    }
}
