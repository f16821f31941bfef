import MynahCore
import MynahLifecycle
import MynahTestSupport

extension LifeWatcher {
    /// The fault of an action after all those before it; its changes are noted.
    mutating func take(_ action: AppAction, of event: AppEvent, at now: Instant) -> String? {
        switch action {
        case .launched(let inBackground, _): return launch(inBackground: inBackground)
        case .enteredForeground: return come(event)
        case .enteredBackground: return leave(event, at: now)
        case .suspended: return fallAsleep(event, at: now)
        case .woken(let kind): return wake(kind, by: event, at: now)
        case .throttled: return throttle(event, at: now)
        case .extraneous: return isWoken ? nil : "nothing woke it"
        case .terminated(let reason): return end(reason, by: event, at: now)
        case .userQuit: return quit(event)
        case .deliver: return deliver(event, at: now)
        case .queue, .refuse, .discard: return keepFromApp(action, event)
        case .deliverQueued:
            guard runs else { return "it does not run" }
            guard queue == queue.sorted(), (queue.first ?? .max) > lastDelivered else {
                return "out of order"
            }
            lastDelivered = queue.last ?? lastDelivered
            queue = []
        case .dropQueued:
            guard case .gone = place else { return "it is there to be told" }
            queue = []
        case .pauseAdvertising:
            guard radioState == .poweredOn, event != .radioState(.poweredOn) else { return "Bluetooth is on" }
            isPaused = true
        case .resumeAdvertising:
            guard event == .radioState(.poweredOn), isPaused else { return "nothing was paused and kept" }
            isPaused = false
        case .stopAdvertising(let forget), .withdrawServices(let forget):
            isPaused = false
            if case .radioState(let state) = event {
                guard forget else { return "below powered off nothing is kept" }
                return state == .poweredOff || state == .poweredOn ? "only paused is right" : nil
            }
            guard case .gone(let kept) = place, !kept.contains(.peripheral) else { return "it is kept" }
            guard forget == forgets(event) else { return "only a quit and the rules for relaunching forget" }
        case .forgetPreservedState:
            guard forgets(event) else { return "only a quit and the rules for relaunching forget" }
        }
        return nil
    }

    private func forgets(_ event: AppEvent) -> Bool { event == .quit || event == .relaunchForbidden }

    private mutating func launch(inBackground: Bool) -> String? {
        switch place {
        case .onScreen, .offScreen, .asleep: return "it is started already"
        case .gone(let kept) where !kept.isEmpty: break
        case .nowhere, .gone: if inBackground { return "only the user starts it" }
        }
        guard queue.isEmpty else { return "something waits for another process" }
        place = .offScreen
        isUsersToStart = false
        return nil
    }

    private mutating func come(_ event: AppEvent) -> String? {
        guard event == .enterForeground else { return "nobody asked for it" }
        switch place {
        case .offScreen, .asleep: break
        case .nowhere, .onScreen, .gone: return "it is not there to come"
        }
        place = .onScreen
        isWoken = false
        throttledUntil = nil
        return nil
    }

    private mutating func leave(_ event: AppEvent, at now: Instant) -> String? {
        guard event == .enterBackground || event == .suspend, case .onScreen = place else {
            return "nobody asked"
        }
        place = .offScreen
        idleUntil = now.advanced(by: rules.suspendAfter)
        busyUntil = idleUntil.advanced(by: rules.wakeAllowance)
        return nil
    }

    private mutating func fallAsleep(_ event: AppEvent, at now: Instant) -> String? {
        guard case .offScreen = place else { return "it is not awake off the screen" }
        switch event {
        case .suspend: break
        case .deadlineReached:
            guard work == 0, throttledUntil == nil, now >= idleUntil else { return "it still may" }
        case .workEnded:
            guard work == 0, throttledUntil != nil || now >= idleUntil else { return "it still may" }
        default: return "nobody asked for it"
        }
        place = .asleep
        isWoken = false
        throttledUntil = nil
        return nil
    }

    private mutating func wake(_ kind: BluetoothEvent, by event: AppEvent, at now: Instant) -> String? {
        guard event == .bluetooth(kind), kind.wakes else { return "that does not wake" }
        guard hasMode(for: kind.role) else { return "an app without the background mode sleeps on" }
        switch place {
        case .asleep, .offScreen: break
        case .nowhere, .onScreen, .gone: return "it is not there to be woken"
        }
        place = .offScreen
        isWoken = true
        idleUntil = now
        busyUntil = now
        return nil
    }

    private mutating func throttle(_ event: AppEvent, at now: Instant) -> String? {
        guard event == .deadlineReached, case .offScreen = place else { return "its time is not over" }
        guard work > 0, throttledUntil == nil, now >= busyUntil else { return "it still may" }
        throttledUntil = now.advanced(by: rules.throttledAllowance)
        return nil
    }

    private mutating func end(_ reason: TerminationReason, by event: AppEvent, at now: Instant) -> String? {
        switch (reason, event, place) {
        case (.system, .terminate, _), (.crash, .crash, _), (.memoryPressure, .memoryPressure, .asleep),
            (.restart, .phoneRestarted, _):
            break
        case (.overran, .deadlineReached, .offScreen):
            guard work > 0, let throttledUntil, now >= throttledUntil else { return "it still may" }
        default: return "not for that"
        }
        switch place {
        case .nowhere, .gone: return "it is not there to end"
        case .onScreen, .offScreen, .asleep: break
        }
        vanish(kept: kept)
        return nil
    }

    private mutating func quit(_ event: AppEvent) -> String? {
        guard event == .quit, !isUsersToStart else { return "the user did not" }
        vanish(kept: [])
        isUsersToStart = true
        return nil
    }

    private mutating func vanish(kept: Set<BluetoothRole>) {
        place = .gone(kept: kept)
        isWoken = false
        throttledUntil = nil
        work = 0
    }

    private mutating func deliver(_ event: AppEvent, at now: Instant) -> String? {
        guard !isHandled else { return "handled twice" }
        isHandled = true
        guard runs else { return "it does not run" }
        guard queue.isEmpty, lastNumber > lastDelivered else { return "it overtakes what waits" }
        lastDelivered = lastNumber
        guard case .offScreen = place else { return nil }
        guard case .bluetooth(let kind) = event else {
            return isPeripheral ? nil : "off the screen it is told nothing"
        }
        guard isHeardOffScreen(kind) else { return "off the screen it is told nothing" }
        if kind.wakes, hasMode(for: kind.role), throttledUntil == nil {
            idleUntil = max(idleUntil, now.advanced(by: rules.wakeAllowance))
            busyUntil = max(busyUntil, idleUntil)
        }
        return nil
    }

    private mutating func keepFromApp(_ action: AppAction, _ event: AppEvent) -> String? {
        guard !isHandled else { return "handled twice" }
        isHandled = true
        let isThere =
            switch place {
            case .onScreen, .offScreen, .asleep: true
            case .nowhere, .gone: false
            }
        let isRefused =
            event == .bluetooth(.read) || event == .bluetooth(.write)
            || event == .bluetooth(.writeCommand) && isThere
        guard (action == .refuse) == isRefused else { return "a request is refused, and nothing else is" }
        switch place {
        case .onScreen: return "it is there to be told"
        case .offScreen, .asleep:
            let isPaused = event == .bluetooth(.discovered) && !hasMode(for: .central)
            guard (action == .discard) == isPaused else { return "only what a paused scan hears is dropped" }
        case .nowhere, .gone:
            guard action != .queue else { return "nobody will come for it" }
        }
        if action == .queue { queue.append(lastNumber) }
        return nil
    }
}
