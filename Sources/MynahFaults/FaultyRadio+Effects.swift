import MynahCore

// The effects of faults other than a changed answer or value.
extension FaultyRadio {
    /// Calls the wrapped radio below its sink, if it has that.
    func below(_ body: @Sendable (isolated any FaultableRadio) -> Void) {
        lower?.onOwnExecutor { body($0) }
    }

    /// Carries out the effect of faults that apply to an operation, after their delay.
    func carryOut(_ decision: FaultRules.Decision, of central: Peer.ID?) {
        guard let effect = decision.effect, let name = decision.cause, effect.isBesideRequests else { return }
        let number = central.map { links.links[$0]?.number }
        after(decision.delay) { radio in
            guard central.map({ radio.links.links[$0]?.number }) == number else { return }
            if central == nil, effect.concernsCentral {
                // The radio does not say which central it was.
                for id in radio.links.ids(for: nil) { radio.carryOut(effect, by: name, id) }
            } else {
                radio.carryOut(effect, by: name, central)
            }
        }
    }

    /// Applies the faults whose time has come, and waits for the next.
    func applyDue() {
        for fault in rules.takeDue(at: now, holds: owner.holds) {
            report([fault.name], of: .after, nil)
            guard let effect = fault.effect else { continue }
            if effect.concernsCentral, let central = fault.selection.central {
                for id in links.ids(for: central) { carryOut(effect, by: fault.name, id) }
            } else {
                carryOut(effect, by: fault.name, nil)
            }
        }
        scheduleDue()
    }

    private func carryOut(_ effect: FaultEffect, by name: String, _ central: Peer.ID?) {
        // It may have been turned off during its delay.
        guard rules[name]?.isOn == true else { return }
        switch effect {
        case .disconnect(let reason): end(central, reason)
        // One that begins in spite of an advertisement that is not connectable ends too.
        case .refuseConnection: end(central)
        case .loseBond(let way): loseBond(of: central, way)
        case .changeServices(let key):
            if services.remove(key, by: name) { enqueue { await $0.changeServices() } }
        case .advertise(let change, let time):
            let number = advertising.begin(change, by: name)
            enqueue { await $0.advertiseAgain() }
            if let time { schedule(at: now + time) { $0.end(name, number: number) } }
        case .vanish(let time):
            let (number, isFirst) = advertising.silence(by: name)
            if isFirst { enqueue { await $0.vanish() } }
            if let time { schedule(at: now + time) { $0.end(name, number: number) } }
        case .error, .truncate, .corrupt, .value, .mtu, .drop, .duplicate, .reorder, .noAnswer,
            .refuseSubscription:
            break
        }
    }

    /// Ends the effect of a fault, unless it was restarted after `number`.
    func end(_ name: String, number: Int? = nil) {
        let ended = advertising.end(name, number: number)
        if ended.isSilence {
            enqueue { await $0.reappear() }
        }
        if ended.isChange { enqueue { await $0.advertiseAgain() } }
        if number == nil, services.restore(name) { enqueue { await $0.changeServices() } }
    }

    func warn(_ message: String) { pass(.warning(RadioWarning("faultFailed", message))) }

    // MARK: Links and bonds

    private func end(_ central: Peer.ID?, _ reason: UInt8 = FaultEffect.usualReason) {
        guard let central else {
            for id in links.ids(for: nil) { end(id, reason) }
            return
        }
        enqueue { radio in
            // The radio's own reason, which every radio can give.
            guard reason != FaultEffect.usualReason else { return await radio.wrapped.disconnect(central) }
            do throws(RadioError) {
                try await radio.wrapped.disconnect(central, reason: reason)
            } catch {
                radio.warn("a link cannot be ended: \(error)")
            }
        }
    }

    private func loseBond(of central: Peer.ID?, _ way: FaultEffect.LostBond) {
        guard lower == nil else { return below { $0.loseBond(of: central, way) } }
        let addresses: [DeviceAddress] =
            if let central { links.links[central]?.peer.address.map { [$0] } ?? [] } else { bondedAddresses }
        enqueue { radio in
            for address in addresses {
                do throws(RadioError) {
                    try await radio.wrapped.forgetBond(with: address)
                } catch {
                    radio.warn("the bond with \(address) cannot be deleted: \(error)")
                }
            }
        }
    }
}

extension FaultEffect {
    /// Whether it concerns one central and no other.
    fileprivate var concernsCentral: Bool {
        switch self {
        case .disconnect, .loseBond: true
        default: false
        }
    }

    /// Whether it is carried out beside the request that it applies to, and not by its answer.
    fileprivate var isBesideRequests: Bool {
        switch self {
        case .disconnect, .refuseConnection, .loseBond, .changeServices, .advertise, .vanish: true
        case .error, .truncate, .corrupt, .value, .mtu, .drop, .duplicate, .reorder, .noAnswer,
            .refuseSubscription:
            false
        }
    }
}
