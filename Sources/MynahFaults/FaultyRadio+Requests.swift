import MynahCore

// The radio's events for the sink, and the requests that the radio would otherwise answer by itself.
extension FaultyRadio {
    func forward(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read(let request): return read(request)
        case .write(let request): return write(request)
        case .readyToSend:
            perform(values.flush(at: now))
            guard values.held.hasRoom else { return .none }
        default: guard machine.note(event) else { return .none }
        }
        if case .disconnected(let id) = event {
            perform(values.forget(id, isLast: machine.links.links.isEmpty))
            unanswered.forget(id)
            below { $0.ended(id) }
        }
        let answer = sink?.handle(event) ?? .none
        perform(machine.follow(event, at: now))
        return answer
    }

    private func decide(_ operation: FaultRules.Operation, by central: Peer.ID) -> FaultRules.Decision {
        let decision = machine.decide(operation, by: central)
        perform(decision.firings(FaultTrigger.Kind(operation.kind), central))
        return decision
    }

    private func carryOut(_ decision: FaultRules.Decision, of central: Peer.ID) {
        perform(machine.carryOut(decision, of: central, at: now))
    }

    // MARK: Requests

    private func read(_ request: ReadRequest) -> RadioAnswer {
        if machine.links.reading(request) != nil {
            return machine.rest(request).map { .answer($0) } ?? ask(request)
        }
        machine.links.noteRead(request)
        guard machine.rules.concerns(.read, of: request.attribute) else { return ask(request) }
        let decision = decide(.init(.read, of: [request.attribute]), by: request.central)
        guard decision.changesValue else {
            return answer(decision, to: request.central, request.attribute, .read) { ask(request) }
        }
        // The fault changes the whole value, and the central reads a part of it.
        var whole = request
        whole.offset = 0
        return changed(ask(whole), by: decision, request)
    }

    /// Gets the value for a read: the static value if there is one, or else the device's answer.
    private func ask(_ request: ReadRequest) -> RadioAnswer {
        guard let answer = machine.ownAnswer(to: request) else { return ask(.read(request)) }
        pass(answer.event)
        return .answer(answer.outcome)
    }

    private func ask(_ event: RadioEvent) -> RadioAnswer { sink?.handle(event) ?? .none }

    private func write(_ request: WriteRequest) -> RadioAnswer {
        let keys = request.parts.map(\.attribute)
        guard keys.contains(where: { machine.rules.concerns(.write, of: $0) }) else {
            return ask(.write(request))
        }
        let decision = decide(.init(.write, of: keys), by: request.central)
        guard request.wantsResponse else { return command(request, decision) }
        return answer(decision, to: request.central, keys.first, .write) { ask(.write(request)) }
    }

    /// Applies faults to a write command, which can be dropped but not delayed.
    private func command(_ request: WriteRequest, _ decision: FaultRules.Decision) -> RadioAnswer {
        defer { carryOut(decision, of: request.central) }
        switch decision.effect {
        case .error, .drop, .disconnect, .vanish: return .answer(.success([]))
        default: return ask(.write(request))
        }
    }

    /// Returns the answer to a request, as changed by the decision; `ask` asks the device.
    private func answer(
        _ decision: FaultRules.Decision, to central: Peer.ID, _ key: AttributeKey?,
        _ access: RefusedRequest.Access, ask: () -> RadioAnswer
    ) -> RadioAnswer {
        defer { carryOut(decision, of: central) }
        switch decision.effect {
        case .error(let error):
            if let key {
                pass(.refused(.init(central: central, attribute: key, access: access, error: error)))
            }
            return held(.answer(.failure(error)), for: decision.delay)
        case .drop: return held(.answer(.success([])), for: decision.delay)
        case .noAnswer:
            _ = ask()
            return unanswered.add(central)
        case .disconnect, .vanish: return unanswered.add(central)
        default: return held(ask(), for: decision.delay)
        }
    }

    // MARK: Answers

    /// Delays an answer; an answer that the device gives after the delay is not delayed further.
    private func held(_ answer: RadioAnswer, for delay: Duration) -> RadioAnswer {
        guard delay > .zero else { return answer }
        let held = HeldAnswer(answer)
        schedule(.give(held), at: now + delay)
        return .later(held.pending)
    }

    /// Changes the bytes of the answer to a read as the decision says, and delays the answer.
    private func changed(
        _ answer: RadioAnswer, by decision: FaultRules.Decision, _ request: ReadRequest
    ) -> RadioAnswer {
        switch answer {
        case .answer(let outcome):
            return held(.answer(machine.snapshot(decision.changed(outcome), request)), for: decision.delay)
        case .later(let pending):
            let reply = PendingReply()
            pending.whenAnswered { [preferredExecutor] outcome in
                Task(executorPreference: preferredExecutor) { [weak self] in
                    guard let part = await self?.snapshot(decision.changed(outcome), request) else { return }
                    reply.answer(part)
                }
            }
            return held(.later(reply.pending), for: decision.delay)
        case .none, .pairing, .pairingLater: return answer
        }
    }

    private func snapshot(_ outcome: PendingReply.Outcome, _ request: ReadRequest) -> PendingReply.Outcome {
        machine.snapshot(outcome, request)
    }

    // MARK: Below the sink

    /// Returns the verdict on a request that the radio would otherwise answer by itself.
    func verdict(on request: LowerRequest, of central: Peer.ID) -> LowerVerdict {
        let (verdict, actions) = machine.verdict(on: request, of: central, at: now)
        perform(actions)
        return verdict
    }
}
