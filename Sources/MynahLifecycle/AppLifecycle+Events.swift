import MynahCore

extension AppLifecycle {
    /// Handles an event; returns the actions that follow.
    package mutating func handle(_ event: AppEvent, at now: Instant) -> [AppAction] {
        switch event {
        case .transition(let transition): carryOut(transition, at: now)
        case .bluetooth(let event): bluetooth(event, at: now)
        case .workBegan: workBegan()
        case .workEnded: endWork(at: now)
        case .extraneousWork: isWoken ? [.extraneous] : []
        case .deadlineReached: deadlineReached(at: now)
        case .radioState(let state): change(to: state, at: now)
        case .phoneRestarted: terminate(.restart)
        case .relaunchForbidden: forbidRelaunch()
        }
    }

    private mutating func carryOut(_ transition: AppTransition, at now: Instant) -> [AppAction] {
        switch transition {
        case .enterForeground: enterForeground()
        case .enterBackground: enterBackground(at: now)
        case .suspend: suspend()
        case .terminate: terminate(.system)
        case .quit: quit()
        case .memoryPressure: if case .suspended = phase { terminate(.memoryPressure) } else { [] }
        case .crash: terminate(.crash)
        }
    }

    // MARK: On and off the screen

    private mutating func enterForeground() -> [AppAction] {
        defer { enter(.foreground) }
        switch phase {
        case .foreground:
            return []
        case .background, .suspended:
            return [.enteredForeground, .deliverQueued]
        case .notRunning:
            return [.launched(inBackground: false, restoring: false), .enteredForeground]
        case .quit(let kept):
            return [.launched(inBackground: false, restoring: !kept.isEmpty), .enteredForeground]
        case .terminated:
            return [
                .launched(
                    inBackground: false, restoring: rules.isRestorable || rules.isCentralRestorable),
                .enteredForeground,
            ]
        }
    }

    private mutating func enterBackground(at now: Instant) -> [AppAction] {
        guard case .foreground = phase else { return [] }
        // It is an assumption that work in progress may continue in the background for as long as in a wake.
        let idleUntil = now.advanced(by: rules.suspendAfter)
        let busyUntil = idleUntil.advanced(by: rules.wakeAllowance)
        enter(.background(Running(isWoken: false, idleUntil: idleUntil, busyUntil: busyUntil)))
        return [.enteredBackground]
    }

    /// Suspends the app; an app in the foreground enters the background first, as every app does.
    private mutating func suspend() -> [AppAction] {
        switch phase {
        case .foreground:
            enter(.suspended)
            return [.enteredBackground, .suspended]
        case .background:
            enter(.suspended)
            return [.suspended]
        case .notRunning, .suspended, .terminated, .quit:
            return []
        }
    }

    // MARK: Ends

    private mutating func terminate(_ reason: TerminationReason) -> [AppAction] {
        switch phase {
        case .foreground, .background, .suspended:
            forgetWork()
            let kept = rules.relaunchedRoles
            enter(.terminated(kept: kept))
            guard !kept.contains(.peripheral) else { return [.terminated(reason), .dropQueued] }
            setPaused(false)
            return [
                .terminated(reason), .dropQueued, .stopAdvertising(forget: false),
                .withdrawServices(forget: false),
            ]
        case .notRunning, .terminated, .quit:
            return []
        }
    }

    private mutating func quit() -> [AppAction] {
        switch phase {
        case .foreground, .background, .suspended, .terminated:
            forgetWork()
            setPaused(false)
            var kept = rules.rolesAfterQuit
            if case .terminated(let before) = phase { kept.formIntersection(before) }
            enter(.quit(kept: kept))
            return [
                .userQuit, .dropQueued, .stopAdvertising(forget: true), .withdrawServices(forget: true),
                .forgetPreservedState,
            ]
        case .notRunning, .quit:
            return []
        }
    }

    /// Prevents the system from relaunching the app until its user opens it.
    ///
    /// The user's next launch restores nothing either, which is an assumption: TN3115 says that the system
    /// will not "relaunch and restore" the app.
    private mutating func forbidRelaunch() -> [AppAction] {
        guard isKept else { return [] }
        setPaused(false)
        if case .quit = phase { enter(.quit(kept: [])) } else { enter(.terminated(kept: [])) }
        return [.stopAdvertising(forget: true), .withdrawServices(forget: true), .forgetPreservedState]
    }

    // MARK: Bluetooth

    private mutating func bluetooth(_ event: BluetoothEvent, at now: Instant) -> [AppAction] {
        let isAwaited = rules.hasMode(for: event.role)
        switch phase {
        case .foreground:
            return [.deliver]
        case .background(var running) where isAwaited || event.role == .central && event != .discovered:
            if event.wakes, isAwaited {
                running.grant(rules, at: now)
                enter(.background(running))
            }
            // A peripheral manager's queued events keep their order, which is an assumption.
            return event.role == .central && !rules.isBackgroundPeripheral
                ? [.deliverQueued, .deliver] : [.deliver]
        case .suspended where isAwaited:
            guard event.wakes else { return [.queue] }
            wake(at: now)
            return [.woken(by: event), .deliverQueued, .deliver]
        case .background, .suspended:
            // The app's scan is paused in the background.
            if event == .discovered { return [.discard] }
            // The app's services are disabled in the background, for a command too.
            return event.wantsAnswer || event == .writeCommand ? [.refuse] : [.queue]
        case .terminated where isKept(for: event.role), .quit where isKept(for: event.role):
            guard event.relaunches else { return [.discard] }
            wake(at: now)
            return [.launched(inBackground: true, restoring: true), .woken(by: event), .deliver]
        case .terminated, .notRunning, .quit:
            return event.wantsAnswer ? [.refuse] : [.discard]
        }
    }

    private mutating func wake(at now: Instant) {
        enter(.background(Running(wokenAt: now, rules)))
    }

    /// Handles a new Bluetooth state (CBPeripheralManager).
    ///
    /// In a state below poweredOn, in the order of `isBelowPoweredOff`, advertising pauses. Below poweredOff,
    /// the services and the advertising are removed.
    ///
    /// Below poweredOn, the radio disconnects the centrals and reports each disconnection.
    ///
    /// A change does not wake an app for its peripheral managers, which is an assumption because Apple does
    /// not mention it. For central managers, the event `BluetoothEvent.state` wakes the app.
    private mutating func change(to new: RadioState, at now: Instant) -> [AppAction] {
        let old = radioState
        guard new != old else { return [] }
        setRadioState(new)
        var actions: [AppAction] = []
        if old == .poweredOn {
            actions.append(.pauseAdvertising)
            setPaused(isServed)
        }
        if new.isBelowPoweredOff, !old.isBelowPoweredOff {
            actions += [.stopAdvertising(forget: true), .withdrawServices(forget: true)]
            setPaused(false)
        }
        if new == .poweredOn {
            if isPaused { actions.append(.resumeAdvertising) }
            setPaused(false)
        }
        return actions + bluetooth(.other, at: now)
    }

    // MARK: Time

    private mutating func workBegan() -> [AppAction] {
        if isRunning { beginWork() }
        return []
    }

    private mutating func endWork(at now: Instant) -> [AppAction] {
        guard endWork(), work == 0, case .background(var running) = phase else { return [] }
        guard !running.isAtTask(now) else {
            running.rest()
            enter(.background(running))
            return []
        }
        // An app that ran only because of its work is suspended when the work ends.
        guard !running.mayIdle(now) else { return [] }
        enter(.suspended)
        return [.suspended]
    }

    private mutating func deadlineReached(at now: Instant) -> [AppAction] {
        guard case .background(var running) = phase, running.deadline <= now else { return [] }
        guard work > 0 || running.isAtTask(now) else {
            enter(.suspended)
            return [.suspended]
        }
        if let end = running.endsAt, end <= now { return terminate(.overran) }
        guard !running.isThrottled, running.busyUntil <= now else {
            running.bearWork()
            enter(.background(running))
            return []
        }
        running.throttle(until: now.advanced(by: rules.throttledAllowance), at: now, isWorking: work > 0)
        enter(.background(running))
        return [.throttled]
    }
}

extension RadioState {
    /// `true` if the state is before poweredOff in Apple's order: unknown, resetting, unsupported,
    /// unauthorized, poweredOff, poweredOn.
    var isBelowPoweredOff: Bool {
        switch self {
        case .unknown, .resetting, .unsupported, .unauthorized: true
        case .poweredOff, .poweredOn: false
        }
    }
}
