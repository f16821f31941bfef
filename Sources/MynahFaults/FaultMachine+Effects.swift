import MynahCore

// Effects that do not change the answer to a request or a sent value.
extension FaultMachine {
    /// Carries out the effect of a decision after the decision's delay.
    ///
    /// Effects that change an answer or a sent value are not carried out here.
    mutating func carryOut(
        _ decision: FaultRules.Decision, of central: Peer.ID?, at now: Duration
    ) -> [FaultAction] {
        guard let effect = decision.effect, let name = decision.cause, effect.isBesideRequests else {
            return []
        }
        let link = number(of: central)
        guard decision.delay > .zero else {
            return carryOut(effect, by: name, of: central, link: link, at: now)
        }
        let step = FaultStep.carryOut(effect, by: name, of: central, link: link)
        return [.wait(until: now + decision.delay, step)]
    }

    /// Carries out an effect, unless the central's connection with the number `link` has ended.
    mutating func carryOut(
        _ effect: FaultEffect, by name: String, of central: Peer.ID?, link: Int?, at now: Duration
    ) -> [FaultAction] {
        guard number(of: central) == link else { return [] }
        // If the radio does not identify the central, the effect applies to all of them.
        let isOfAny = central == nil && effect.concernsCentral
        let centrals: [Peer.ID?] = isOfAny ? links.ids(for: nil) : [central]
        var actions: [FaultAction] = []
        for central in centrals { actions += carryOut(effect, by: name, of: central, at: now) }
        return actions
    }

    /// The unique number of a central's connection.
    func number(of central: Peer.ID?) -> Int? { central.flatMap { links.links[$0]?.number } }

    mutating func carryOut(
        _ effect: FaultEffect, by name: String, of central: Peer.ID?, at now: Duration
    ) -> [FaultAction] {
        // The fault may have been turned off during the delay.
        guard let entry = rules[name], entry.isOn else { return [] }
        linked.begin(entry.fault, of: central)
        switch effect {
        case .disconnect(let reason): return endLinks(of: central, reason)
        // A connection may begin although the advertising is not connectable.
        case .refuseConnection: return endLinks(of: central, FaultEffect.usualReason)
        case .loseBond(let way): return [.loseBond(central, way)]
        case .changeServices(let key):
            return services.remove(key, by: name) ? [.work(.changeServices)] : []
        case .advertise(let change, let time):
            let step = FaultStep.end(name, number: advertising.startChange(change, by: name))
            return [.work(.advertiseAgain)] + (time.map { [.wait(until: now + $0, step)] } ?? [])
        case .vanish(let time):
            let (number, isFirst) = advertising.silence(by: name)
            let step = FaultStep.end(name, number: number)
            return (isFirst ? [.work(.vanish)] : []) + (time.map { [.wait(until: now + $0, step)] } ?? [])
        case .error, .truncate, .corrupt, .value, .mtu, .drop, .duplicate, .reorder, .noAnswer,
            .refuseSubscription:
            return []
        }
    }

    private func endLinks(of central: Peer.ID?, _ reason: UInt8) -> [FaultAction] {
        (central.map { [$0] } ?? links.ids(for: nil)).map { .work(.disconnect($0, reason: reason)) }
    }

    /// Ends the effect of a fault.
    ///
    /// Each beginning of an effect has a number. With `number`, the effect does not end if it has begun again
    /// since.
    mutating func end(_ name: String, number: Int? = nil) -> [FaultAction] {
        let ended = advertising.end(name, number: number)
        return (ended.isSilence ? [.work(.reappear)] : []) + (ended.isChange ? [.work(.advertiseAgain)] : [])
            + (number == nil && services.restore(name) ? [.work(.changeServices)] : [])
    }

    // MARK: Services and advertisements

    /// The services to publish, without those that faults have removed.
    ///
    /// An attribute has its static value only if no fault may change that value.
    func shown(_ definitions: [ServiceDefinition]) -> [ServiceDefinition] {
        services.shown(definitions) { rules.concerns(.read, of: $0) }
    }

    /// The value with which the radio can answer reads by itself, or `nil` if a fault may change it.
    func shownValue(of key: AttributeKey) -> [UInt8]? {
        rules.concerns(.read, of: key) ? nil : services.values[key]
    }

    /// An advertisement with the changes of the faults.
    func changed(_ advertisement: Advertisement) -> Advertisement {
        advertising.changed(advertisement, refusesConnections: !refusals.isEmpty)
    }

    /// The device's advertisement with the changes of the faults, if it differs from the one on the air.
    ///
    /// The value is `nil` if both are equal, or if nothing can be advertised now.
    var nextAdvertisement: Advertisement? {
        guard let wanted = advertising.wanted, advertising.silent.isEmpty, !advertising.isDue else {
            return nil
        }
        let changed = changed(wanted)
        return changed == advertising.onAir ? nil : changed
    }

    /// Warns once about each change of the advertising that has no effect.
    mutating func refusedChanges() -> [FaultAction] {
        advertising.takeRefused().map {
            .warn("the fault \($0.fault) does not change the advertising: with other changes, \($0.problem)")
        }
    }

    /// Records the advertisement that is about to be advertised, and reports the faults that make it not
    /// connectable.
    mutating func advertises(_ changed: Advertisement) -> [FaultAction] {
        defer { advertising.onAir = changed }
        let refused = refusedChanges()
        guard !changed.isConnectable, advertising.onAir?.isConnectable != false else { return refused }
        let names = refusals.map(\.fault.name)
        rules.countApplied(names)
        return refused + names.map { .report(FaultFiring(fault: $0, trigger: .connect)) }
    }

    /// The faults that refuse connections by advertising as not connectable.
    private var refusals: [FaultRules.Entry] {
        guard isRunning, support.refusesByAdvertising else { return [] }
        return rules.entries.filter {
            $0.isArmed && $0.fault.effect == .refuseConnection && !$0.fault.selectsConnections
        }
    }
}

extension FaultEffect {
    /// `true` if the effect applies to a single central.
    var concernsCentral: Bool {
        switch self {
        case .disconnect, .loseBond: true
        default: false
        }
    }

    /// `true` if the effect is an action of its own, such as `disconnect`, and does not change an answer or a
    /// value.
    var isBesideRequests: Bool {
        switch self {
        case .disconnect, .refuseConnection, .loseBond, .changeServices, .advertise, .vanish: true
        case .error, .truncate, .corrupt, .value, .mtu, .drop, .duplicate, .reorder, .noAnswer,
            .refuseSubscription:
            false
        }
    }
}
