import MynahCore

/// The life cycle of an iOS app.
///
/// This state machine handles events with their times, and returns actions. It has no clock and no radio.
///
/// Apple documents the following rules, which no capture confirms:
///
/// - An app without the background mode neither advertises nor answers while it is off the screen. When it
///   returns, it gets the queued events ("Core Bluetooth Background Processing for iOS Apps").
/// - An app with the background mode is woken for "read, write, or subscription events", has "around 10
///   seconds", and is throttled or ended if it takes longer (same guide).
/// - An app with a restore identifier is relaunched after the system has ended it or it has crashed, but not
///   after the user has quit it (TN3115).
/// - CBPeripheralManager says what happens to advertising and services while Bluetooth is off.
/// - A central is woken for every call of its delegate. Without the background mode, it gets events of its
///   connections when it runs again.
///
/// Each point that Apple leaves open is an assumption, which the code for that point mentions.
///
/// An event must not have an earlier time than the event before. An event that is impossible in the current
/// state changes nothing.
package struct AppLifecycle<Instant: InstantProtocol & Sendable>: Sendable
where Instant.Duration == Duration {
    /// The phase of the app's life cycle, with the data that is valid in it.
    enum Phase {
        case notRunning
        case foreground
        case background(Running)
        case suspended
        /// The system keeps the app's managers of these roles, and their events relaunch the app.
        case terminated(kept: Set<BluetoothRole>)
        /// As `terminated`, after the user has quit the app; the system keeps managers only for an app with
        /// AccessorySetupKit.
        case quit(kept: Set<BluetoothRole>)
    }

    /// The times of an app that runs in the background.
    ///
    /// The app's allowance is the time that the system grants it. If the rules set a `taskTime`, the app
    /// works for that time after each event; this is its own work for events.
    struct Running {
        /// Whether an event woke the app; otherwise, the app has just left the foreground.
        let isWoken: Bool
        /// The time until which the app runs even without work.
        private(set) var idleUntil: Instant
        /// The time until which work that is unfinished at `idleUntil` may continue.
        private(set) var busyUntil: Instant
        /// The time at which the app finishes its own work for events, or `nil` if the rules set no
        /// `taskTime`.
        private(set) var taskUntil: Instant?
        /// Whether the app was throttled during its own work for events.
        ///
        /// Such an app is ended before it finishes the work, which is an assumption.
        private(set) var isTaskLate = false
        /// The next deadline: the end of the app's own work for events, or of its allowance.
        private(set) var deadline: Instant
        /// The time at which the app is ended because it has exceeded its allowance, or `nil` if it has not.
        private(set) var endsAt: Instant?

        var isThrottled: Bool { endsAt != nil }

        init(isWoken: Bool, idleUntil: Instant, busyUntil: Instant) {
            self.isWoken = isWoken
            self.idleUntil = idleUntil
            self.busyUntil = busyUntil
            deadline = idleUntil
        }

        /// Makes the times of an app that an event wakes.
        init(wokenAt now: Instant, _ rules: AppRules) {
            self.init(isWoken: true, idleUntil: now, busyUntil: now)
            grant(rules, at: now)
        }

        /// Extends the app's time for an event.
        ///
        /// An app that has exceeded its allowance gets no more time, which is an assumption.
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

        /// Whether the app's own work for events continues.
        func isAtTask(_ now: Instant) -> Bool { isTaskLate || taskUntil.map { $0 > now } ?? false }

        /// Whether the app may run without work in the background.
        func mayIdle(_ now: Instant) -> Bool { !isThrottled && idleUntil > now }

        /// Sets the deadline to the end of the app's own work for events, or of its allowance if that is
        /// earlier.
        mutating func rest() {
            let done = max(idleUntil, taskUntil ?? idleUntil)
            let end = endsAt ?? busyUntil
            deadline = isTaskLate ? end : min(done, end)
        }

        /// Sets the deadline to the end of the allowance, because work is unfinished.
        mutating func bearWork() {
            deadline = endsAt ?? busyUntil
        }

        mutating func throttle(until instant: Instant, at now: Instant, isWorking: Bool) {
            endsAt = instant
            isTaskLate = isAtTask(now)
            if isWorking { bearWork() } else { rest() }
        }
    }

    /// The rules for the app; a new manager with a restore identifier may change them.
    package var rules: AppRules
    private(set) var phase = Phase.notRunning
    private(set) var radioState = RadioState.unknown
    /// The number of unfinished tasks: requests that are answered later, and background tasks.
    private(set) var work = 0
    /// `true` if the app's advertising waits for Bluetooth to be powered on again.
    private(set) var isPaused = false

    /// Makes the life cycle of an app that was never launched.
    package init(_ rules: AppRules = AppRules()) {
        self.rules = rules
    }

    /// Makes the life cycle of an app that the system terminated before the phone was restarted.
    package init(terminated rules: AppRules) {
        self.rules = rules
        phase = .terminated(kept: rules.relaunchedRoles)
    }

    /// The state of the app; a woken app is in the background.
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

    /// Whether the app's code runs.
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

    /// `true` if the app has exceeded its allowance and is about to be ended.
    package var isThrottled: Bool {
        if case .background(let running) = phase { running.isThrottled } else { false }
    }

    /// The time at which the caller must pass in `.deadlineReached`, or `nil` if there is none.
    package var deadline: Instant? {
        if case .background(let running) = phase { running.deadline } else { nil }
    }

    /// Whether the app has ended, and the system keeps managers of it.
    package var isKept: Bool { !kept.isEmpty }

    /// The roles whose managers the system keeps although the app has ended.
    var kept: Set<BluetoothRole> {
        switch phase {
        case .terminated(let kept), .quit(let kept): kept
        case .notRunning, .foreground, .background, .suspended: []
        }
    }

    /// Whether the system keeps the app's managers of a role although the app has ended.
    package func isKept(for role: BluetoothRole) -> Bool { kept.contains(role) }

    /// Whether the system keeps the app's services and advertisement.
    var isServed: Bool {
        switch phase {
        case .foreground, .background, .suspended: true
        case .terminated(let kept): kept.contains(.peripheral)
        case .notRunning, .quit: false
        }
    }

    /// The current mode in which the phone advertises for the app.
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

    /// Whether requests for the app's services are refused, because it is not in the foreground and has no
    /// background mode (CBPeripheralManager).
    ///
    /// Static values are still answered, as the guide describes. This is an assumption, because
    /// CBPeripheralManager makes no exception.
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

/// The mode in which a phone advertises for an app.
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

    /// Ends one unfinished task; returns `false` if there was none.
    mutating func endWork() -> Bool {
        guard work > 0 else { return false }
        work -= 1
        return true
    }

    mutating func forgetWork() {
        work = 0
    }
}
