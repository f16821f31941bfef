public import MynahCore
import MynahHCI

// What the central's half asks of peripherals.
extension HostRadio {
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
    public func read(_ handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError) -> [UInt8] {
        try await perform(ValueRead(handle), on: peer)
    }

    /// Reads several values in as few requests as they fit into; of a peripheral that does not read together, one by one.
    public func read(_ handles: [AttributeHandle], of peer: Peer.ID) async throws(RequestError) -> [[UInt8]] {
        try await perform(ValuesRead(handles), on: peer)
    }

    /// Reads values whose lengths are known, one after the other, up to ATT_MTU − 1 bytes of them.
    public func readConcatenated(
        _ handles: [AttributeHandle], of peer: Peer.ID
    ) async throws(RequestError) -> [UInt8] {
        try await perform(ConcatenatedRead(handles: handles), on: peer)
    }

    /// Writes a value and waits for the answer; prepared parts are verified.
    public func write(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) async throws(RequestError) {
        try await perform(ValueWrite(handle, value), on: peer)
    }

    /// Writes by a command; returns `false` if there is no room for it, and `readyToWrite` follows.
    public func writeWithoutResponse(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        let link = try links.handle(of: peer)
        let isSent = try gatt.write(value, to: handle, on: link, &outbound)
        sendData()
        return isSent
    }

    /// Writes by a signed command; returns `false` if there is no room for it, and `readyToWrite` follows.
    ///
    /// On an encrypted link it is a command without: that protects it as well (Core Specification, Vol 3, Part C, 10.2.2).
    public func writeSigned(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        let link = try links.link(to: peer)
        guard !security[link.handle].isEncrypted else {
            return try writeWithoutResponse(value, to: handle, of: peer)
        }
        let isSent = try gatt.writeSigned(value, to: handle, on: link.handle, &outbound) { pdu in
            secure(link.handle) { $0.sign(pdu, link.handle, &$2) }
        }
        sendData()
        return isSent
    }

    // MARK: The part

    /// Runs a procedure with a peripheral, after those that were asked for before.
    private func perform<Procedure: GATTProcedure>(
        _ procedure: Procedure, on peer: Peer.ID
    ) async throws(RequestError) -> Procedure.Value {
        let link: ConnectionHandle
        do throws(RadioError) { link = try links.handle(of: peer) } catch { throw .failed(error) }
        return try await withCheckedContinuation { continuation in
            changeClient(link) { client, actions in
                client.perform(procedure, on: link, at: now(), into: &actions) {
                    continuation.resume(returning: $0)
                }
            }
        }.get()
    }

    /// A link to a peripheral is encrypted, by a bond or by a pairing.
    func clientSecured(_ link: ConnectionHandle, by bond: Bond? = nil) {
        changeClient(link) { $0.secured(link, remembering: bond?.serviceChanged, at: now(), into: &$1) }
    }

    /// Lets the client of a link take something, and carries out what it asks for.
    func changeClient(
        _ link: ConnectionHandle, _ step: (inout GATTClient, inout [ATTClient.Action]) -> Void
    ) {
        var actions: [ATTClient.Action] = []
        step(&gatt, &actions)
        for action in actions { carryOut(action, link) }
        guard let deadline = gatt.takeWatch(of: link) else { return }
        deadlines[.request(link)] = deadline
        armTimer()
    }

    private func carryOut(_ action: ATTClient.Action, _ link: ConnectionHandle) {
        guard let index = links.index(of: link) else { return }
        let peer = links[at: index].peer.id
        switch action {
        case .send(let pdu):
            send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: link)
        case .mtuChanged(let mtu):
            server.agreed(on: mtu, link)
            tellCentral(.mtuChanged(peer, mtu))
        case .notified(let attribute, let value, let delivery):
            tellCentral(.notified(peer, attribute, value, delivery))
        case .servicesChanged(let range): tellCentral(.servicesChanged(peer, range))
        case .subscribedToServices(let value):
            secure { security, _, actions in security.remember(link, &actions) { $0.serviceChanged = value } }
        }
    }
}
