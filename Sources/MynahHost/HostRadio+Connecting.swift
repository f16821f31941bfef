public import MynahCore
import MynahHCI
import MynahSupport

// Links that the central's half makes.
extension HostRadio {
    /// The connection parameters that an iPhone was seen to choose: 30 ms, no latency, 720 ms.
    static let centralParameters = LEConnection.Parameters()

    /// Connects; several may be waited for at once.
    public func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer {
        guard state == .running else { throw RadioError(.invalidState, "the radio does not run") }
        let address = identity(of: address)
        if links.values.contains(where: { $0.role == .central && $0.peer.address == address })
            || central.wishes.wants(address)
        {
            throw RadioError(.invalidState, "\(address) is connected already, or about to be")
        }
        central.lastConnection += 1
        let number = central.lastConnection
        let overdue = timeout.map { timeout in
            Task {
                guard (try? await sleep(timeout)) != nil else { return }
                giveUp(number, RadioError(.timedOut, "\(address) did not answer within \(timeout)"))
            }
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                central.connections[number] = continuation
                carryOut(central.wishes.want(number, address))
            }
        } onCancel: {
            Task {
                await self.giveUp(number, RadioError(.timedOut, "connecting to \(address) was cancelled"))
            }
        }
        overdue?.cancel()
        return try result.get()
    }

    /// A bonded peripheral is waited for by its identity, whatever address of its is named.
    private func identity(of address: DeviceAddress) -> DeviceAddress {
        guard address.isResolvable, let identity = security.bonds[address]?.identity else { return address }
        if central.privateAddresses[identity] == nil { central.privateAddresses[identity] = address }
        return identity
    }

    private func giveUp(_ number: UInt64, _ error: RadioError) {
        guard let actions = central.wishes.giveUp(number) else {
            // The link has begun, and the peripheral was not heard on it yet.
            guard let link = links.values.first(where: { $0.wish?.number == number }) else { return }
            endConnection(number, .failure(error))
            return endSoon(link.handle)
        }
        endConnection(number, .failure(error))
        carryOut(actions)
    }

    private func endConnection(_ number: UInt64, _ result: Result<Peer, RadioError>) {
        central.connections.removeValue(forKey: number)?.resume(returning: result)
    }

    /// Everyone who waits for a link is told why there will be none.
    func failConnections(_ error: RadioError) {
        let all = central.connections
        central.connections = [:]
        central.wishes = ConnectionQueue()
        central.isFollowing = false
        central.initiating = nil
        for continuation in all.values { continuation.resume(returning: .failure(error)) }
    }

    func carryOut(_ actions: [ConnectionQueue.Action]) {
        defer { follow() }
        for action in actions {
            let before = central.initiating
            let (run, round) = (run, central.wishes.round)
            // One behind the other: what is cancelled has to be under way first.
            central.initiating = Task {
                await before?.value
                guard run == self.run, state == .running else { return }
                switch action {
                case .initiate(let addresses):
                    // Bonded ones are known by their identity, and waited for by the address that they use.
                    await initiate(addresses.map { central.privateAddresses[$0] ?? $0 }, round)
                case .cancel: await cancelInitiating(run, round)
                }
            }
        }
    }

    private func initiate(_ addresses: [DeviceAddress], _ round: UInt64) async {
        do throws(RadioError) {
            try await initiate(addresses)
        } catch {
            guard round == central.wishes.round else { return }
            let (failed, actions) = central.wishes.ended()
            for number in failed { endConnection(number, .failure(error)) }
            carryOut(actions)
        }
    }

    private func cancelInitiating(_ run: Int, _ round: UInt64) async {
        // What the controller says of the connection itself follows; or the link was there first.
        await attempt { () throws(RadioError) in
            try await command(.leCreateConnectionCancel, "giving up a connection")
        }
        let timeout = options.commandTimeout
        Task {
            guard (try? await sleep(timeout)) != nil, run == self.run else { return }
            carryOut(central.wishes.overdue(round))
        }
    }

    private func initiate(_ addresses: [DeviceAddress]) async throws(RadioError) {
        let parameters = Self.centralParameters
        var writer = ByteWriter(capacity: 26)
        let own = ownAddress?.kindCode ?? 0
        if addresses.count > 1 { try await accept(addresses) }
        // One by its address, several by the filter accept list.
        let policy: UInt8 = addresses.count > 1 ? 1 : 0
        let peer = policy == 0 ? addresses.first : nil
        // Listening all the time, 60 ms of 60 ms.
        let listening: [UInt16] = [0x0060, 0x0060]
        let wanted = [parameters.interval, parameters.interval, parameters.latency, parameters.timeout, 0, 0]
        if chooseStyle() == .extended {
            writer.write([policy, own] as [UInt8])
            writer.write(withKind: peer)
            writer.write(0x01 as UInt8)
            for value in listening + wanted { writer.write(value) }
            try await command(.leExtendedCreateConnection, writer.bytes, "connecting")
        } else {
            for value in listening { writer.write(value) }
            writer.write(policy)
            writer.write(withKind: peer)
            writer.write(own)
            for value in wanted { writer.write(value) }
            try await command(.leCreateConnection, writer.bytes, "connecting")
        }
    }

    private func accept(_ addresses: [DeviceAddress]) async throws(RadioError) {
        try await command(.leClearFilterAcceptList, "emptying the filter accept list")
        for address in addresses {
            var writer = ByteWriter(capacity: 7)
            writer.write(withKind: address)
            try await command(
                .leAddDeviceToFilterAcceptList, writer.bytes, "filling the filter accept list")
        }
    }

    // MARK: - What the controller tells

    func centralConnectionEnded(_ status: HCIStatus, _ connection: LEConnection) {
        guard status == .success else {
            let (failed, actions) = central.wishes.ended()
            let error = RadioError(
                .disconnected, "connecting failed: status 0x\(Hex.encode([status.code]))")
            for number in failed { endConnection(number, .failure(error)) }
            return carryOut(actions)
        }
        guard links[connection.handle] == nil else { return }
        let identity = security.bonds[connection.peer]?.identity ?? connection.peer
        let address = central.wishes.wants(identity) ? identity : connection.peer
        let (number, actions) = central.wishes.connected(to: address)
        defer { carryOut(actions) }
        // It came after all, and nobody waits for it.
        guard let number else { return endSoon(connection.handle) }
        let peer = add(connection)
        links[connection.handle]?.wish = Link.Wish(number: number, address: address)
        if supportedCommands.allows(.leReadRemoteFeatures) {
            askForFeatures(connection.handle, peer.id)
        } else {
            // The controller cannot ask, so what it reports of the link is taken as true.
            heard(connection.handle)
        }
        // As an iPhone does: before anything else is asked for.
        begin(MTUExchange(ownMTU: ATTServer().ownMTU), connection.handle)
    }

    // MARK: - Whether the peripheral is there

    /// The peripheral's answer shows that it is on the link, though it may say nothing else by itself.
    private func askForFeatures(_ handle: UInt16, _ peer: Peer.ID) {
        var writer = ByteWriter(capacity: 2)
        writer.write(handle)
        let parameters = writer.bytes
        Task {
            do throws(RadioError) {
                try await command(.leReadRemoteFeatures, parameters, "asking what a peripheral can do")
            } catch {
                // A controller that refuses to ask: what it reports of the link is taken as true.
                if links[handle]?.peer.id == peer { heard(handle) }
            }
        }
    }

    /// The peripheral was heard on a link: who waits for it has it.
    func heard(_ handle: UInt16) {
        guard let wish = links[handle]?.wish, central.connections[wish.number] != nil else { return }
        links[handle]?.wish = nil
        guard let peer = links[handle]?.peer else { return }
        tellCentral(.connected(peer))
        endConnection(wish.number, .success(peer))
    }

    /// A link ended on which the peripheral was never heard: the controller tries again (Core Specification, Vol 1, Part F, 2.59).
    ///
    /// The peripheral took another central's request, or heard none.
    func unheard(_ link: Link, _ reason: HCIStatus) {
        guard let wish = link.wish, central.connections[wish.number] != nil else { return }
        guard reason == .connectionFailedToBeEstablished, state == .running else {
            let error = Self.disconnection(reason) ?? RadioError(.disconnected, "the link was ended")
            return endConnection(wish.number, .failure(error))
        }
        carryOut(central.wishes.want(wish.number, wish.address))
    }

    private func endSoon(_ handle: UInt16) {
        Task {
            await attempt { () throws(RadioError) in
                try await end(handle, .remoteUserTerminatedConnection)
            }
        }
    }
}

extension ByteWriter {
    /// The number of its kind and the address, or zeros for none.
    fileprivate mutating func write(withKind address: DeviceAddress?) {
        guard let address else { return write([0, 0, 0, 0, 0, 0, 0] as [UInt8]) }
        write(address.kindCode)
        write(address)
    }
}
