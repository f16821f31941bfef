import MynahCore
import MynahHCI

// The GATT client: the requests of the central role to peripherals.
extension LinkDriver {
    /// Runs a procedure with a peripheral, after all procedures that were requested earlier.
    func perform<Procedure: GATTProcedure>(
        _ procedure: Procedure, on peer: Peer.ID
    ) async throws(RequestError) -> Procedure.Value {
        let link: ConnectionHandle
        do throws(RadioError) { link = try acl.table.handle(of: peer) } catch { throw .failed(error) }
        return try await withCheckedContinuation { continuation in
            ask(link) {
                $0.perform(
                    procedure, on: link, at: environment.now(), into: &$1, done: sinks.asking(continuation))
            }
        }.get()
    }

    /// Whether a link has room for a command; if not, `readyToWrite` is reported later.
    func hasRoomToWrite(to peer: Peer.ID) -> Bool {
        (try? acl.table.handle(of: peer)).map { client.hasRoom(on: $0, &acl.outbound) } ?? false
    }

    /// Writes with a command.
    ///
    /// Returns `false` if the link has no room; `readyToWrite` is then reported later.
    func write(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        let isSent = try client.write(value, to: handle, on: try acl.table.handle(of: peer), &acl.outbound)
        sendData()
        return isSent
    }

    /// Writes with a signed command.
    ///
    /// Returns `false` if the link has no room; `readyToWrite` is then reported later.
    ///
    /// On an encrypted link, the command is sent without a signature, because encryption gives the same
    /// protection (Core Specification, Vol 3, Part C, 10.2.2).
    func writeSigned(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        let link = try acl.table.handle(of: peer)
        guard !security[link].isEncrypted else { return try write(value, to: handle, of: peer) }
        let isSent = try client.writeSigned(value, to: handle, on: link, &acl.outbound) { pdu in
            security.change(link) { $0.sign(pdu, link, &$2) }
        }
        sendData()
        return isSent
    }

    /// Handles the timeout of a request.
    func requestDue(_ link: ConnectionHandle) {
        let isPairing = security.manager.deadline(of: link) != nil
        ask(link) { client, _ in client.expire(link, at: environment.now(), isPairing: isPairing) }
    }

    /// Handles the encryption of a link to a peripheral, after pairing or with a bond.
    func clientSecured(_ link: ConnectionHandle, by bond: Bond?) {
        ask(link) {
            $0.secured(link, remembering: bond?.serviceChanged, at: environment.now(), into: &$1)
        }
    }

    /// Changes the state of the GATT client, and carries out the resulting actions on a link.
    func ask(_ link: ConnectionHandle, _ step: (inout GATTClient, inout [ATTClient.Action]) -> Void) {
        var actions: [ATTClient.Action] = []
        step(&client, &actions)
        for action in actions { carryOut(action, link) }
        if let due = client.takeWatch(of: link) { timer[.request(link)] = due }
    }

    private func carryOut(_ action: ATTClient.Action, _ link: ConnectionHandle) {
        guard let index = acl.table.index(of: link) else { return }
        let peer = acl.table[at: index].peer.id
        switch action {
        case .send(let pdu):
            send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: link)
        case .mtuChanged(let mtu):
            server.agreed(on: mtu, link)
            sinks.tell(mtu: mtu, of: acl.table[at: index])
        case .notified(let attribute, let value, let delivery):
            sinks.tellCentral(.notified(peer, attribute, value, delivery))
        case .servicesChanged(let range): sinks.tellCentral(.servicesChanged(peer, range))
        case .subscribedToServices(let value):
            security.change { security, _, actions in
                security.remember(link, &actions) { $0.serviceChanged = value }
            }
        }
    }
}
