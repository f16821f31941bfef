import MynahCore

/// A state machine that decides which faults of a device apply to an operation, and returns the actions that
/// this requires.
///
/// This type does no I/O and has no clock: times are measured from any fixed time.
struct FaultMachine: Sendable {
    /// Returns whether the condition of a fault holds.
    typealias Holds = @Sendable (_ condition: FaultCondition, _ fault: String) -> Bool

    /// The faults that the radio can carry out.
    let support: FaultSupport
    /// Whether the radio asks the faults about subscriptions before it answers them by itself.
    private let asksBelow: Bool
    private let holds: Holds
    /// The radio's capabilities, or `nil` if it does not run.
    private var capabilities: RadioCapabilities?
    var isRunning: Bool { capabilities != nil }
    var rules: FaultRules
    var links = FaultLinks()
    var services = FaultedServices()
    var advertising = FaultedAdvertising()
    var linked = LinkedEffects()
    /// The time of the scheduled step that applies the next fault whose trigger is a time, or `nil` if none
    /// is scheduled.
    private var nextDue: Duration?

    /// Makes the machine of a device that has not started yet.
    ///
    /// The random numbers of faults without a seed are derived from `seed` and the faults' names.
    init(
        _ faults: [Fault], seed: UInt64, support: FaultSupport, asksBelow: Bool, holds: @escaping Holds
    ) {
        rules = FaultRules(faults, seed: seed)
        self.support = support
        self.asksBelow = asksBelow
        self.holds = holds
    }

    // MARK: Life

    /// Handles the start of the radio; throws `unsupported` if a fault that is on cannot be carried out by
    /// the radio.
    mutating func start(_ found: RadioCapabilities) throws(RadioError) {
        capabilities = found
        for entry in rules.entries where entry.isOn { try check(entry.fault, nil) }
    }

    /// Starts the counters and timers of the faults that are on.
    mutating func start(at now: Duration) -> [FaultAction] {
        rules.start(at: now)
        return changed()
    }

    /// Forgets the scheduled step for faults whose trigger is a time; used before the radio stops.
    mutating func stopWaiting() { nextDue = nil }

    /// Resets everything that is only valid while the radio runs.
    mutating func stop() {
        capabilities = nil
        links = FaultLinks()
        services.removeAll()
        (advertising, linked) = (FaultedAdvertising(), LinkedEffects())
    }

    // MARK: Faults

    /// Adds a fault, or replaces the one with the same name.
    ///
    /// Throws `unsupported`, and changes nothing, if the fault is on and the radio cannot carry it out.
    mutating func add(_ fault: Fault, at now: Duration) throws(RadioError) -> [FaultAction] {
        if !fault.isOff { try check(fault) }
        let replaced = rules[fault.name]?.fault
        let ended = replaced == nil ? [] : end(fault.name)
        rules.add(fault, at: now)
        return ended + changed([fault] + (replaced.map { [$0] } ?? []))
    }

    /// Turns a fault on or off.
    ///
    /// Returns `nil` if nothing changes, or if there is no fault with that name.
    ///
    /// Throws `unsupported` if the fault is turned on and the radio cannot carry it out.
    mutating func turn(_ name: String, isOn: Bool, at now: Duration) throws(RadioError) -> [FaultAction]? {
        guard let fault = rules[name]?.fault else { return nil }
        if isOn { try check(fault) }
        guard rules.turn(name, isOn: isOn, at: now) == true else { return nil }
        return (isOn ? [] : end(name)) + changed([fault])
    }

    /// Removes a fault, and ends its effects.
    ///
    /// Returns `nil` if there is no fault with that name.
    mutating func remove(_ name: String) -> (fault: Fault, actions: [FaultAction])? {
        guard let fault = rules.remove(name) else { return nil }
        return (fault, end(name) + changed([fault]))
    }

    /// Replaces each attribute key in the faults by the value that `mapping` has for that key.
    mutating func rekey(_ mapping: [AttributeKey: AttributeKey]) -> [FaultAction] {
        rules.rekey(mapping)
        return changed()
    }

    /// Throws `unsupported` if a fault that is on cannot be carried out by the radio on these services.
    func check(_ services: [ServiceDefinition]) throws(RadioError) {
        let characteristics = Dictionary(
            services.flatMap(\.characteristics).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for entry in rules.entries where entry.isOn {
            guard let characteristic = entry.fault.attribute.flatMap({ characteristics[$0] }) else {
                continue
            }
            try check(entry.fault, characteristic.properties)
        }
    }

    private func check(_ fault: Fault) throws(RadioError) {
        try check(fault, fault.attribute.flatMap { services.properties(of: $0) })
    }

    private func check(_ fault: Fault, _ properties: CharacteristicProperties?) throws(RadioError) {
        if let shortcoming = capabilities?.shortcoming(of: fault, properties: properties, with: support) {
            throw RadioError(.unsupported, "fault \(fault.name): \(shortcoming)")
        }
    }

    /// Returns the actions that adapt the radio to changed faults.
    ///
    /// After them, the radio no longer answers reads of values that a fault may change: the device does.
    /// `faults` are the changed faults, or `nil` if any may have changed. Values and advertisements that they
    /// do not affect are not updated, so that adding the thousandth fault takes no longer than adding the
    /// first.
    private mutating func changed(_ faults: [Fault]? = nil) -> [FaultAction] {
        guard isRunning else { return [] }
        var actions = [FaultAction.arm(rules.isArmed)] + services.keys(readBy: faults).map { .show($0) }
        let concernsAdvertising = faults?.contains { $0.effect == .refuseConnection } ?? true
        if concernsAdvertising, advertising.wanted != nil { actions.append(.work(.advertiseAgain)) }
        return actions + waitForDue()
    }

    /// Schedules a step for the next fault whose trigger is a time, unless an earlier step is scheduled.
    private mutating func waitForDue() -> [FaultAction] {
        guard let due = rules.nextDue, nextDue.map({ due < $0 }) ?? true else { return [] }
        nextDue = due
        return [.wait(until: due, .applyDue(due))]
    }

    /// Applies the faults whose time has come, and schedules the next step.
    mutating func applyDue(_ due: Duration, at now: Duration) -> [FaultAction] {
        if nextDue == due { nextDue = nil }
        var actions: [FaultAction] = []
        for fault in rules.takeDue(at: now, holds: holds) {
            actions.append(.report(FaultFiring(fault: fault.name, trigger: .after)))
            guard let effect = fault.effect else { continue }
            let wanted = effect.concernsCentral ? fault.selection.central : nil
            let centrals: [Peer.ID?] = wanted.map { links.ids(for: $0) } ?? [nil]
            for central in centrals { actions += carryOut(effect, by: fault.name, of: central, at: now) }
        }
        return actions + waitForDue()
    }

    // MARK: Decisions

    /// Returns the faults' delay and effect for an operation of a central; `id` is `nil` if the central is
    /// not known.
    mutating func decide(_ operation: FaultRules.Operation, by id: Peer.ID?) -> FaultRules.Decision {
        var decision = rules.decide(operation, of: id.map(links.central), holds: holds)
        // The sum of several delays may be longer than the radio can delay an answer.
        if FaultTrigger.Kind(operation.kind).isRequest, let limit = capabilities?.longestFaultDelay {
            decision.delay = min(decision.delay, limit)
        }
        return decision
    }

    /// Whether a fault may apply to values of an attribute.
    func concernsValues(of attribute: AttributeKey) -> Bool {
        rules.isArmed && rules.concerns(.notify, of: attribute)
    }

    /// Queues a value for its subscribers, as changed by faults, after the values that are already queued.
    ///
    /// Returns `unchanged` if there are no subscribers, or if no fault can apply and the queue is empty. The
    /// caller then sends the value itself.
    mutating func send(_ value: HeldValues.Value, _ held: inout HeldValues) -> HeldValues.Fate {
        guard held.isUsed || concernsValues(of: value.attribute) else { return .unchanged }
        let targets = links.targets(of: value.attribute, among: value.centrals)
        guard !targets.isEmpty else { return .unchanged }
        guard held.hasRoom else {
            held.isRefused = true
            return .refused
        }
        let (now, centrals) = (value.due, targets.map { $0.map(links.central) })
        let operation = FaultRules.Operation(.notify, of: [value.attribute])
        let decisions = rules.decide(operation, of: centrals, holds: holds)
        var actions = firings(decisions, targets)
        var parts: [HeldValues.Part] = []
        for (target, decision) in zip(targets, decisions) {
            var part = value
            part.due += decision.delay
            if let target { part.centrals = [target] }
            let changed = part.changed(by: decision.effect)
            if let changed { actions += held.put(changed, decision.effect, at: now) }
            actions += carryOut(decision, of: target, at: now)
            parts.append(.init(central: target, value: changed))
        }
        return .held(
            targets == [nil] ? nil : targets.count, parts,
            isFaulty: decisions.contains { !$0.isNothing }, actions)
    }

    /// The reports of the faults that were applied to a value.
    ///
    /// There is one for each fault, or one for each subscriber if the fault selects certain centrals.
    private func firings(_ decisions: [FaultRules.Decision], _ targets: [Peer.ID?]) -> [FaultAction] {
        var (reported, actions): (Set<String>, [FaultAction]) = ([], [])
        for (target, decision) in zip(targets, decisions) {
            for name in decision.applied {
                let isOfOne = rules[name]?.fault.selection.central != nil
                guard reported.insert(name).inserted || isOfOne else { continue }
                let central = isOfOne || targets.count == 1 ? target : nil
                actions.append(.report(FaultFiring(fault: name, trigger: .notify, central: central)))
            }
        }
        return actions
    }

    /// Returns the verdict on a request that the radio would otherwise answer by itself, and the resulting
    /// actions.
    mutating func verdict(
        on request: LowerRequest, of central: Peer.ID, at now: Duration
    ) -> (verdict: LowerVerdict, actions: [FaultAction]) {
        var (operation, decision): (FaultRules.Operation?, FaultRules.Decision) = (nil, FaultRules.Decision())
        for asked in request.operations
        where decision.isNothing
            && rules.concerns(asked.kind, of: request.refusable == nil ? nil : asked.attributes.first)
        {
            (operation, decision) = (asked, decide(asked, by: central))
        }
        guard let operation else { return (.proceed, []) }
        let verdict = decision.verdict
        var actions =
            decision.firings(FaultTrigger.Kind(operation.kind), central)
            + carryOut(decision, of: central, at: now)
        if case .refuse(let error) = verdict, let (key, access) = request.refusable {
            let refused = RefusedRequest(central: central, attribute: key, access: access, error: error)
            actions.append(.pass(.refused(refused)))
        }
        guard decision.delay > .zero, verdict != .ignore else { return (verdict, actions) }
        let step = FaultStep.release(verdict, of: central, link: number(of: central))
        return (.hold, actions + [.wait(until: now + decision.delay, step)])
    }

    // MARK: Events

    /// Handles an event before it is passed to the device.
    ///
    /// Returns `false` if the device must not get the event, because a fault has made it disappear.
    mutating func note(_ event: RadioEvent) -> Bool {
        switch event {
        case .stateChanged, .lost, .recovered: return advertising.hasReported(event)
        case .capabilitiesChanged(let new): capabilities = new
        default: links.note(event)
        }
        return true
    }

    /// Returns the actions that an event causes after it was passed to the device.
    mutating func follow(_ event: RadioEvent, at now: Duration) -> [FaultAction] {
        switch event {
        case .connected(let peer): return happened(.connect, to: peer.id, at: now)
        case .paired(let id): return happened(.pair, to: id, at: now)
        case .disconnected(let id): return linked.takeEnded(by: id).flatMap { end($0) }
        case .subscribed(let key, let id, _) where !asksBelow:
            return happened(.subscribe, to: id, of: key, at: now)
        case .recovered, .stateChanged(.poweredOn):
            // The radio may have refused services while it was lost.
            let isChanged = services.nextChange() != nil
            return (advertising.silent.isEmpty ? [] : [.work(.vanish)])
                + (isChanged ? [.work(.changeServices)] : [])
                + (advertising.resume() ? [.work(.advertiseAgain)] : [])
        default: return []
        }
    }

    /// Applies the faults to an operation that is complete and has no response.
    mutating func happened(
        _ kind: FaultTrigger.Operation, to id: Peer.ID?, of key: AttributeKey? = nil, at now: Duration
    ) -> [FaultAction] {
        guard rules.concerns(kind, of: key) else { return [] }
        let decision = decide(FaultRules.Operation(kind, of: key.map { [$0] } ?? []), by: id)
        return decision.firings(FaultTrigger.Kind(kind), id) + carryOut(decision, of: id, at: now)
    }
}

extension FaultRules.Decision {
    /// The actions that report the faults of the decision.
    func firings(_ trigger: FaultTrigger.Kind, _ central: Peer.ID?) -> [FaultAction] {
        applied.map { .report(FaultFiring(fault: $0, trigger: trigger, central: central)) }
    }
}
