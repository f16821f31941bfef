import MynahCore
import MynahHCI

// The GATT server: services, requests and values.
extension LinkDriver {
    /// Sends a value to each subscriber by notification or indication, as it subscribed.
    ///
    /// Returns `full` if one of them has no room; `readyToSend` is then reported later.
    func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        guard controller.isRunning else { throw RadioError(.lost, "the radio is gone") }
        return try serve { server, outbound, actions throws(RadioError) in
            try server.send(
                value, of: attribute, as: delivery, to: centrals, at: environment.now(), &outbound, &actions)
        }
    }

    /// Publishes services together; services that were published before get their former handles.
    func publish(_ services: [ServiceDefinition]) throws(RadioError) -> PublishedServices {
        guard controller.isRunning || controller.isOff else {
            throw RadioError(.invalidState, "services can be published only while the radio runs")
        }
        return try serve { server, outbound, actions throws(RadioError) in
            try server.publish(services, at: environment.now(), &outbound, &actions)
        }
    }

    /// Withdraws services, and indicates Service Changed to the centrals.
    func withdraw(_ services: PublishedServices.ID) {
        serve { $0.withdraw(services, at: environment.now(), &$1, &$2) }
    }

    /// Handles the timeout of an indication.
    func confirmationDue(_ handle: ConnectionHandle) {
        serve { $0.confirmationDue(handle, at: environment.now(), &$2) }
    }

    /// Changes the state of the server, carries out its actions, and sends the resulting PDUs.
    @discardableResult
    func serve<Result, Failure: Error>(
        _ body: (inout GATTServer, inout Outbound, inout [GATTServer.Action]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var actions: [GATTServer.Action] = []
        swap(&actions, &serverActions)
        let result = try body(&server, &acl.outbound, &actions)
        // Actions that result from an action are appended to the list. Recursion could overflow the stack,
        // because a request may read many values.
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
        case .event(let event): sinks.tell(event)
        case .request(let request): sinks.ask(request)
        case .watchConfirmation(let link, let due): timer[.confirmation(link)] = due
        case .remember(let link): remember(link)
        case .ask(let link, let request):
            guard let outcome = outcome(of: sinks.ask(request), link) else { return }
            server.answered(outcome, link, security[link], at: environment.now(), &acl.outbound, &actions)
        case .signedWrite(let link, let pdu, let request):
            if security.change(link, { $0.verify(signed: pdu, link, &$2) }) { sinks.ask(.write(request)) }
        case .mtuChanged(let link, let mtu):
            guard let index = acl.table.index(of: link) else { return }
            client.agreed(on: mtu, link)
            sinks.tell(mtu: mtu, of: acl.table[at: index])
        }
    }

    // MARK: Answers

    /// The result in the `RadioSink`'s answer, or `nil` if the `RadioSink` answers later.
    private func outcome(of answer: RadioAnswer, _ link: ConnectionHandle) -> PendingReply.Outcome? {
        switch answer {
        case .none, .pairing, .pairingLater: return .failure(.unlikelyError)
        case .answer(let outcome): return outcome
        case .later(let pending):
            guard let peer = acl.table[link]?.peer.id else { return nil }
            pending.whenAnswered { [weak radio] outcome in
                radio?.perform { $0.answered(outcome, link, by: peer) }
            }
            return nil
        }
    }

    /// Handles a postponed answer of the `RadioSink`; drops it if another link has the same handle now.
    private func answered(_ outcome: PendingReply.Outcome, _ link: ConnectionHandle, by peer: Peer.ID) {
        guard acl.table[link]?.peer.id == peer else { return }
        serve { $0.answered(outcome, link, security[link], at: environment.now(), &$1, &$2) }
    }

    /// Saves a bonded client's configuration in its bond, and whether the client is change-aware.
    private func remember(_ handle: ConnectionHandle) {
        security.change { security, _, actions in
            security.rememberClient(handle, &actions) { server.remember(handle, in: &$0) }
        }
    }
}
