import Logging
import MynahCore
import MynahHCI
import MynahSupport

// What the controller tells.
extension HostRadio {
    func take(_ packet: H4Packet, _ run: Int) {
        guard run == self.run, state.isAttached else { return }
        logger.trace("received", metadata: ["type": "\(packet.type)", "body": "\(visible(packet))"])
        switch packet.type {
        case .event:
            // What comes with each packet is not taken apart first.
            if packet.body.first == HCIEvent.numberOfCompletedPackets,
                let completed = HCIEvent.completedPackets(packet.body)
            {
                for entry in completed { data.completed(entry.handle, entry.count) }
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
            answered(
                opcode, credits: credits,
                status == .success ? .success(Array(parameters.dropFirst())) : .failure(.refused(status)))
        case .commandStatus(let opcode, let credits, let status):
            answered(opcode, credits: credits, status == .success ? .success([]) : .failure(.refused(status)))
        case .connectionComplete(let status, let connection):
            connectionEnded(status, connection)
        case .disconnectionComplete(let status, let handle, let reason):
            if status == .success { disconnected(handle, reason) }
        case .connectionUpdateComplete(let status, let handle, let parameters):
            if status == .success { links[handle]?.parameters = parameters }
        case .completedPackets(let entries):
            for entry in entries { data.completed(entry.handle, entry.count) }
            sendData()
        case .encryptionChange(let status, let handle, let isOn):
            if status != .success || isOn {
                encryptionEnded(handle, status)
            } else {
                encryptionStopped(handle)
            }
        case .encryptionKeyRefreshComplete(let status, let handle):
            encryptionEnded(handle, status)
        case .longTermKeyRequest(let handle, let random, let diversifier):
            giveKey(handle, random, diversifier)
        case .hardwareError(let code):
            tell(.warning(RadioWarning("hardwareError", "the controller reports the hardware error \(code)")))
        case .advertisingReports(let reports):
            for report in reports { hear(report) }
        case .remoteParameterRequest(let handle, let minimum, let maximum, let latency, let timeout):
            answerParameterRequest(handle, minimum, maximum, latency, timeout)
        case .readRemoteFeaturesComplete(let status, let handle):
            // One that has no such request says so.
            if status == .success || status == .unsupportedRemoteFeature { heard(handle) }
        case .dataLengthChange, .advertisingSetTerminated, .other:
            break
        }
    }

    private func connectionEnded(_ status: HCIStatus, _ connection: LEConnection) {
        switch connection.role {
        case .peripheral: if status == .success { connected(connection) }
        case .central: centralConnectionEnded(status, connection)
        }
    }

    private func connected(_ connection: LEConnection) {
        guard links[connection.handle] == nil else { return }
        tell(.connected(add(connection)))
        // What it had configured is not sent before the link is encrypted (Vol 3, Part C, 10.3.1.1).
        if let bond = security.bonds[connection.peer], bond.ownKey != nil, !bond.configurations.isEmpty {
            pairing(connection.handle) { $0.requestSecurity(by: bond, at: $1) }
        }
        // A second central must find the device too.
        advertiseAgain()
    }

    /// Takes a link up; a bonded peer is known by its identity.
    func add(_ connection: LEConnection) -> Peer {
        let bond = security.bonds[connection.peer]
        lastPeer += 1
        let peer = Peer(
            id: Peer.ID(lastPeer), address: bond?.identity ?? connection.peer, isPaired: bond != nil)
        let onAir = connection.peerResolvable ?? connection.peer
        if let bond, onAir.isResolvable { central.privateAddresses[bond.identity] = onAir }
        var link = Link(
            handle: connection.handle, role: connection.role, peer: peer, parameters: connection.parameters,
            server: ATTServer(), pairing: LinkPairing(own: ownAddress ?? onAir, peer: onAir))
        link.security.isBonded = bond != nil
        links[connection.handle] = link
        advertiser.linkBegan(connection.role)
        return peer
    }

    private func disconnected(_ handle: UInt16, _ reason: HCIStatus) {
        guard let link = links.removeValue(forKey: handle) else { return }
        advertiser.linkEnded()
        advertiseAgain()
        data.forget(handle)
        endRequests(of: link)
        endPairing(of: link)
        forget(link)
        switch link.role {
        case .peripheral:
            tell(.disconnected(link.peer.id))
        case .central where link.wish != nil: unheard(link, reason)
        case .central:
            tellCentral(.disconnected(link.peer.id, Self.disconnection(reason)))
        }
        if links.isEmpty { sayFarewell() }
        sendData()
    }

    /// A client's configurations end with its link, where it is not bonded.
    private func forget(_ link: Link) {
        for (handle, _) in link.server.configurations.sorted(by: { $0.key < $1.key }) {
            guard case .configuration(let key, _)? = database[handle]?.content, key != serviceChanged else {
                continue
            }
            tell(.unsubscribed(key, link.peer.id))
        }
    }

    func forgetLinks(isTold: Bool) {
        let all = links
        links = SortedMap()
        sayFarewell()
        for link in all.values {
            data.forget(link.handle)
            endRequests(of: link)
            endPairing(of: link)
            guard isTold else { continue }
            forget(link)
            switch link.role {
            case .peripheral: tell(.disconnected(link.peer.id))
            case .central where link.wish != nil: break
            case .central:
                tellCentral(.disconnected(link.peer.id, RadioError(.lost, "the radio is gone")))
            }
        }
    }

    func end(_ handle: UInt16, _ reason: HCIStatus) async throws(RadioError) {
        var writer = ByteWriter(capacity: 3)
        writer.write(handle)
        writer.write(reason.code)
        try await command(.disconnect, writer.bytes, "ending a link")
    }

    // MARK: Data

    private func take(_ frame: L2CAPFrame, _ handle: UInt16) {
        if let index = links.index(of: handle), links[at: index].wish != nil { heard(handle) }
        switch frame.channel {
        case L2CAPFrame.Channel.attribute:
            if let opcode = frame.payload.first, ATTClient.takes(opcode) {
                takeAnswer(frame.payload, handle)
            } else {
                takeAttribute(frame.payload, handle)
            }
        case L2CAPFrame.Channel.signalling: takeSignal(frame.payload, handle)
        case L2CAPFrame.Channel.securityManager: takePairing(frame.payload, handle)
        case L2CAPFrame.Channel.dynamic: takeFrame(frame.payload, frame.channel, handle)
        default: break
        }
    }

    func send(_ frame: L2CAPFrame, to handle: UInt16) {
        sendCollected(handle)
        if !data.add(frame, for: handle) {
            logger.debug("dropped, because too much waits for the link", metadata: ["link": "\(handle)"])
        }
        sendData()
    }

    func sendData() {
        while let packet = data.takeNext() { transmit(packet) }
        if !collecting.isEmpty {
            for handle in collecting.sorted() where data.count(of: handle) == 0 { sendCollected(handle) }
            while let packet = data.takeNext() { transmit(packet) }
        }
        if !channels.open.isEmpty { pumpChannels() }
        tellOfRoom()
        if central.refusals.end(where: hasRoom) { tellCentral(.readyToWrite) }
    }

    /// Whether so little waits for a link that more is asked for.
    func hasRoom(_ handle: UInt16) -> Bool {
        data.count(of: handle) <= options.queueLimit / 2
    }
}
