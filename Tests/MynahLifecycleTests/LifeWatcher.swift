import MynahCore
import MynahLifecycle
import MynahTestSupport

/// Watches what an app's life says is to be done, and says when that breaks a rule.
///
/// It believes the actions and not the machine: what it knows of the app it has from them and from the rules'
/// text.
struct LifeWatcher {
    enum Place {
        case nowhere, onScreen, offScreen, asleep
        case gone(kept: Set<BluetoothRole>)
    }

    typealias Instant = ManualClock.Instant

    let rules: AppRules
    var place = Place.nowhere
    /// The user has ended it, or never started it.
    var isUsersToStart = true
    var isWoken = false
    var radioState = RadioState.unknown
    var work = 0
    /// Off the screen: until when it may idle, and until when it may be busy.
    var idleUntil = Instant.second(0)
    var busyUntil = Instant.second(0)
    var throttledUntil: Instant?
    /// Events by number: the last one, what waits, and the last that was handed to the app.
    var lastNumber = 0
    var queue: [Int] = []
    var lastDelivered = 0
    var isPaused = false
    /// While an event is taken: what came before the action that is looked at.
    var isHandled = false

    init(_ rules: AppRules) {
        self.rules = rules
    }

    var isPeripheral: Bool { hasMode(for: .peripheral) }

    func hasMode(for role: BluetoothRole) -> Bool {
        rules.backgroundModes.contains(role == .central ? .bluetoothCentral : .bluetoothPeripheral)
    }

    /// The roles whose events relaunch it after it ended.
    var kept: Set<BluetoothRole> {
        var kept: Set<BluetoothRole> = []
        if rules.isRestorable, hasMode(for: .peripheral) { kept.insert(.peripheral) }
        if rules.isCentralRestorable, hasMode(for: .central) { kept.insert(.central) }
        return kept
    }

    /// Whether an event reaches it while it runs off the screen.
    ///
    /// A central's events do until it is suspended, but its scan needs the mode.
    func isHeardOffScreen(_ kind: BluetoothEvent) -> Bool {
        hasMode(for: kind.role) || kind.role == .central && kind != .discovered
    }

    var runs: Bool {
        switch place {
        case .onScreen, .offScreen: true
        case .nowhere, .asleep, .gone: false
        }
    }

    /// The fault of these actions, or of the life after them.
    mutating func watch(_ event: AppEvent, at now: Instant, actions: [AppAction], life: Life) -> String? {
        isHandled = false
        let isChange = if case .radioState(let state) = event { state != radioState } else { false }
        let isForApp = if case .bluetooth = event { true } else { isChange }
        if isForApp { lastNumber += 1 }
        if let broken = before(event, at: now, actions: actions) { return broken }
        count(event)
        for action in actions {
            if let broken = take(action, of: event, at: now) { return "\(action.word): \(broken)" }
        }
        guard isHandled == isForApp else {
            return "an event of Bluetooth is handled once, and nothing else is"
        }
        if case .radioState(let state) = event { radioState = state }
        return compare(life, after: event, at: now)
    }

    /// The actions that an event requires.
    private func before(_ event: AppEvent, at now: Instant, actions: [AppAction]) -> String? {
        switch (event, place) {
        case (.enterForeground, .nowhere), (.enterForeground, .gone):
            let isRestorable = rules.isRestorable || rules.isCentralRestorable
            let restoring = if case .gone = place { isRestorable && !isUsersToStart } else { false }
            guard actions == [.launched(inBackground: false, restoring: restoring), .enteredForeground] else {
                return "the user's launch brings it to the screen"
            }
        case (.bluetooth(let kind), .gone(let kept)) where kept.contains(kind.role) && kind.relaunches:
            guard actions == [.launched(inBackground: true, restoring: true), .woken(by: kind), .deliver]
            else {
                return "what is kept is relaunched, woken and told, in this order"
            }
        case (.bluetooth(let kind), .asleep) where kind.wakes && hasMode(for: kind.role):
            guard actions == [.woken(by: kind), .deliverQueued, .deliver] else {
                return "what sleeps is woken, told what waits, and then what woke it"
            }
        case (.bluetooth, .onScreen):
            guard actions == [.deliver] else { return "on the screen it is told" }
        case (.bluetooth(let kind), .offScreen) where isHeardOffScreen(kind):
            guard
                actions == (queue.isEmpty ? [.deliver] : [.deliverQueued, .deliver])
                    || kind.role == .central && actions == [.deliverQueued, .deliver]
            else { return "off the screen it is told" }
        case (.extraneousWork, _):
            guard actions == (isWoken ? [.extraneous] : []) else { return "extraneous is what is done woken" }
        case (.memoryPressure, .asleep), (.terminate, .asleep), (.terminate, .onScreen),
            (.terminate, .offScreen),
            (.crash, .asleep), (.crash, .onScreen), (.crash, .offScreen), (.phoneRestarted, .asleep),
            (.phoneRestarted, .onScreen), (.phoneRestarted, .offScreen):
            guard case .terminated = actions.first else { return "it has to end" }
        case (.relaunchForbidden, .gone(let kept)) where !kept.isEmpty:
            guard
                actions == [
                    .stopAdvertising(forget: true), .withdrawServices(forget: true), .forgetPreservedState,
                ]
            else { return "what is not relaunched leaves nothing" }
        case (.relaunchForbidden, _):
            guard actions.isEmpty else { return "nothing is worked for" }
        case (.quit, .asleep), (.quit, .onScreen), (.quit, .offScreen), (.quit, .gone):
            if isUsersToStart { break }
            guard
                actions == [
                    .userQuit, .dropQueued, .stopAdvertising(forget: true), .withdrawServices(forget: true),
                    .forgetPreservedState,
                ]
            else {
                return "the user's end leaves nothing"
            }
        default:
            break
        }
        return nil
    }

    private mutating func count(_ event: AppEvent) {
        switch event {
        case .workBegan: if runs { work += 1 }
        case .workEnded: work = max(0, work - 1)
        case .relaunchForbidden: if case .gone = place { place = .gone(kept: []) }
        default: break
        }
    }

    private func compare(_ life: Life, after event: AppEvent, at now: Instant) -> String? {
        let state: AppState =
            switch place {
            case .nowhere: .notRunning
            case .onScreen: .foreground
            case .offScreen: .background
            case .asleep: .suspended
            case .gone: isUsersToStart ? .quit : .terminated
            }
        let mode: AdvertisingMode =
            switch place {
            case _ where radioState != .poweredOn: .off
            case .onScreen: .foreground
            case .offScreen, .asleep: isPeripheral ? .background : .off
            case .gone(let kept): kept.contains(.peripheral) ? .background : .off
            case .nowhere: .off
            }
        guard life.state == state, life.isRunning == runs else { return "it is \(life.state), not \(state)" }
        guard life.advertisingMode == mode else {
            return "advertised as \(life.advertisingMode), not \(mode)"
        }
        guard life.isWoken == isWoken else { return "woken or not" }
        guard life.isThrottled == (throttledUntil != nil) else { return "throttled or not" }
        var copy = life
        guard copy.handle(.bluetooth(.read), at: now).contains(.deliver) == life.servesDynamicValues else {
            return "a read is served or not"
        }
        return compareDeadline(life, after: event, at: now)
    }

    private func compareDeadline(_ life: Life, after event: AppEvent, at now: Instant) -> String? {
        guard case .offScreen = place else { return life.deadline == nil ? nil : "it waits for nothing" }
        guard let deadline = life.deadline else { return "nothing will suspend it" }
        if let throttledUntil {
            guard work > 0 else { return "throttled without work" }
            return deadline == throttledUntil ? nil : "throttled for another time"
        }
        guard work > 0 else { return deadline == idleUntil ? nil : "idle for another time" }
        guard deadline == idleUntil || deadline == busyUntil else { return "busy for another time" }
        // An alarm that has rung is set for later than now, or not at all; no time at all is due at once.
        if event == .deadlineReached, deadline < now { return "due before now" }
        return nil
    }
}
