public import MynahCore
import MynahHCI
import MynahSupport

// What the central's half asks of peripherals.
extension HostRadio {
    /// Runs a procedure on a link, behind those that were asked for before.
    func perform(_ procedure: any GATTProcedure, _ handle: UInt16) async throws(RequestError) -> GATTValue {
        guard links.index(of: handle) != nil else {
            throw .failed(RadioError(.disconnected, "the peripheral is not connected"))
        }
        let result = await withCheckedContinuation { continuation in
            guard let index = links.index(of: handle) else {
                return continuation.resume(returning: Result<GATTValue, RequestError>.failure(Self.ended))
            }
            let (number, actions) = links[at: index].client.add(procedure)
            central.requests[CentralHalf.RequestID(handle: handle, number: number)] = continuation
            carryOut(actions, handle)
        }
        return try result.get()
    }

    /// Runs a procedure that nobody waits for.
    func begin(_ procedure: any GATTProcedure, _ handle: UInt16) {
        guard let actions = links[handle]?.client.add(procedure).1 else { return }
        carryOut(actions, handle)
    }

    private static let ended = RequestError.failed(
        RadioError(.disconnected, "the link ended before the peripheral answered"))

    private func perform(_ procedure: any GATTProcedure, on peer: Peer.ID) async throws(RequestError)
        -> GATTValue
    {
        try await perform(procedure, handle(of: peer))
    }

    private func handle(of peer: Peer.ID) throws(RequestError) -> UInt16 {
        guard let index = links.indices.first(where: { links[at: $0].peer.id == peer }) else {
            do throws(RadioError) { return try link(of: peer).handle } catch { throw .failed(error) }
        }
        return links[at: index].handle
    }

    func takeAnswer(_ bytes: [UInt8], _ handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        carryOut(links[at: index].client.receive(bytes), handle)
    }

    private func carryOut(_ actions: [ATTClient.Action], _ handle: UInt16) {
        for action in actions {
            guard let index = links.index(of: handle) else { return }
            switch action {
            case .send(let pdu):
                if links[at: index].client.isAwaiting { watch(index) }
                send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: handle)
            case .ended(let number, let result):
                if case .success(.mtu(let mtu)) = result, mtu != links[at: index].server.mtu {
                    links[at: index].server.agreed(on: mtu)
                    tellCentral(.mtuChanged(links[at: index].peer.id, mtu))
                }
                central.requests.removeValue(forKey: CentralHalf.RequestID(handle: handle, number: number))?
                    .resume(returning: result)
            case .notified(let attribute, let value, let delivery):
                tellCentral(.notified(links[at: index].peer.id, attribute, value, delivery))
            }
        }
    }

    /// Gives the request that is under way its time (Vol 3, Part F, 3.3.3).
    ///
    /// One task looks after all requests of a link: one for each would cost as much as the request.
    private func watch(_ index: Int) {
        links[at: index].deadline = now() + options.transactionTimeout
        guard links[at: index].watch == nil else { return }
        let (handle, peer) = (links[at: index].handle, links[at: index].peer.id)
        links[at: index].watch = Task { await look(after: handle, peer) }
    }

    private func look(after handle: UInt16, _ peer: Peer.ID) async {
        while let link = links[handle], link.peer.id == peer, link.client.isAwaiting {
            let left = link.deadline - now()
            guard left > .zero else {
                carryOut(links[handle]?.client.timedOut(link.client.transaction) ?? [], handle)
                break
            }
            guard (try? await sleep(left)) != nil else { return }
        }
        if links[handle]?.peer.id == peer { links[handle]?.watch = nil }
    }

    /// A link is gone, and with it whatever was asked on it.
    func endRequests(of link: Link) {
        link.watch?.cancel()
        link.confirmationWatch?.cancel()
        var client = link.client
        for case .ended(let number, let result) in client.end(Self.ended) {
            central.requests.removeValue(
                forKey: CentralHalf.RequestID(handle: link.handle, number: number))?
                .resume(returning: result)
        }
    }

    // MARK: - Procedures

    /// Agrees on the largest MTU, 517 of this side, which a value of 512 bytes fits into with the longest header.
    ///
    /// The radio does so by itself when a link has come to be; that one is waited for.
    public func exchangeMTU(with peer: Peer.ID) async throws(RequestError) -> Int {
        guard case .mtu(let mtu) = try await perform(MTUExchange(ownMTU: ATTServer().ownMTU), on: peer) else {
            return GATT.defaultMTU
        }
        return mtu
    }

    /// Finds primary services: all, or those of one type.
    public func discoverServices(
        _ uuid: BluetoothUUID?, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] {
        try await services(ServiceDiscovery(of: uuid), peer)
    }

    /// Finds secondary services; none where the server does not tell them.
    public func discoverSecondaryServices(of peer: Peer.ID) async throws(RequestError) -> [RemoteService] {
        try await services(ServiceDiscovery.secondary, peer)
    }

    /// Finds what a service includes.
    public func discoverIncludedServices(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] {
        try await services(IncludeDiscovery(in: service.handles), peer)
    }

    private func services(_ procedure: any GATTProcedure, _ peer: Peer.ID) async throws(RequestError)
        -> [RemoteService]
    {
        guard case .services(let services) = try await perform(procedure, on: peer) else { return [] }
        return services
    }

    /// Finds a service's characteristics.
    public func discoverCharacteristics(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteCharacteristic] {
        guard
            case .characteristics(let found) = try await perform(
                CharacteristicDiscovery(in: service.handles), on: peer)
        else { return [] }
        return found
    }

    /// Finds a characteristic's descriptors.
    public func discoverDescriptors(
        of characteristic: RemoteCharacteristic, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteDescriptor] {
        guard let handles = characteristic.descriptorHandles,
            case .descriptors(let found) = try await perform(DescriptorDiscovery(in: handles), on: peer)
        else { return [] }
        return found
    }

    /// Reads a value, however long it is.
    public func read(_ handle: UInt16, of peer: Peer.ID) async throws(RequestError) -> [UInt8] {
        guard case .bytes(let value) = try await perform(ValueRead(handle), on: peer) else { return [] }
        return value
    }

    /// Reads several values in as few requests as they fit into; of a peripheral that does not read together, one by one.
    public func read(_ handles: [UInt16], of peer: Peer.ID) async throws(RequestError) -> [[UInt8]] {
        var values: [[UInt8]] = []
        var rest = handles[...]
        while !rest.isEmpty {
            let mtu = links[try handle(of: peer)]?.client.bearer.mtu ?? GATT.defaultMTU
            let some = Array(rest.prefix(MultipleRead.limit(mtu: mtu)))
            rest = rest.dropFirst(some.count)
            for (handle, value) in zip(some, try await readTogether(some, peer)) {
                if let value { values.append(value) } else { values.append(try await read(handle, of: peer)) }
            }
        }
        return values
    }

    /// Nil: it has to be read by itself.
    private func readTogether(_ handles: [UInt16], _ peer: Peer.ID) async throws(RequestError) -> [[UInt8]?] {
        guard handles.count > 1 else { return [nil] }
        do throws(RequestError) {
            guard
                case .values(let values) = try await perform(
                    MultipleRead(handles: handles, isVariable: true), on: peer)
            else { return handles.map { _ in nil } }
            return values
        } catch .refused(.requestNotSupported) {
            return handles.map { _ in nil }
        }
    }

    /// Reads values whose lengths are known, one behind the other, up to ATT_MTU − 1 bytes of them.
    public func readConcatenated(
        _ handles: [UInt16], of peer: Peer.ID
    ) async throws(RequestError) -> [UInt8] {
        guard
            case .bytes(let value) = try await perform(
                MultipleRead(handles: handles, isVariable: false), on: peer)
        else { return [] }
        return value
    }

    /// Writes a value and waits for the answer; prepared parts are verified.
    public func write(_ value: [UInt8], to handle: UInt16, of peer: Peer.ID) async throws(RequestError) {
        _ = try await perform(ValueWrite(handle, value), on: peer)
    }

    /// Writes by a command; false: there is no room for it, and `readyToWrite` follows.
    public func writeWithoutResponse(
        _ value: [UInt8], to handle: UInt16, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        let link = try link(of: peer)
        let room = link.client.bearer.mtu - 3
        guard value.count <= room else {
            throw RadioError(
                .valueTooLong, "the value has \(value.count) bytes and a command carries \(room) of one")
        }
        guard data.count(of: link.handle) < options.queueLimit else {
            central.refusals.add(link.handle)
            return false
        }
        let pdu = ATTClientPDU.writeCommand(handle, value)
        send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: link.handle)
        return true
    }

    /// Writes by a signed command; false: there is no room for it, and `readyToWrite` follows.
    ///
    /// On an encrypted link it is a command without: that protects it as well (Core Specification, Vol 3, Part C, 10.2.2).
    public func writeSigned(
        _ value: [UInt8], to handle: UInt16, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        let link = try link(of: peer)
        guard !link.security.isEncrypted else {
            return try writeWithoutResponse(value, to: handle, of: peer)
        }
        let room = link.client.bearer.mtu - 3 - SignedWrite.signatureLength
        guard value.count <= room else {
            throw RadioError(
                .valueTooLong,
                "the value has \(value.count) bytes and a signed command carries \(room) of one")
        }
        guard data.count(of: link.handle) < options.queueLimit else {
            central.refusals.add(link.handle)
            return false
        }
        var signed: [UInt8]?
        if link.security.isBonded, let address = link.peer.address {
            security.bonds.update(address) {
                signed = $0.sign(ATTClientPDU.signedWriteCommand(handle, value))
            }
        }
        guard let signed else {
            throw RadioError(
                .insufficientSecurity, "there is no key to sign with",
                remedy: "pair with the peripheral first")
        }
        // Kept before it is used: a counter is good once.
        saveBonds()
        send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: signed), to: link.handle)
        return true
    }
}
