public import MynahCore
import MynahHCI
import MynahSupport

// Links that the central's half makes.
extension HostRadio {
    /// Connects; several connections may be waited for at once.
    public func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer {
        guard life.isRunning else { throw RadioError(.invalidState, "the radio does not run") }
        let address = identity(of: address)
        if links.values.contains(where: { $0.role == .central && $0.peer.address == address })
            || controller.connector.wants(address)
        {
            throw RadioError(.invalidState, "\(address) is connected already, or about to be")
        }
        let (epoch, onAir) = (life.epoch, peers.current(of: address))
        let number = change { _, _, connector in connector.want(address, onAir: onAir) }
        if let timeout { deadlines[.connect(number)] = now() + timeout }
        follow()
        armTimer()
        let overdue = RadioError(.timedOut, "\(address) did not answer within \(timeout ?? .zero)")
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                waiters.connections[number] = .init(continuation: $0, overdue: overdue)
            }
        } onCancel: {
            Task {
                await self.giveUp(
                    number, RadioError(.timedOut, "connecting to \(address) was cancelled"), in: epoch)
            }
        }
        return try result.get()
    }

    func connectOverdue(_ number: UInt64) {
        if let overdue = waiters.connections[number]?.overdue { giveUp(number, overdue, in: life.epoch) }
    }

    /// A bonded peripheral is waited for by its identity, whatever address of its is named.
    private func identity(of address: DeviceAddress) -> DeviceAddress {
        guard address.isResolvable, let identity = security.identity(of: address) else { return address }
        if !peers.knows(identity) { _ = peers.note(address, of: identity) }
        return identity
    }

    /// Gives a request up; after a stop its number may be another request's.
    private func giveUp(_ number: UInt64, _ error: RadioError, in epoch: Int) {
        guard epoch == life.epoch else { return }
        let isOpen = change { _, _, connector in connector.giveUp(number) }
        endConnection(number, .failure(error))
        guard !isOpen, let link = links.values.first(where: { $0.request?.number == number }) else { return }
        // The link has begun, and the peripheral was not heard on it yet.
        endSoon(link.handle)
    }

    func endConnection(_ number: UInt64, _ result: Result<Peer, RadioError>) {
        deadlines[.connect(number)] = nil
        waiters.endConnection(number, result)
        follow()
    }

    // MARK: - What the controller reports

    func centralConnectionEnded(_ status: HCIStatus, _ connection: LEConnection) {
        guard status == .success else {
            return drive { $0.attemptEnded(status, at: $1, &$2) }
        }
        guard links[connection.handle] == nil else { return }
        let identity = security.identity(of: connection.peer) ?? connection.peer
        let address = controller.connector.wants(identity) ? identity : connection.peer
        let request = drive { $0.linkBegan(.central, to: address, at: $1, &$2) }
        follow()
        // It came after all, and nobody waits for it.
        guard let request else { return endSoon(connection.handle) }
        let peer = add(connection)
        links[connection.handle]?.request = request
        if controller.profile.supportedCommands.allows(.leReadRemoteFeatures) {
            // The answer shows that the peripheral is on the link, though it may send nothing else by itself.
            send(
                .readFeatures, of: connection.handle, peer.id,
                HCICommand(.leReadRemoteFeatures, handle: connection.handle))
        } else {
            // The controller cannot ask, so what it reports of the link is taken as true.
            heard(connection.handle)
        }
        // As an iPhone does: before anything else is asked for.
        ask(MTUExchange(ownMTU: ATTServer().ownMTU), connection.handle)
    }

    /// The peripheral was heard on a link: the call that waits for it ends.
    func heard(_ handle: UInt16) {
        guard let request = links[handle]?.request, waiters.connections[request.number] != nil else { return }
        links[handle]?.request = nil
        guard let peer = links[handle]?.peer else { return }
        tellCentral(.connected(peer))
        endConnection(request.number, .success(peer))
    }

    /// A link ended on which the peripheral was never heard: it took another central's request, or heard none.
    ///
    /// The controller tries again (Core Specification, Vol 1, Part F, 2.59).
    func unheard(_ request: Connector.Request, _ reason: HCIStatus) {
        guard waiters.connections[request.number] != nil else { return }
        guard reason == .connectionFailedToBeEstablished, life.isRunning else {
            let error = Self.disconnection(reason) ?? RadioError(.disconnected, "the link was ended")
            return endConnection(request.number, .failure(error))
        }
        change { _, _, connector in connector.wantAgain(request) }
        follow()
    }

    func endSoon(_ handle: UInt16) {
        send(HCICommand.disconnect(handle, .remoteUserTerminatedConnection), "ending a link")
    }
}
