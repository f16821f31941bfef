import MynahCore
import MynahSupport

// The radio's events on their way to the sink, and the requests that it would answer by itself.
extension FaultyRadio {
    func take(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read, .write: return take(request: event)
        case .connected(let peer):
            links.take(event)
            pass(event)
            happened(.connect, to: peer.id)
        case .paired(let id):
            pass(event)
            happened(.pair, to: id)
        case .disconnected(let id):
            links.take(event)
            held.forget(id)
            // Without a name a value is for those who are connected.
            if links.links.isEmpty { held.removeAll() }
            if held.isRefused, held.hasRoom { roomAppeared() }
            unanswered[id] = nil
            below { $0.ended(id) }
            pass(event)
        case .subscribed(let key, let id, _):
            links.take(event)
            pass(event)
            // Below the sink it was decided about already.
            if lower == nil { happened(.subscribe, to: id, of: key) }
        case .peerChanged, .unsubscribed:
            links.take(event)
            pass(event)
        case .readyToSend:
            flushLate()
            if held.hasRoom { pass(event) }
        case .stateChanged, .lost, .recovered: take(state: event)
        case .capabilitiesChanged(let new):
            capabilities = new
            pass(event)
        default: return sink?.handle(event) ?? .none
        }
        return .none
    }

    private func take(request event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read(let request): read(request)
        case .write(let request): request.wantsResponse ? write(request) : command(request)
        default: sink?.handle(event) ?? .none
        }
    }

    /// Applies faults to a write that gets no response: it can be dropped, and nothing waits for it.
    private func command(_ request: WriteRequest) -> RadioAnswer {
        let keys = request.parts.map(\.attribute)
        guard keys.contains(where: { rules.concerns(.write, of: $0) }) else {
            return pass(request: .write(request))
        }
        let decision = decide(.write, of: keys, by: request.central)
        switch decision.effect {
        case .error, .drop: break
        case .disconnect, .vanish: carryOut(decision, of: request.central)
        default:
            defer { carryOut(decision, of: request.central) }
            return pass(request: .write(request))
        }
        return .answer(.success([]))
    }

    /// Passes on an event that has no answer.
    func pass(_ event: RadioEvent) { _ = sink?.handle(event) }

    func decide(
        _ kind: FaultTrigger.Operation, of keys: [AttributeKey] = [], by id: Peer.ID?, isDenied: Bool = false
    ) -> FaultRules.Decision {
        var decision = rules.decide(
            FaultRules.Operation(kind, of: keys, isDenied: isDenied), of: id.map(links.central),
            holds: owner.holds)
        // The delays of several faults may add up to more than the radio can hold up an answer for.
        if kind.isRequest, let limit = capabilities?.longestFaultDelay {
            decision.delay = min(decision.delay, limit)
        }
        report(decision.applied, of: FaultTrigger.Kind(kind), id)
        return decision
    }

    /// Applies the faults of something that has happened and has no answer.
    private func happened(_ kind: FaultTrigger.Operation, to id: Peer.ID?, of key: AttributeKey? = nil) {
        guard rules.concerns(kind, of: key) else { return }
        let decision = decide(kind, of: key.map { [$0] } ?? [], by: id)
        carryOut(decision, of: id)
    }

    // MARK: Requests

    private func read(_ request: ReadRequest) -> RadioAnswer {
        if let reading = links.reading(request) {
            return reading.value.map { .answer(Self.part(of: $0, from: request.offset)) } ?? ask(request)
        }
        links.begin(request)
        guard rules.concerns(.read, of: request.attribute) else { return ask(request) }
        let decision = decide(.read, of: [request.attribute], by: request.central)
        guard !decision.isNothing else { return ask(request) }
        switch decision.effect {
        case .error(let error):
            refused(request.central, request.attribute, .read, error)
            return answer(.failure(error), after: decision.delay)
        case .noAnswer:
            _ = ask(request)
            return silence(request.central)
        case .disconnect, .vanish:
            carryOut(decision, of: request.central)
            return silence(request.central)
        case .truncate, .corrupt, .value:
            // The fault changes the whole value, of which the central reads a part.
            var whole = request
            whole.offset = 0
            return changed(ask(whole), by: decision, request)
        default:
            defer { carryOut(decision, of: request.central) }
            return held(ask(request), for: decision.delay)
        }
    }

    /// Asks for a value: the layer itself, if it is one that the radio would answer with.
    private func ask(_ request: ReadRequest) -> RadioAnswer {
        guard let value = services.values[request.attribute] else { return pass(request: .read(request)) }
        let outcome = Self.part(of: value, from: request.offset)
        if case .success(let part) = outcome {
            pass(.answeredRead(request, part))
        } else {
            refused(request.central, request.attribute, .read, .invalidOffset)
        }
        return .answer(outcome)
    }

    private func write(_ request: WriteRequest) -> RadioAnswer {
        let keys = request.parts.map(\.attribute)
        guard keys.contains(where: { rules.concerns(.write, of: $0) }) else {
            return pass(request: .write(request))
        }
        let decision = decide(.write, of: keys, by: request.central)
        switch decision.effect {
        case .error(let error):
            if let key = keys.first { refused(request.central, key, .write, error) }
            return answer(.failure(error), after: decision.delay)
        case .drop: return answer(.success([]), after: decision.delay)
        case .noAnswer:
            _ = pass(request: .write(request))
            return silence(request.central)
        case .disconnect, .vanish:
            carryOut(decision, of: request.central)
            return silence(request.central)
        default:
            defer { carryOut(decision, of: request.central) }
            return held(pass(request: .write(request)), for: decision.delay)
        }
    }

    private func pass(request event: RadioEvent) -> RadioAnswer { sink?.handle(event) ?? .none }

    /// Reports a request that a fault refused.
    func refused(
        _ central: Peer.ID, _ key: AttributeKey, _ access: RefusedRequest.Access, _ error: ATTError
    ) {
        pass(.refused(RefusedRequest(central: central, attribute: key, access: access, error: error)))
    }

    // MARK: Answers

    /// The rest of a value, which a central reads from an offset on.
    static func part(of value: [UInt8], from offset: Int) -> PendingReply.Outcome {
        offset <= value.count ? .success(Array(value[offset...])) : .failure(.invalidOffset)
    }

    /// An answer that is not given while the link exists.
    private func silence(_ central: Peer.ID) -> RadioAnswer {
        let reply = PendingReply()
        unanswered[central, default: []].append(reply)
        return .later(reply.pending)
    }

    private func answer(_ outcome: PendingReply.Outcome, after delay: Duration) -> RadioAnswer {
        held(.answer(outcome), for: delay)
    }

    /// An answer that is given after a delay from now, or when the sink gives it if that is later.
    private func held(_ answer: RadioAnswer, for delay: Duration) -> RadioAnswer {
        guard delay > .zero else { return answer }
        let held = HeldAnswer()
        let result = RadioAnswer.later(held.pending)
        schedule(at: now + delay) { _ in held.release() }
        switch answer {
        case .answer(let outcome): held.give(outcome)
        case .later(let pending): pending.whenAnswered { held.give($0) }
        case .none, .pairing, .pairingLater: held.give(.failure(.unlikelyError))
        }
        return result
    }

    /// The answer to a read with the bytes that a fault makes of it, after its delay.
    private func changed(
        _ answer: RadioAnswer, by decision: FaultRules.Decision, _ request: ReadRequest
    ) -> RadioAnswer {
        let change: @Sendable (PendingReply.Outcome) -> PendingReply.Outcome = { outcome in
            outcome.map { decision.effect?.changed($0) ?? $0 }
        }
        switch answer {
        case .answer(let outcome):
            return held(.answer(snapshot(change(outcome), request)), for: decision.delay)
        case .later(let pending):
            let reply = PendingReply()
            pending.whenAnswered { [preferredExecutor] outcome in
                Task(executorPreference: preferredExecutor) { [weak self] in
                    guard let part = await self?.snapshot(change(outcome), request) else { return }
                    reply.answer(part)
                }
            }
            return held(.later(reply.pending), for: decision.delay)
        case .none, .pairing, .pairingLater: return answer
        }
    }

    /// Keeps the value for the rest of a long read, and returns the part that was asked for.
    private func snapshot(_ outcome: PendingReply.Outcome, _ request: ReadRequest) -> PendingReply.Outcome {
        guard case .success(let value) = outcome else { return outcome }
        links.begin(request, value: value)
        return Self.part(of: value, from: request.offset)
    }

    // MARK: Below the sink

    /// Decides about a request that the radio answers by itself.
    func verdict(on request: LowerRequest, of central: Peer.ID) -> LowerVerdict {
        let (kind, key): (FaultTrigger.Operation, AttributeKey?) =
            switch request {
            case .read(let key): (.read, key)
            case .write(let key): (.write, key)
            case .subscribe(let key): (.subscribe, key)
            case .discover: (.discover, nil)
            case .mtu: (.mtu, nil)
            }
        guard rules.concerns(kind, of: key) else { return .proceed }
        // The radio asks about reads and writes only if the link's protection denies them.
        let decision = decide(
            kind, of: key.map { [$0] } ?? [], by: central, isDenied: kind == .read || kind == .write)
        let verdict = verdict(decision.effect)
        carryOut(decision, of: central)
        if case .refuse(let error) = verdict, let key {
            refused(central, key, kind == .read ? .read : .write, error)
        }
        guard decision.delay > .zero, verdict != .ignore else { return verdict }
        let number = links.links[central]?.number
        schedule(at: now + decision.delay) { radio in
            // Another link may have its identifier.
            guard radio.links.links[central]?.number == number else { return }
            radio.below { $0.release(central, verdict) }
        }
        return .hold
    }

    private func verdict(_ effect: FaultEffect?) -> LowerVerdict {
        switch effect {
        case .error(let error): .refuse(error)
        case .refuseSubscription: .refuse(.writeNotPermitted)
        case .mtu(let mtu): .mtu(mtu)
        case .noAnswer, .disconnect, .vanish: .ignore
        default: .proceed
        }
    }
}

/// An answer that is given when both have happened: the sink has it, and its delay is over.
private final class HeldAnswer: Sendable {
    private struct State {
        var outcome: PendingReply.Outcome?
        var isReleased = false
    }

    private let reply = PendingReply()
    private let state = Lock(State())

    var pending: PendingAnswer { reply.pending }

    func give(_ outcome: PendingReply.Outcome) {
        let isReleased = state.withLock { state in
            state.outcome = outcome
            return state.isReleased
        }
        if isReleased { reply.answer(outcome) }
    }

    func release() {
        let outcome = state.withLock { state in
            state.isReleased = true
            return state.outcome
        }
        if let outcome { reply.answer(outcome) }
    }
}
