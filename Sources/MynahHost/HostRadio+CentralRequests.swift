public import MynahCore
import MynahHCI
import MynahSupport

// What the central's half asks of peripherals.
extension HostRadio {
    /// Runs a procedure with a peripheral, after those that were asked for before.
    private func perform<Procedure: GATTProcedure>(
        _ procedure: Procedure, on peer: Peer.ID
    ) async throws(RequestError) -> Procedure.Value {
        let handle = try handle(of: peer)
        let result = await withCheckedContinuation { continuation in
            ask(procedure, handle) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Runs a procedure on a link; `done` is called when it is over.
    func ask<Procedure: GATTProcedure>(
        _ procedure: Procedure, _ handle: UInt16,
        done: @escaping @Sendable (Result<Procedure.Value, RequestError>) -> Void = { _ in }
    ) {
        client(handle) { $0.perform(procedure, on: handle, at: $1(), into: &$2, done: done) }
    }

    private func handle(of peer: Peer.ID) throws(RequestError) -> UInt16 {
        do throws(RadioError) { return try links.handle(of: peer) } catch { throw .failed(error) }
    }

    func takeAnswer(_ bytes: [UInt8], _ handle: UInt16) {
        client(handle) { $0.receive(bytes, on: handle, at: $1(), into: &$2) }
    }

    /// A request was not answered in time.
    func requestOverdue(_ handle: UInt16) {
        client(handle) { client, now, _ in client.expire(handle, at: now()) }
    }

    /// A link to a peripheral is encrypted, by a bond or by a pairing.
    func clientSecured(_ handle: UInt16, by bond: Bond? = nil) {
        client(handle) { $0.secured(handle, remembering: bond?.serviceChanged, at: $1(), into: &$2) }
    }

    private func client(
        _ handle: UInt16, _ step: (inout GATTClient, () -> Duration, inout [ATTClient.Action]) -> Void
    ) {
        var actions: [ATTClient.Action] = []
        step(&gatt, environment.now, &actions)
        for action in actions {
            guard let index = links.index(of: handle) else { return }
            switch action {
            case .send(let pdu):
                send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: handle)
            case .mtuChanged(let mtu):
                server.agreed(on: mtu, handle)
                tellCentral(.mtuChanged(links[at: index].peer.id, mtu))
            case .notified(let attribute, let value, let delivery):
                tellCentral(.notified(links[at: index].peer.id, attribute, value, delivery))
            case .servicesChanged(let range):
                tellCentral(.servicesChanged(links[at: index].peer.id, range))
            case .subscribedToServices(let value):
                secure { security, _, actions in
                    security.remember(handle, &actions) { $0.serviceChanged = value }
                }
            }
        }
        guard let deadline = gatt.takeWatch(of: handle) else { return }
        deadlines[.request(handle)] = deadline
        armTimer()
    }

    // MARK: - Procedures

    /// Agrees on the largest MTU, 517 of this side, which a value of 512 bytes fits into with the longest header.
    ///
    /// The radio does so by itself when a link has come to be; that one is waited for.
    public func exchangeMTU(with peer: Peer.ID) async throws(RequestError) -> Int {
        try await perform(MTUExchange(ownMTU: ATTServer().ownMTU), on: peer)
    }

    /// Finds primary services: all, or those of one type.
    public func discoverServices(
        _ uuid: BluetoothUUID?, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] {
        try await perform(ServiceDiscovery(of: uuid), on: peer)
    }

    /// Finds secondary services; none if the server does not report them.
    public func discoverSecondaryServices(of peer: Peer.ID) async throws(RequestError) -> [RemoteService] {
        try await perform(ServiceDiscovery.secondary, on: peer)
    }

    /// Finds the services that a service includes.
    public func discoverIncludedServices(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] {
        try await perform(IncludeDiscovery(in: service.handles), on: peer)
    }

    /// Finds a service's characteristics.
    public func discoverCharacteristics(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteCharacteristic] {
        try await perform(CharacteristicDiscovery(in: service.handles), on: peer)
    }

    /// Finds a characteristic's descriptors.
    public func discoverDescriptors(
        of characteristic: RemoteCharacteristic, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteDescriptor] {
        guard let handles = characteristic.descriptorHandles else { return [] }
        return try await perform(DescriptorDiscovery(in: handles), on: peer)
    }

    /// Reads a value, however long it is.
    public func read(_ handle: UInt16, of peer: Peer.ID) async throws(RequestError) -> [UInt8] {
        try await perform(ValueRead(handle), on: peer)
    }

    /// Reads several values in as few requests as they fit into; of a peripheral that does not read together, one by one.
    public func read(_ handles: [UInt16], of peer: Peer.ID) async throws(RequestError) -> [[UInt8]] {
        var values: [[UInt8]] = []
        var rest = handles[...]
        while !rest.isEmpty {
            let mtu = gatt.mtu(of: try handle(of: peer))
            let some = Array(rest.prefix(MultipleRead.limit(mtu: mtu)))
            rest = rest.dropFirst(some.count)
            for (handle, value) in zip(some, try await readTogether(some, peer)) {
                if let value { values.append(value) } else { values.append(try await read(handle, of: peer)) }
            }
        }
        return values
    }

    /// Reads values together; `nil` for one that has to be read by itself.
    private func readTogether(_ handles: [UInt16], _ peer: Peer.ID) async throws(RequestError) -> [[UInt8]?] {
        guard handles.count > 1 else { return [nil] }
        do throws(RequestError) {
            return try await perform(MultipleRead(handles: handles), on: peer)
        } catch .refused(.requestNotSupported) {
            return handles.map { _ in nil }
        }
    }

    /// Reads values whose lengths are known, one after the other, up to ATT_MTU − 1 bytes of them.
    public func readConcatenated(
        _ handles: [UInt16], of peer: Peer.ID
    ) async throws(RequestError) -> [UInt8] {
        try await perform(ConcatenatedRead(handles: handles), on: peer)
    }

    /// Writes a value and waits for the answer; prepared parts are verified.
    public func write(_ value: [UInt8], to handle: UInt16, of peer: Peer.ID) async throws(RequestError) {
        try await perform(ValueWrite(handle, value), on: peer)
    }

    /// Writes by a command; false: there is no room for it, and `readyToWrite` follows.
    public func writeWithoutResponse(
        _ value: [UInt8], to handle: UInt16, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        let link = try link(of: peer)
        let room = gatt.mtu(of: link.handle) - 3
        guard value.count <= room else {
            throw RadioError(
                .valueTooLong, "the value has \(value.count) bytes and a command carries \(room) of one")
        }
        guard outbound.takes(on: link.handle) else {
            outbound.refuse(.write, on: link.handle)
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
        guard !security[link.handle].isEncrypted else {
            return try writeWithoutResponse(value, to: handle, of: peer)
        }
        let room = gatt.mtu(of: link.handle) - 3 - SignedWrite.signatureLength
        guard value.count <= room else {
            throw RadioError(
                .valueTooLong,
                "the value has \(value.count) bytes and a signed command carries \(room) of one")
        }
        guard outbound.takes(on: link.handle) else {
            outbound.refuse(.write, on: link.handle)
            return false
        }
        let pdu = ATTClientPDU.signedWriteCommand(handle, value)
        guard let signed = secure(link.handle, { $0.sign(pdu, link.handle, &$2) }) else {
            throw RadioError(
                .insufficientSecurity, "there is no key to sign with",
                remedy: "pair with the peripheral first")
        }
        send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: signed), to: link.handle)
        return true
    }
}
