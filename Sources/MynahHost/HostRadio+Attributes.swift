public import MynahCore
import MynahHCI
import MynahSupport

// Services, requests and values.
extension HostRadio {
    /// Publishes services together; handles that the same services had before they have again.
    public func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        guard life.isRunning else {
            throw RadioError(.invalidState, "services can be published while the radio runs")
        }
        return try serve { server, outbound, actions throws(RadioError) in
            try server.publish(services, at: now(), &outbound, &actions)
        }
    }

    /// Withdraws services, and indicates it to the centrals.
    public func withdraw(_ services: PublishedServices.ID) async {
        serve { $0.withdraw(services, at: now(), &$1, &$2) }
    }

    /// Sets what the host answers by itself, or `nil` to ask the sink.
    public func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        server.setValue(value, of: attribute)
    }

    /// Sends to each subscriber as it subscribed; `full` if one of them has no room, and `readyToSend` follows.
    public func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        guard life.isRunning else { throw RadioError(.lost, "the radio is gone") }
        return try serve { server, outbound, actions throws(RadioError) in
            try server.send(value, of: attribute, as: delivery, to: centrals, at: now(), &outbound, &actions)
        }
    }

    func restore(_ bond: Bond, _ handle: ConnectionHandle) {
        serve { $0.restore(bond, handle, at: now(), &$1, &$2) }
    }

    /// Lets the server take something, carries out what it asks for, and sends what it wrote.
    @discardableResult
    func serve<Result, Failure: Error>(
        _ body: (inout GATTServer, inout Outbound, inout [GATTServer.Action]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var actions: [GATTServer.Action] = []
        swap(&actions, &serverActions)
        let result = try body(&server, &outbound, &actions)
        // What is answered at once adds to the list: a call within a call for each value of one request could fill the stack.
        var next = 0
        while next < actions.count {
            carryOut(actions[next], &actions)
            next += 1
        }
        actions.removeAll(keepingCapacity: true)
        serverActions = actions
        sendData()
        return result
    }

    private func carryOut(_ action: GATTServer.Action, _ actions: inout [GATTServer.Action]) {
        switch action {
        case .event(let event): tell(event)
        case .watchConfirmation(let link, let due):
            deadlines[.confirmation(link)] = due
            armTimer()
        case .remember(let link): remember(link)
        case .ask(let link, let event):
            guard let outcome = outcome(of: tell(event), link) else { return }
            server.answered(outcome, link, security[link], at: now(), &outbound, &actions)
        case .signedWrite(let link, let pdu, let request):
            if secure(link, { $0.verify(signed: pdu, link, &$2) }) { tell(.write(request)) }
        case .mtuChanged(let link, let mtu):
            guard let index = links.index(of: link) else { return }
            gatt.agreed(on: mtu, link)
            switch links[at: index].role {
            case .peripheral: tell(.mtuChanged(links[at: index].peer.id, mtu))
            case .central: tellCentral(.mtuChanged(links[at: index].peer.id, mtu))
            }
        }
    }

    // MARK: Answers

    /// What the sink answers at once, or `nil` if it answers later.
    private func outcome(of answer: RadioAnswer, _ link: ConnectionHandle) -> PendingReply.Outcome? {
        switch answer {
        case .none, .pairing, .pairingLater: return .failure(.unlikelyError)
        case .answer(let outcome): return outcome
        case .later(let pending):
            guard let peer = links[link]?.peer.id else { return nil }
            pending.whenAnswered { [weak self] outcome in
                guard let self else { return }
                Task { await self.answered(outcome, link, by: peer) }
            }
            return nil
        }
    }

    /// Takes an answer that came later, when the handle may be another link's.
    private func answered(_ outcome: PendingReply.Outcome, _ link: ConnectionHandle, by peer: Peer.ID) {
        guard links[link]?.peer.id == peer else { return }
        serve { $0.answered(outcome, link, security[link], at: now(), &$1, &$2) }
    }

    /// What a bonded client configured, and whether it knows the services as they are, is kept.
    private func remember(_ handle: ConnectionHandle) {
        secure { security, _, actions in
            security.rememberClient(handle, &actions) { server.remember(handle, in: &$0) }
        }
    }
}
