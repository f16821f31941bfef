import Logging
public import MynahCore
import MynahHCI
import MynahSupport

// What the controller reports, and the links.
extension HostRadio {
    func take(_ packet: H4Packet, _ epoch: Int) {
        guard epoch == life.epoch, life.isAttached else { return }
        logger.trace("received", metadata: ["type": "\(packet.type)", "body": "\(visible(packet))"])
        switch packet.type {
        case .event: takeEvent(packet.body)
        case .aclData:
            guard let (index, frame) = links.receive(packet.body) else { return }
            take(frame, at: index)
        case .command, .synchronousData, .isochronousData: break
        }
    }

    private func takeEvent(_ body: [UInt8]) {
        // What comes with each packet is not taken apart first.
        if body.first == HCIEvent.numberOfCompletedPackets, let completed = HCIEvent.completedPackets(body) {
            for entry in completed { outbound.completed(entry.handle, entry.count) }
            return sendData()
        }
        guard let event = HCIEvent(body), let content = HCIEventContent(event) else {
            return logger.notice("event dropped", metadata: ["body": "\(Hex.encode(body))"])
        }
        take(content)
    }

    private func take(_ event: HCIEventContent) {
        switch event {
        case .commandComplete(let opcode, let credits, let parameters):
            let (status, rest) = (HCIStatus(parameters.first ?? 0), Array(parameters.dropFirst()))
            drive { $0.answered(opcode, credits: credits, status, rest, at: $1, &$2) }
        case .commandStatus(let opcode, let credits, let status):
            drive { $0.answered(opcode, credits: credits, status, [], at: $1, &$2) }
        case .connectionComplete(let status, let connection): connectionEnded(status, connection)
        case .disconnectionComplete(let status, let handle, let reason):
            if status == .success { disconnected(handle, reason) }
        case .connectionUpdateComplete(let status, let handle, let parameters):
            if status == .success { links[handle]?.parameters = parameters }
        case .encryptionChange(let status, let handle, let isOn):
            if status == .success, !isOn { return security.encryptionStopped(handle) }
            secure(handle) { $0.encryptionChanged(handle, status, at: $1, &$2) }
        case .encryptionKeyRefreshComplete(let status, let handle):
            secure(handle) { $0.encryptionChanged(handle, status, at: $1, &$2) }
        case .longTermKeyRequest(let handle, let random, let diversifier):
            secure(handle) { $0.keyRequested(handle, random: random, diversifier: diversifier, &$2) }
        case .hardwareError(let code): hardwareFailed(code)
        case .advertisingReports(let reports):
            for report in reports { hear(report) }
        case .remoteParameterRequest(let handle, let minimum, let maximum, let latency, let timeout):
            let range = ConnectionParameterRange(
                minimum: minimum, maximum: maximum, latency: latency, timeout: timeout)
            send(.answer(handle, range), "answering a request for connection parameters")
        case .readRemoteFeaturesComplete(let status, let handle):
            // A peripheral that has no such request says so.
            if status == .success || status == .unsupportedRemoteFeature { heard(handle) }
        // Completed packets were taken before the event was taken apart.
        case .completedPackets, .dataLengthChange, .advertisingSetTerminated, .other: break
        }
    }

    /// Only a reset brings the controller back (Core Specification, Vol 4, Part E, 7.7.16).
    private func hardwareFailed(_ code: UInt8) {
        let message = "the controller reports the hardware error \(code)"
        warn("hardwareError", message)
        if life.isRunning { lose(RadioError(.lost, message)) }
    }

    private func connectionEnded(_ status: HCIStatus, _ connection: LEConnection) {
        guard status == .success else {
            if connection.role == .central { drive { $0.attemptEnded(status, at: $1, &$2) } }
            return
        }
        guard links.index(of: connection.handle) == nil else { return }
        let identity = security.identity(of: connection.peer)
        if let identity { peers.connected(identity, by: connection.addressOnAir) }
        let request = drive { $0.linkBegan(connection, identity: identity, at: $1, &$2) }
        follow()
        let context = LinkTable.Context(
            request: request, identity: identity,
            canReadFeatures: controller.profile.supportedCommands.allows(.leReadRemoteFeatures))
        changeLinks { $0.began(connection, context, &$1) }
    }

    private func disconnected(_ handle: ConnectionHandle, _ reason: HCIStatus) {
        // Also of a link that nobody wanted, which is not in the table.
        drive { $0.linkEnded(at: $1, &$2) }
        changeLinks { $0.ended(handle, reason, &$1) }
        if links.isEmpty { waiters.endLinks() }
        sendData()
    }

    /// The controller is gone, and all links with it.
    func loseLinks() {
        changeLinks { $0.removeAll(life.loss ?? controller.loss(), &$1) }
        waiters.endLinks()
    }

    /// The peer was heard on a link.
    func heard(_ handle: ConnectionHandle) {
        changeLinks { $0.heard(handle, &$1) }
    }

    /// Lets the links take something, and carries out what they ask for.
    func changeLinks(_ body: (inout LinkTable, inout [LinkTable.Action]) -> Void) {
        var actions: [LinkTable.Action] = []
        body(&links, &actions)
        for action in actions { carryOut(action) }
    }

    private func carryOut(_ action: LinkTable.Action) {
        switch action {
        case .added(let link, let onAir):
            let own = ownAddress ?? onAir
            security.linkBegan(
                link.handle, link.role, to: link.peer,
                .init(own: own, peer: onAir, identity: controller.address.identity ?? own))
            server.begin(link.handle, to: link.peer)
            gatt.begin(link.handle)
            l2cap.begin(link.handle, to: link.peer.id, as: link.role)
        case .connected(let peer): tell(.connected(peer))
        case .askToEncrypt(let link): secure(link) { $0.askSubscriberToEncrypt(link, at: $1, &$2) }
        case .readFeatures(let link, let peer):
            send(.readFeatures, of: link, peer, HCICommand(.leReadRemoteFeatures, handle: link))
        case .exchangeMTU(let link):
            changeClient(link) { client, actions in
                let exchange = MTUExchange(ownMTU: ATTServer().ownMTU)
                client.perform(exchange, on: link, at: now(), into: &actions) { _ in }
            }
        case .reached(let peer, let request):
            tellCentral(.connected(peer))
            endConnection(request.number, .success(peer))
        case .end(let link): end(link)
        case .removed(let link): removed(link)
        case .disconnected(let peer, .peripheral, _): tell(.disconnected(peer))
        case .disconnected(let peer, .central, let error): tellCentral(.disconnected(peer, error))
        case .connectAgain(let request):
            change { _, _, connector in connector.wantAgain(request) }
            follow()
        case .connectionFailed(let request, let error): endConnection(request.number, .failure(error))
        }
    }

    private func removed(_ link: Link) {
        outbound.linkEnded(link.handle)
        gatt.end(link.handle)
        deadlines[.confirmation(link.handle)] = nil
        deadlines[.request(link.handle)] = nil
        secure(link.handle) { $0.linkEnded(link.handle, &$2) }
        var actions: [L2CAPManager.Action] = []
        l2cap.end(link.handle, &actions)
        for action in actions { carryOut(action) }
        // A bonded client's subscriptions come back with it.
        for key in server.end(link.handle) { tell(.unsubscribed(key, link.peer.id)) }
    }

    // MARK: What a user asks for

    func link(of peer: Peer.ID) throws(RadioError) -> Link { try links.link(to: peer) }

    /// Asks for the end of a link, and does not wait for it.
    func end(_ link: ConnectionHandle) {
        send(.disconnect(link, .remoteUserTerminatedConnection), "ending a link")
    }

    /// Ends a link, to a central or to a peripheral.
    public func disconnect(_ peer: Peer.ID) async {
        guard let handle = try? links.handle(of: peer) else { return }
        do throws(RadioError) {
            try await command(.disconnect(handle, .remoteUserTerminatedConnection), "ending a link")
        } catch {
            logger.debug("the link ends by itself", metadata: ["error": "\(error)"])
        }
    }

    /// The strength of the peer's signal now, in dBm.
    public func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8 {
        let handle = try links.handle(of: peer)
        let answer = try await command(HCICommand(.readRSSI, handle: handle), "reading the RSSI of a link")
        guard answer.count >= 3, answer[2] != 127 else {
            throw RadioError(.protocolViolation, "the controller told no signal strength")
        }
        return Int8(bitPattern: answer[2])
    }
}
