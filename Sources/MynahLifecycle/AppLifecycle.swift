import MynahCore

/// The life of an iOS app, as a machine without clock or radio: an event and its time in, actions out.
///
/// What Apple documents ("Core Bluetooth Background Processing for iOS Apps") is followed; what it leaves open is said
/// where it is decided. A time that an event names must not be before the last one's; an event that makes no sense in a
/// state changes nothing.
public struct AppLifecycle<Instant: InstantProtocol & Sendable>: Sendable where Instant.Duration == Duration {
    /// Where the app is, with exactly what holds there.
    enum Phase {
        case notRunning
        case foreground
        case background(Running)
        case suspended
        /// `isKept`: its services and adverts stay, and an event relaunches it.
        case terminated(isKept: Bool)
        case quit
    }

    /// An app that runs while it is not on the screen.
    struct Running {
        /// An event woke it, rather than that it has just left the screen.
        var isWoken: Bool
        /// When its time is over.
        var until: Instant
        /// It left the screen with work under way, and has the time for it.
        var hasHadAllowance = false
        /// It has overrun that time already, and `until` is its end.
        var isThrottled = false
    }

    /// What decides; a manager that is made with a restore identifier may change it.
    public var rules: AppRules
    private(set) var phase = Phase.notRunning
    private(set) var radioState = RadioState.unknown
    /// Pieces of work under way: requests that are answered later, background tasks.
    private(set) var work = 0

    /// An app that has not been started.
    public init(_ rules: AppRules = AppRules()) {
        self.rules = rules
    }

    /// Where the app is; one that was woken is in the background.
    public var state: AppState {
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
    public var isRunning: Bool {
        switch phase {
        case .foreground, .background: true
        case .notRunning, .suspended, .terminated, .quit: false
        }
    }

    /// Whether it runs because an event woke it.
    public var isWoken: Bool {
        if case .background(let running) = phase { running.isWoken } else { false }
    }

    /// Whether it has overrun its time and is about to be ended.
    public var isThrottled: Bool {
        if case .background(let running) = phase { running.isThrottled } else { false }
    }

    /// When `.deadlineReached` is to be given; nil: nothing is waited for.
    public var deadline: Instant? {
        if case .background(let running) = phase { running.until } else { nil }
    }

    /// How what the app advertises goes on the air now.
    public var advertisingMode: AdvertisingMode {
        guard radioState == .poweredOn else { return .off }
        switch phase {
        case .foreground: return .foreground
        case .background, .suspended: return rules.isBackgroundPeripheral ? .background : .off
        case .terminated(let isKept): return isKept ? .background : .off
        case .notRunning, .quit: return .off
        }
    }

    /// Whether a request for a dynamic value reaches the app, at once or by waking it.
    public var servesDynamicValues: Bool {
        switch phase {
        case .foreground: true
        case .background, .suspended: rules.isBackgroundPeripheral
        case .terminated(let isKept): isKept
        case .notRunning, .quit: false
        }
    }
}

/// How an app's advertisement goes on the air.
public enum AdvertisingMode: String, Hashable, Sendable, CaseIterable {
    /// Not at all.
    case off
    /// With name and service UUIDs.
    case foreground
    /// Without name, every UUID in the overflow area, at a reduced rate.
    case background
}

extension AppLifecycle {
    mutating func enter(_ phase: Phase) {
        self.phase = phase
    }

    mutating func setRadioState(_ state: RadioState) {
        radioState = state
    }

    mutating func beginWork() {
        work += 1
    }

    /// False: there was none.
    mutating func endWork() -> Bool {
        guard work > 0 else { return false }
        work -= 1
        return true
    }

    mutating func forgetWork() {
        work = 0
    }
}
