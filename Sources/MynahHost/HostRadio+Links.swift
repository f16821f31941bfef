import Logging
public import MynahCore
import MynahHCI
import MynahSupport

// What the controller tells.
extension HostRadio {
    func take(_ packet: H4Packet, _ epoch: Int) {
        guard epoch == life.epoch, life.isAttached else { return }
        logger.trace("received", metadata: ["type": "\(packet.type)", "body": "\(visible(packet))"])
        switch packet.type {
        case .event:
            // What comes with each packet is not taken apart first.
            if packet.body.first == HCIEvent.numberOfCompletedPackets,
                let completed = HCIEvent.completedPackets(packet.body)
            {
                for entry in completed { outbound.completed(entry.handle, entry.count) }
                return sendData()
            }
            guard let event = HCIEvent(packet.body), let content = HCIEventContent(event) else {
                return logger.notice("event dropped", metadata: ["body": "\(Hex.encode(packet.body))"])
            }
            take(content)
        case .aclData:
            guard let (handle, boundary, bytes) = ACLPacket.parts(of: packet.body),
                let index = links.index(of: handle),
                let frame = links[at: index].reassembler.take(bytes, boundary)
            else { return }
            take(frame, handle)
        case .command, .synchronousData, .isochronousData:
            break
        }
    }

    private func take(_ event: HCIEventContent) {
        switch event {
        case .commandComplete(let opcode, let credits, let parameters):
            let status = HCIStatus(parameters.first ?? 0)
            drive {
                $0.answered(
                    opcode, credits: credits, status, Array(parameters.dropFirst()), at: $1, &$2)
            }
        case .commandStatus(let opcode, let credits, let status):
            drive { $0.answered(opcode, credits: credits, status, [], at: $1, &$2) }
        case .connectionComplete(let status, let connection):
            connectionEnded(status, connection)
        case .disconnectionComplete(let status, let handle, let reason):
            if status == .success { disconnected(handle, reason) }
        case .connectionUpdateComplete(let status, let handle, let parameters):
            if status == .success { links[handle]?.parameters = parameters }
        case .encryptionChange(let status, let handle, let isOn):
            if status != .success || isOn {
                secure(handle) { $0.encryptionChanged(handle, status, at: $1, &$2) }
            } else {
                security.encryptionStopped(handle)
            }
        case .encryptionKeyRefreshComplete(let status, let handle):
            secure(handle) { $0.encryptionChanged(handle, status, at: $1, &$2) }
        case .longTermKeyRequest(let handle, let random, let diversifier):
            secure(handle) { $0.keyRequested(handle, random: random, diversifier: diversifier, &$2) }
        case .hardwareError(let code):
            hardwareFailed(code)
        case .advertisingReports(let reports):
            for report in reports { hear(report) }
        case .remoteParameterRequest(let handle, let minimum, let maximum, let latency, let timeout):
            answerParameterRequest(
                handle,
                ConnectionParameterRange(
                    minimum: minimum, maximum: maximum, latency: latency, timeout: timeout))
        case .readRemoteFeaturesComplete(let status, let handle):
            // One that has no such request says so.
            if status == .success || status == .unsupportedRemoteFeature { heard(handle) }
        // Completed packets were taken before the event was taken apart.
        case .completedPackets, .dataLengthChange, .advertisingSetTerminated, .other:
            break
        }
    }

    /// Only a reset brings the controller back (Core Specification, Vol 4, Part E, 7.7.16).
    private func hardwareFailed(_ code: UInt8) {
        let message = "the controller reports the hardware error \(code)"
        warn("hardwareError", message)
        if life.isRunning { lose(RadioError(.lost, message)) }
    }

    private func connectionEnded(_ status: HCIStatus, _ connection: LEConnection) {
        switch connection.role {
        case .peripheral: if status == .success { connected(connection) }
        case .central: centralConnectionEnded(status, connection)
        }
    }

    private func connected(_ connection: LEConnection) {
        guard links[connection.handle] == nil else { return }
        // A second central must find the device too.
        drive { _ = $0.linkBegan(.peripheral, to: connection.peer, at: $1, &$2) }
        tell(.connected(add(connection)))
        secure(connection.handle) { $0.askSubscriberToEncrypt(connection.handle, at: $1, &$2) }
    }

    /// Takes a link up; a bonded peer is known by its identity.
    func add(_ connection: LEConnection) -> Peer {
        let identity = security.identity(of: connection.peer)
        lastPeer += 1
        let peer = Peer(
            id: Peer.ID(lastPeer), address: identity ?? connection.peer, isPaired: identity != nil)
        let onAir = connection.peerResolvable ?? connection.peer
        if let identity, onAir.isResolvable { _ = peers.note(onAir, of: identity) }
        links[connection.handle] = Link(
            handle: connection.handle, role: connection.role, peer: peer, parameters: connection.parameters)
        let own = ownAddress ?? onAir
        security.linkBegan(
            connection.handle, connection.role, to: peer,
            .init(own: own, peer: onAir, identity: controller.address.identity ?? own))
        server.begin(connection.handle, to: peer)
        gatt.begin(connection.handle)
        l2cap.begin(connection.handle, to: peer.id, as: connection.role)
        return peer
    }

    private func disconnected(_ handle: UInt16, _ reason: HCIStatus) {
        guard let link = links.removeValue(forKey: handle) else { return }
        drive { $0.linkEnded(at: $1, &$2) }
        outbound.linkEnded(handle)
        endRequests(of: link)
        secure(link.handle) { $0.linkEnded(link.handle, &$2) }
        forget(link)
        switch (link.role, link.request) {
        case (.peripheral, _): tell(.disconnected(link.peer.id))
        case (.central, let request?): unheard(request, reason)
        case (.central, nil): tellCentral(.disconnected(link.peer.id, Self.disconnection(reason)))
        }
        if links.isEmpty { waiters.endLinks() }
        sendData()
    }

    /// A client's subscriptions end with its link; those of a bonded client come back with it.
    private func forget(_ link: Link) {
        for key in server.end(link.handle) { tell(.unsubscribed(key, link.peer.id)) }
    }

    func forgetLinks(isTold: Bool) {
        let all = links
        links = SortedMap()
        waiters.endLinks()
        for link in all.values {
            outbound.linkEnded(link.handle)
            endRequests(of: link)
            secure(link.handle) { $0.linkEnded(link.handle, &$2) }
            if let request = link.request {
                deadlines[.connect(request.number)] = nil
                waiters.endConnection(request.number, .failure(life.loss ?? controller.loss()))
            }
            guard isTold else { continue }
            forget(link)
            switch link.role {
            case .peripheral: tell(.disconnected(link.peer.id))
            case .central where link.request != nil: break
            case .central:
                tellCentral(.disconnected(link.peer.id, RadioError(.lost, "the radio is gone")))
            }
        }
    }

    /// Ends a link, to a central or to a peripheral.
    public func disconnect(_ peer: Peer.ID) async {
        guard let link = links.values.first(where: { $0.peer.id == peer }) else { return }
        do throws(RadioError) {
            try await command(.disconnect(link.handle, .remoteUserTerminatedConnection), "ending a link")
        } catch {
            logger.debug("the link ends by itself", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Data

    private func take(_ frame: L2CAPFrame, _ handle: UInt16) {
        if let index = links.index(of: handle), links[at: index].request != nil { heard(handle) }
        switch frame.channel {
        case L2CAPFrame.Channel.attribute:
            if let opcode = frame.payload.first, ATTClient.takes(opcode) {
                takeAnswer(frame.payload, handle)
            } else {
                takeAttribute(frame.payload, handle)
            }
        case L2CAPFrame.Channel.securityManager:
            secure(handle) { $0.receive(frame.payload, handle, at: $1, &$2) }
        case L2CAPFrame.Channel.signalling, L2CAPFrame.Channel.dynamic: takeL2CAP(frame, handle)
        default: break
        }
    }

    private func takeL2CAP(_ frame: L2CAPFrame, _ handle: UInt16) {
        let security = security[handle]
        changeL2CAP { l2cap, _, outbound, actions in
            l2cap.receive(frame, on: handle, security, &outbound, &actions)
        }
    }

    func send(_ frame: L2CAPFrame, to handle: UInt16) {
        if !outbound.send(frame, to: handle) {
            logger.debug("dropped, because too much waits for the link", metadata: ["link": "\(handle)"])
        }
        sendData()
    }

    /// Sends what the controller has room for, and reports room where there was none.
    func sendData() {
        var isMore = true
        while isMore {
            while let packet = outbound.takeNext() { transmit(packet) }
            isMore = l2cap.hasChannels && fillFromChannels()
        }
        reportRoom()
    }

    /// Has channels send what there is room for; returns whether that was anything.
    private func fillFromChannels() -> Bool {
        var actions: [L2CAPManager.Action] = []
        let isAny = l2cap.fill(&outbound, &actions)
        for action in actions { carryOut(action) }
        return isAny
    }

    /// Reports that there is room again for what was refused.
    func reportRoom() {
        guard outbound.hasRefused else { return }
        let ready = outbound.takeReady { link in
            server.takesIndications(link)
        }
        if ready.peripheral { tell(.readyToSend) }
        if ready.central { tellCentral(.readyToWrite) }
    }
}
