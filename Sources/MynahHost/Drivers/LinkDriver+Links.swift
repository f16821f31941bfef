import Logging
import MynahCore
import MynahHCI

// The links themselves, as the controller reports them and as users end them.
extension LinkDriver {
    /// Handles an event about a link.
    func handle(_ event: HCIEventContent) {
        acl.table.noteUse(event, at: environment.now())
        switch event {
        case .connectionComplete(_, let connection): began(connection)
        case .disconnectionComplete(let status, let handle, let reason):
            if status == .success { ended(handle, reason) }
        case .encryptionChange(let status, let handle, let isOn):
            if status == .success, !isOn { return security.manager.encryptionStopped(handle) }
            security.change(handle) { $0.encryptionChanged(handle, status, at: $1, &$2) }
        case .encryptionKeyRefreshComplete(let status, let handle):
            security.change(handle) { $0.encryptionChanged(handle, status, at: $1, &$2) }
        case .longTermKeyRequest(let handle, let random, let diversifier):
            guard sinks.faults?.endsLink(handle, random, diversifier, of: self) != true else { return }
            security.change(handle) { $0.keyRequested(handle, random: random, diversifier: diversifier, &$2) }
        case .remoteParameterRequest, .connectionUpdateComplete: channels.handle(event)
        case .readRemoteFeaturesComplete(let status, let handle):
            // A peripheral without this request answers with Unsupported Remote Feature.
            if status == .success || status == .unsupportedRemoteFeature { heard(handle) }
        // The table or the controller's driver takes these, or nobody does.
        case .commandComplete, .commandStatus, .completedPackets, .hardwareError, .advertisingReports,
            .dataLengthChange, .advertisingSetTerminated, .other:
            break
        }
    }

    private func began(_ connection: LEConnection) {
        guard acl.table.index(of: connection.handle) == nil else { return }
        let identity = security.manager.identity(of: connection.peer)
        let request = access.linkBegan(connection, identity: identity, security.bonds)
        let canReadFeatures = controller.session.profile.supportedCommands.allows(.leReadRemoteFeatures)
        let context = LinkTable.Context(
            request: request, identity: identity, canReadFeatures: canReadFeatures, now: environment.now())
        change { $0.began(connection, context, &$1) }
        if controller.session.limitsCentrals { access.addressChanged() }
    }

    private func ended(_ handle: ConnectionHandle, _ reason: HCIStatus) {
        // Also of a link that nobody wanted, which is not in the table.
        controller.drive { [role = acl.table[handle]?.role] in $0.linkEnded(role, at: $1, &$2) }
        change { $0.ended(handle, reason, &$1) }
        if controller.session.limitsCentrals { access.addressChanged() }
        if acl.table.isEmpty { stopWaitingForEnd() }
        sendData()
    }

    /// Notes that the peer of a link has sent something.
    func heard(_ handle: ConnectionHandle) {
        change { $0.heard(handle, &$1) }
    }

    /// Cancels a request for a connection, and ends its link if that has begun.
    func cancel(_ request: GenericAccess.Request) {
        guard let number = access.cancel(request, security.bonds) else { return }
        change { $0.giveUp(number, &$1) }
    }

    /// Ends a request for a connection whose timeout elapsed, and ends its link.
    func overdue(_ number: UInt64) {
        if access.overdue(number, security.bonds) { change { $0.giveUp(number, &$1) } }
    }

    /// Handles that the controller refused a command about a link.
    func refused(_ command: ControllerSession.LinkCommand, _ handle: ConnectionHandle, _ peer: Peer.ID) {
        guard acl.table[handle]?.peer.id == peer else { return }
        switch command {
        // The controller's reports of the link are trusted.
        case .readFeatures: heard(handle)
        case .encrypt:
            security.change(handle) { $0.encryptionChanged(handle, .unspecifiedError, at: $1, &$2) }
        }
    }

    /// Changes the state of the links, and carries out their actions.
    func change(_ body: (inout LinkTable, inout [LinkTable.Action]) -> Void) {
        var actions: [LinkTable.Action] = []
        body(&acl.table, &actions)
        for action in actions { carryOut(action) }
    }

    private func carryOut(_ action: LinkTable.Action) {
        switch action {
        case .added(let link, let onAir): added(link, onAir)
        case .connected(let link):
            sinks.connected(link.peer, .peripheral, mtu: server.mtu(of: link.handle))
            sinks.tell(server.values.unaskedEvents(for: link.peer.id))
        case .shared(let link, let request):
            sinks.connected(link.peer, .central, mtu: server.mtu(of: link.handle))
            if let request { access.ended(request.number, .success(link.peer)) }
        case .askToEncrypt(let link): security.change(link) { $0.askSubscriberToEncrypt(link, at: $1, &$2) }
        case .readFeatures(let link, let peer):
            controller.send(.readFeatures, of: link, peer, HCICommand(.leReadRemoteFeatures, handle: link))
        case .exchangeMTU(let link):
            ask(link) { client, actions in
                let exchange = MTUExchange(ownMTU: server.largestMTU)
                client.perform(exchange, on: link, at: environment.now(), into: &actions) { _ in }
            }
        case .reached(let peer, let request):
            sinks.tellCentral(.connected(peer))
            access.ended(request.number, .success(peer))
        case .end(let link): end(link)
        case .removed(let link): removed(link)
        case .disconnected(let peer, let halves, let error): sinks.disconnected(peer, halves, error)
        case .connectAgain(let request): access.connectAgain(request, security.bonds)
        case .connectionFailed(let request, let error): access.ended(request.number, .failure(error))
        }
    }

    private func added(_ link: Link, _ onAir: DeviceAddress) {
        let own = controller.ownAddress ?? onAir
        let identity = controller.session.address.identity ?? own
        security.manager.linkBegan(
            link.handle, link.role, to: link.peer, .init(own: own, peer: onAir, identity: identity))
        server.addLink(link.handle, to: link.peer)
        client.addLink(link.handle)
        channels.began(link)
    }

    private func removed(_ link: Link) {
        controller.meter.ended(link, at: environment.now())
        acl.outbound.linkEnded(link.handle)
        client.end(link.handle)
        timer.linkEnded(link.handle)
        security.change(link.handle) { $0.linkEnded(link.handle, &$2) }
        channels.ended(link.handle)
        // A bonded client's subscriptions come back with it.
        for key in server.end(link.handle) { sinks.tell(.unsubscribed(key, link.peer.id)) }
    }

    // MARK: Requests of the user

    /// The stage of the link to the peripheral with an address, or `nil` if there is no link.
    func stage(ofPeripheral address: DeviceAddress) -> Link.Stage? { acl.table.stage(ofPeripheral: address) }

    /// Begins to end a link, without waiting for it.
    func end(_ link: ConnectionHandle) {
        controller.send(.disconnect(link, .remoteUserTerminatedConnection), "ending a link")
    }

    /// Ends the link to a central or a peripheral.
    func disconnect(_ peer: Peer.ID, _ reason: HCIStatus = .remoteUserTerminatedConnection) async {
        guard let handle = try? acl.table.handle(of: peer) else { return }
        do throws(RadioError) {
            try await controller.command(.disconnect(handle, reason), "ending a link")
        } catch {
            environment.logger.debug("the link has ended already", metadata: ["error": "\(error)"])
        }
    }

    /// Reads the RSSI of a peer, in dBm.
    func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8 {
        let command = HCICommand(.readRSSI, handle: try acl.table.handle(of: peer))
        let answer = try await controller.command(command, "reading the RSSI of a link")
        guard answer.count >= 3, let rssi = SignalStrength.dBm(answer[2]) else {
            throw RadioError(.protocolViolation, "the controller returned no RSSI")
        }
        return rssi
    }
}
