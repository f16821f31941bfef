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
        return try serve { server, now, outbound, actions throws(RadioError) in
            try server.publish(services, at: now, &outbound, &actions)
        }
    }

    /// Withdraws services, and indicates it to the centrals.
    public func withdraw(_ services: PublishedServices.ID) async {
        serve { $0.withdraw(services, at: $1, &$2, &$3) }
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
        return try serve { server, now, outbound, actions throws(RadioError) in
            try server.send(value, of: attribute, as: delivery, to: centrals, at: now, &outbound, &actions)
        }
    }

    func confirmationDue(_ link: UInt16) {
        serve { server, now, _, actions in server.confirmationDue(link, at: now, &actions) }
    }

    func restore(_ bond: Bond, _ handle: UInt16) {
        serve { $0.restore(bond, handle, at: $1, &$2, &$3) }
    }

    /// Lets the server take something, sends what it wrote, and carries out what it asks for.
    private func serve<Result>(
        _ body: (inout GATTServer, Duration, inout Outbound, inout [GATTServer.Action]) throws(RadioError)
            -> Result
    ) throws(RadioError) -> Result {
        var actions: [GATTServer.Action] = []
        let result = try body(&server, now(), &outbound, &actions)
        for action in actions { carryOut(action) }
        sendData()
        return result
    }

    /// As above, for what throws nothing.
    private func serve(
        _ body: (inout GATTServer, Duration, inout Outbound, inout [GATTServer.Action]) -> Void
    ) {
        var actions: [GATTServer.Action] = []
        body(&server, now(), &outbound, &actions)
        for action in actions { carryOut(action) }
        sendData()
    }

    private func carryOut(_ action: GATTServer.Action) {
        switch action {
        case .event(let event): tell(event)
        case .watchConfirmation(let link, let due):
            deadlines[.confirmation(link)] = due
            armTimer()
        case .remember(let link): remember(link)
        }
    }

    // MARK: Requests

    func takeAttribute(_ bytes: [UInt8], _ handle: UInt16) {
        carryOut(server.receive(bytes, handle, security[handle]), handle)
    }

    private func carryOut(_ actions: [ATTAction], _ handle: UInt16) {
        for action in actions {
            guard let index = links.index(of: handle) else { return }
            let central = links[at: index].peer.id
            switch action {
            case .send(let pdu):
                send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: handle)
            case .read(let key, let offset):
                take(tell(.read(ReadRequest(central: central, attribute: key, offset: offset))), handle)
            case .write(let parts, let wantsResponse):
                let request = WriteRequest(central: central, parts: parts, wantsResponse: wantsResponse)
                let answer = tell(.write(request))
                if wantsResponse { take(answer, handle) }
            case .signedWrite(let part, let pdu):
                guard secure(handle, { $0.verify(signed: pdu, handle, &$2) }) else { continue }
                tell(.write(WriteRequest(central: central, parts: [part], wantsResponse: false)))
            case .answered(let key, let offset, let value):
                guard server.reportsReads(of: key) else { continue }
                tell(.answeredRead(ReadRequest(central: central, attribute: key, offset: offset), value))
            case .configured(let key, let bits):
                remember(handle)
                if let event = server.event(for: key, bits: bits, of: central) { tell(event) }
            case .confirmed(let attribute):
                serve { $0.confirmed(attribute, handle, at: $1, &$2, &$3) }
            case .mtuChanged(let mtu): agreed(on: mtu, links[at: index])
            case .clientFeatures, .becameAware: remember(handle)
            }
        }
    }

    private func agreed(on mtu: Int, _ link: Link) {
        gatt.agreed(on: mtu, link.handle)
        switch link.role {
        case .peripheral: tell(.mtuChanged(link.peer.id, mtu))
        case .central: tellCentral(.mtuChanged(link.peer.id, mtu))
        }
    }

    private func take(_ answer: RadioAnswer, _ handle: UInt16) {
        switch answer {
        case .none, .pairing, .pairingLater: answered(.failure(.unlikelyError), handle)
        case .answer(let outcome): answered(outcome, handle)
        case .later(let pending):
            guard let peer = links[handle]?.peer.id else { return }
            pending.whenAnswered { [weak self] outcome in
                guard let self else { return }
                Task { await self.answeredLater(outcome, handle, peer) }
            }
        }
    }

    private func answeredLater(_ outcome: PendingReply.Outcome, _ handle: UInt16, _ peer: Peer.ID) {
        // The handle may be another link's by now.
        guard links[handle]?.peer.id == peer else { return }
        answered(outcome, handle)
    }

    private func answered(_ outcome: PendingReply.Outcome, _ handle: UInt16) {
        carryOut(server.answered(outcome, handle, security[handle]), handle)
    }

    /// What a bonded client configured, and whether it knows the services as they are, is kept.
    private func remember(_ handle: UInt16) {
        secure { security, _, actions in
            security.rememberClient(handle, &actions) { server.remember(handle, in: &$0) }
        }
    }
}
