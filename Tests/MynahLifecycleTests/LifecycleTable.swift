import MynahCore
import MynahLifecycle
import MynahTestSupport

typealias Life = AppLifecycle<ManualClock.Instant>

extension ManualClock.Instant {
    private static let start = ManualClock().now

    /// So many seconds after the clock was made.
    static func second(_ second: Double) -> Self { start.advanced(by: .seconds(second)) }
}

extension Life {
    @discardableResult
    mutating func handle(_ event: AppEvent, atSecond second: Double) -> [AppAction] {
        handle(event, at: .second(second))
    }

    /// Its state, and in the background why it runs.
    var label: String {
        isThrottled ? "throttled" : isWoken ? "woken" : state.rawValue
    }
}

extension AppRules {
    static let foregroundOnly = AppRules()
    static let restorable = AppRules(isPeripheral: false, isRestorable: true)
    static let peripheral = AppRules(isPeripheral: true, isRestorable: false)
    static let restorablePeripheral = AppRules(isPeripheral: true, isRestorable: true)

    init(isPeripheral: Bool, isRestorable: Bool) {
        self.init()
        if isPeripheral { backgroundModes = [.bluetoothPeripheral] }
        self.isRestorable = isRestorable
    }
}

extension AppAction {
    /// As the tables spell it.
    var word: String {
        switch self {
        case .launched(let inBackground, let restoring):
            "launched" + (inBackground ? "InBackground" : "") + (restoring ? "Restoring" : "")
        case .enteredForeground: "enteredForeground"
        case .enteredBackground: "enteredBackground"
        case .suspended: "suspended"
        case .woken(let event): "woken:\(event)"
        case .throttled: "throttled"
        case .extraneous: "extraneous"
        case .terminated(let reason): "terminated:\(reason)"
        case .userQuit: "userQuit"
        case .deliver: "deliver"
        case .queue: "queue"
        case .refuse: "refuse"
        case .discard: "discard"
        case .deliverQueued: "deliverQueued"
        case .dropQueued: "dropQueued"
        case .pauseAdvertising: "pause"
        case .resumeAdvertising: "resume"
        case .stopAdvertising(let forget): forget ? "stop" : "stop:kept"
        case .withdrawServices(let forget): forget ? "clear" : "withdraw"
        case .forgetPreservedState: "forget"
        }
    }
}

// Transitions, as tests name events.
extension AppEvent {
    static let enterForeground = AppEvent.transition(.enterForeground)
    static let enterBackground = AppEvent.transition(.enterBackground)
    static let suspend = AppEvent.transition(.suspend)
    static let terminate = AppEvent.transition(.terminate)
    static let memoryPressure = AppEvent.transition(.memoryPressure)
    static let crash = AppEvent.transition(.crash)
    static let quit = AppEvent.transition(.quit)
}

/// Everything that can happen, as a table's first column; what is a central's has tables of its own.
enum Trigger: String, CaseIterable {
    case enterForeground, enterBackground, suspend, terminate, memoryPressure, crash, quit
    case phoneRestarted, relaunchForbidden
    case read, write, writeCommand, subscribe, unsubscribe, other
    case workBegan, workEnded, extraneousWork
    /// Given when the machine's deadline comes, and a nanosecond earlier.
    case deadlineReached, deadlineTooEarly
    case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn

    /// Exhaustive, so that an event that is added is given rows; `nil` for a central's.
    init?(_ event: AppEvent) {
        switch event {
        case .transition(.enterForeground): self = .enterForeground
        case .transition(.enterBackground): self = .enterBackground
        case .transition(.suspend): self = .suspend
        case .transition(.terminate): self = .terminate
        case .transition(.memoryPressure): self = .memoryPressure
        case .transition(.crash): self = .crash
        case .transition(.quit): self = .quit
        case .bluetooth(.read): self = .read
        case .bluetooth(.write): self = .write
        case .bluetooth(.writeCommand): self = .writeCommand
        case .bluetooth(.subscribe): self = .subscribe
        case .bluetooth(.unsubscribe): self = .unsubscribe
        case .bluetooth(.other): self = .other
        case .bluetooth(.discovered), .bluetooth(.connected), .bluetooth(.disconnected),
            .bluetooth(.notified), .bluetooth(.answered), .bluetooth(.state), .bluetooth(.connectionEvent):
            return nil
        case .phoneRestarted: self = .phoneRestarted
        case .relaunchForbidden: self = .relaunchForbidden
        case .workBegan: self = .workBegan
        case .workEnded: self = .workEnded
        case .extraneousWork: self = .extraneousWork
        case .deadlineReached: self = .deadlineReached
        case .radioState(.unknown): self = .unknown
        case .radioState(.resetting): self = .resetting
        case .radioState(.unsupported): self = .unsupported
        case .radioState(.unauthorized): self = .unauthorized
        case .radioState(.poweredOff): self = .poweredOff
        case .radioState(.poweredOn): self = .poweredOn
        }
    }

    /// The event that this is a row of.
    var event: AppEvent {
        switch self {
        case .enterForeground: .enterForeground
        case .enterBackground: .enterBackground
        case .suspend: .suspend
        case .terminate: .terminate
        case .memoryPressure: .memoryPressure
        case .crash: .crash
        case .quit: .quit
        case .phoneRestarted: .phoneRestarted
        case .relaunchForbidden: .relaunchForbidden
        case .read: .bluetooth(.read)
        case .write: .bluetooth(.write)
        case .writeCommand: .bluetooth(.writeCommand)
        case .subscribe: .bluetooth(.subscribe)
        case .unsubscribe: .bluetooth(.unsubscribe)
        case .other: .bluetooth(.other)
        case .workBegan: .workBegan
        case .workEnded: .workEnded
        case .extraneousWork: .extraneousWork
        case .deadlineReached, .deadlineTooEarly: .deadlineReached
        case .unknown: .radioState(.unknown)
        case .resetting: .radioState(.resetting)
        case .unsupported: .radioState(.unsupported)
        case .unauthorized: .radioState(.unauthorized)
        case .poweredOff: .radioState(.poweredOff)
        case .poweredOn: .radioState(.poweredOn)
        }
    }
}

/// A place in an app's life that a table is about, with how it got there.
enum Situation: String, CaseIterable {
    case notRunning
    case foreground, foregroundOfKept
    case background, backgroundBusy, backgroundOfKept
    case woken, wokenBusy, throttled, throttledForegroundOnly
    case suspended, suspendedOfKept
    case terminated, terminatedRestorable, terminatedKept
    case quit

    var rules: AppRules {
        switch self {
        case .foreground, .background, .backgroundBusy, .throttledForegroundOnly, .suspended, .terminated:
            .foregroundOnly
        case .terminatedRestorable: .restorable
        case .notRunning, .foregroundOfKept, .backgroundOfKept, .woken, .wokenBusy, .throttled,
            .suspendedOfKept, .terminatedKept, .quit:
            .restorablePeripheral
        }
    }

    /// The events so far and their seconds, with Bluetooth powered on from the start; a row's event
    /// comes at `second`.
    var past: (events: [(AppEvent, Double)], second: Double) {
        switch self {
        case .notRunning: ([], 1)
        case .foreground, .foregroundOfKept: ([(.enterForeground, 0)], 1)
        case .background, .backgroundOfKept: ([(.enterForeground, 0), (.enterBackground, 0)], 2)
        case .backgroundBusy:
            ([(.enterForeground, 0), (.workBegan, 0), (.enterBackground, 0), (.deadlineReached, 5)], 7)
        case .woken:
            ([(.enterForeground, 0), (.suspend, 0), (.bluetooth(.read), 10)], 14)
        case .wokenBusy:
            ([(.enterForeground, 0), (.suspend, 0), (.bluetooth(.read), 10), (.workBegan, 10)], 14)
        case .throttled:
            (
                [
                    (.enterForeground, 0), (.suspend, 0), (.bluetooth(.read), 10), (.workBegan, 10),
                    (.deadlineReached, 20),
                ], 24
            )
        case .throttledForegroundOnly:
            (
                [
                    (.enterForeground, 0), (.workBegan, 0), (.enterBackground, 0), (.deadlineReached, 5),
                    (.deadlineReached, 15),
                ], 19
            )
        case .suspended, .suspendedOfKept: ([(.enterForeground, 0), (.suspend, 0)], 1)
        case .terminated, .terminatedRestorable, .terminatedKept:
            ([(.enterForeground, 0), (.terminate, 0)], 1)
        case .quit: ([(.enterForeground, 0), (.quit, 0)], 1)
        }
    }

    var life: Life {
        var life = Life(rules)
        life.handle(.radioState(.poweredOn), atSecond: 0)
        for (event, second) in past.events { life.handle(event, atSecond: second) }
        return life
    }

    /// The outcome: state, advertising mode, seconds to the deadline, and the actions, in a table's
    /// words.
    func outcome(of trigger: Trigger) -> String {
        var life = life
        var now = ManualClock.Instant.second(past.second)
        if let deadline = life.deadline {
            switch trigger {
            case .deadlineReached: now = deadline
            case .deadlineTooEarly: now = deadline.advanced(by: .nanoseconds(-1))
            default: break
            }
        }
        let actions = life.handle(trigger.event, at: now).map(\.word)
        let rest = life.deadline.map { $0.offset - now.offset }
        let seconds = rest.map { $0 == .nanoseconds(1) ? "1ns" : "\($0.components.seconds)s" }
        return ([life.label, life.advertisingMode.rawValue, seconds ?? "-"] + actions)
            .joined(separator: " ")
    }
}
