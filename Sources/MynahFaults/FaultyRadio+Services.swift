package import MynahCore

// The device's services, advertisements and values on their way to the radio.
extension FaultyRadio {
    // MARK: Services

    /// Publishes what faults leave of the services.
    ///
    /// Throws `unsupported` if a fault is on that the radio cannot carry out on one of them.
    package func publish(_ definitions: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        try check(definitions)
        services.willPublish(definitions)
        let shown = shown(definitions)
        guard !shown.isEmpty else {
            return PublishedServices(id: services.published(definitions, shown: [], as: nil))
        }
        let published = try await wrapped.publish(shown)
        let id = services.published(definitions, shown: shown, as: published.id)
        // A fault may have been turned on or off meanwhile.
        for key in services.keysWithValue { showValue(of: key) }
        if services.nextChange() != nil { enqueue { await $0.changeServices() } }
        return PublishedServices(id: id, handles: published.handles)
    }

    package func withdraw(_ id: PublishedServices.ID) async {
        if let inner = services.withdraw(id) { await wrapped.withdraw(inner) }
    }

    private func shown(_ definitions: [ServiceDefinition]) -> [ServiceDefinition] {
        services.shown(definitions) { rules.concerns(.read, of: $0) }
    }

    package var isOn: Bool { inner { $0.isOn } }

    package func leave(_ peer: Peer.ID) { inner { $0.leave(peer) } }

    package func serve(_ services: [ServiceDefinition], as mode: ServingMode) {
        inner { $0.serve(services, as: mode) }
    }

    package func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        services.setValue(value, of: attribute)
        showValue(of: attribute)
    }

    /// Has the radio answer reads of an attribute by itself if no fault may change them.
    func showValue(of key: AttributeKey) {
        let value = rules.concerns(.read, of: key) ? nil : services.values[key]
        inner { $0.setValue(value, of: key) }
    }

    /// Publishes again each batch that a fault has changed, or no longer changes.
    ///
    /// One that the radio refuses is tried again when the radio has recovered, and with the next change.
    func changeServices() async {
        var refused: Set<PublishedServices.ID> = []
        while let id = services.nextChange(except: refused), let batch = services.batches[id] {
            if let inner = services.willWithdraw(id) {
                await wrapped.withdraw(inner)
                // Subscriptions end with the attributes; the radio does not report it.
                for key in batch.shown {
                    for event in links.ends(of: key) { _ = take(event) }
                }
            }
            let shown = shown(batch.services)
            var inner: PublishedServices.ID?
            do throws(RadioError) {
                if !shown.isEmpty { inner = try await wrapped.publish(shown).id }
            } catch {
                warn("the services cannot be changed: \(error)")
                _ = services.changed(id, to: nil, shown: [])
                refused.insert(id)
                continue
            }
            if !services.changed(id, to: inner, shown: shown), let inner { await wrapped.withdraw(inner) }
        }
        for key in services.keysWithValue { showValue(of: key) }
    }

    // MARK: Advertising

    package func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        advertising.wanted = advertisement
        if rules.concerns(.advertise) {
            let decision = decide(.advertise, by: nil)
            carryOut(decision, of: nil)
        }
        guard advertising.silent.isEmpty, !advertising.isGone else { return .silent }
        return try await advertise(changed: changed(advertisement))
    }

    package func stopAdvertising() async {
        advertising.wanted = nil
        advertising.onAir = nil
        await wrapped.stopAdvertising()
    }

    /// Advertises what is wanted with the changes of the faults, unless that is on the air or the radio does
    /// not work.
    func advertiseAgain() async {
        guard let wanted = advertising.wanted, advertising.silent.isEmpty, !advertising.isDue else { return }
        let changed = changed(wanted)
        guard changed != advertising.onAir else { return }
        do throws(RadioError) {
            let report = try await advertise(changed: changed)
            if advertising.wanted != nil { pass(.advertisingChanged(report)) }
        } catch {
            warn("the device cannot advertise the fields of a fault: \(error)")
        }
    }

    private func advertise(changed: Advertisement) async throws(RadioError) -> AdvertisingReport {
        if !changed.isConnectable, advertising.onAir?.isConnectable != false {
            let names = refusals.map(\.fault.name)
            rules.countApplied(names)
            report(names, of: .connect, nil)
        }
        advertising.onAir = changed
        do throws(RadioError) {
            return try await wrapped.advertise(changed)
        } catch {
            advertising.onAir = nil
            throw error
        }
    }

    private func changed(_ advertisement: Advertisement) -> Advertisement {
        advertising.changed(advertisement, refusesConnections: !refusals.isEmpty)
    }

    /// The faults that keep the device from being connectable.
    private var refusals: [FaultRules.Entry] {
        guard capabilities != nil, support.refusesByAdvertising else { return [] }
        return rules.entries.filter {
            $0.isArmed && $0.fault.effect == .refuseConnection && !$0.fault.selectsConnections
        }
    }

    // MARK: Values

    package func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        if isIdle, !held.isUsed {
            return try inner { radio throws(RadioError) in
                try radio.send(value, of: attribute, as: delivery, to: centrals)
            }
        }
        let targets =
            held.isUsed || rules.concerns(.notify, of: attribute)
            ? links.targets(of: attribute, among: centrals) : []
        // Without subscribers there is nothing to count, and errors are the radio's.
        guard !targets.isEmpty else {
            return try inner { radio throws(RadioError) in
                try radio.send(value, of: attribute, as: delivery, to: centrals)
            }
        }
        guard held.hasRoom else {
            held.isRefused = true
            return .full
        }
        let decisions = rules.decide(
            FaultRules.Operation(.notify, of: [attribute]), of: targets.map { $0.map(links.central) },
            holds: owner.holds)
        report(decisions, targets)
        for (target, decision) in zip(targets, decisions) {
            put(
                HeldValues.Value(
                    attribute: attribute, bytes: value, delivery: delivery,
                    centrals: target.map { [$0] } ?? centrals, due: now + decision.delay),
                decision, to: target)
        }
        if let error = flush() {
            // If a fault applies to the value, the error is not the sender's mistake.
            guard decisions.contains(where: { !$0.isNothing }) else { throw error }
            warn("a value that a fault has changed cannot be sent: \(error)")
        }
        return .sent(targets == [nil] ? nil : targets.count)
    }

    /// Puts a value on its way as a fault has it.
    private func put(_ value: HeldValues.Value, _ decision: FaultRules.Decision, to target: Peer.ID?) {
        var value = value
        switch decision.effect {
        case .drop: return
        case .disconnect, .vanish: return carryOut(decision, of: target)
        case .reorder:
            if let limit = held.keepForNext(value, at: now) {
                return schedule(at: limit) { [value] radio in
                    radio.held.stopKeeping(value, at: radio.now)
                    radio.flushLate()
                }
            }
        case .duplicate: add(value)
        case .some(let effect): value.bytes = effect.changed(value.bytes) ?? value.bytes
        case nil: break
        }
        add(value)
        carryOut(decision, of: target)
    }

    private func add(_ value: HeldValues.Value) {
        held.add(value, at: now)
        if value.due > now { schedule(at: value.due) { $0.flushLate() } }
    }

    /// Sends the values that have waited long enough, and warns of one that cannot be sent.
    func flushLate() {
        if let error = flush() { warn("a value that was held up cannot be sent: \(error)") }
    }

    /// Sends the values that need not wait any longer; returns the error of one that cannot be sent.
    private func flush() -> RadioError? {
        var failure: RadioError?
        held.flush(at: now) { value in
            do throws(RadioError) {
                return try inner { radio throws(RadioError) in
                    try radio.send(value.bytes, of: value.attribute, as: value.delivery, to: value.centrals)
                } != .full
            } catch {
                failure = error
                return true
            }
        }
        if held.isRefused, held.hasRoom { roomAppeared() }
        return failure
    }

    /// Reports later that values may wait again: the sender may be in the middle of sending.
    func roomAppeared() {
        held.isRefused = false
        enqueue { $0.pass(.readyToSend) }
    }

    /// Reports faults of a value: once, or for each subscriber if the fault is for one.
    private func report(_ decisions: [FaultRules.Decision], _ targets: [Peer.ID?]) {
        var reported: Set<String> = []
        for (target, decision) in zip(targets, decisions) {
            for name in decision.applied {
                let isOfOne = rules[name]?.fault.selection.central != nil
                guard reported.insert(name).inserted || isOfOne else { continue }
                report([name], of: .notify, isOfOne || targets.count == 1 ? target : nil)
            }
        }
    }
}
