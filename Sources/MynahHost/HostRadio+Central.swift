public import MynahCore
import MynahSupport

// The calls of `CentralRadio`, and the calls of both roles.
extension HostRadio {
    /// Starts a scan, or changes the options of the current one.
    public func scan(_ options: ScanOptions) async throws(RadioError) {
        try await access.scan(options)
    }

    /// Stops scanning.
    public func stopScan() async {
        await access.stopScan()
    }

    /// Connects to a device; several connections may be pending at once.
    ///
    /// If the device has already connected to this radio, its link is used for both roles.
    public func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer {
        let identity = identity(of: address)
        var shared: Peer?
        links.change { shared = $0.share(withCentral: identity, &$1) }
        if let shared { return shared }
        let stage = links.stage(ofPeripheral: identity)
        let request = try access.want(identity, timeout: timeout, stage, security.bonds)
        return try await withTaskCancellationHandler {
            await access.connection(of: request)
        } onCancel: {
            perform { $0.cancel(request) }
        }.get()
    }

    /// The identity address of the bonded device with this resolvable private address, or else the address
    /// itself.
    public func identity(of address: DeviceAddress) -> DeviceAddress {
        access.peers.identity(of: address, security.bonds)
    }

    /// The address that a bonded device used last, or else the address itself.
    public func addressOnAir(of address: DeviceAddress) -> DeviceAddress {
        access.peers.current(of: identity(of: address))
    }

    /// Exchanges the MTU; this side offers the MTU in its `DeviceIdentity`.
    ///
    /// The radio exchanges the MTU of a new link by itself; this call waits for that exchange.
    public func exchangeMTU(with peer: Peer.ID) async throws(RequestError) -> Int {
        try await links.perform(MTUExchange(ownMTU: links.server.largestMTU), on: peer)
    }

    /// Discovers the primary services with a UUID, or all primary services if `uuid` is `nil`.
    public func discoverServices(
        _ uuid: BluetoothUUID?, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] {
        try await links.perform(ServiceDiscovery(of: uuid), on: peer)
    }

    /// Discovers secondary services; returns an empty array if the server does not report them.
    public func discoverSecondaryServices(of peer: Peer.ID) async throws(RequestError) -> [RemoteService] {
        try await links.perform(ServiceDiscovery.secondary, on: peer)
    }

    /// Discovers the included services of a service.
    public func discoverIncludedServices(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] {
        try await links.perform(IncludeDiscovery(in: service.handles), on: peer)
    }

    /// Discovers the characteristics of a service.
    public func discoverCharacteristics(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteCharacteristic] {
        try await links.perform(CharacteristicDiscovery(in: service.handles), on: peer)
    }

    /// Discovers the descriptors of a characteristic.
    public func discoverDescriptors(
        of characteristic: RemoteCharacteristic, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteDescriptor] {
        guard let handles = characteristic.descriptorHandles else { return [] }
        return try await links.perform(DescriptorDiscovery(in: handles), on: peer)
    }

    /// Reads a value of any length.
    public func read(_ handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError) -> [UInt8] {
        try await links.perform(ValueRead(handle), on: peer)
    }

    /// Reads several values with as few requests as possible.
    ///
    /// If the peripheral does not support Read Multiple Variable, the values are read one by one.
    public func read(
        _ handles: [AttributeHandle], of peer: Peer.ID
    ) async throws(RequestError) -> [[UInt8]] {
        try await links.perform(ValuesRead(handles), on: peer)
    }

    /// Reads values of known lengths with one request, up to ATT_MTU − 1 bytes in all.
    public func readConcatenated(
        _ handles: [AttributeHandle], of peer: Peer.ID
    ) async throws(RequestError) -> [UInt8] {
        try await links.perform(ConcatenatedRead(handles: handles), on: peer)
    }

    /// Writes a value and waits for the response.
    ///
    /// A long value is written in prepared parts. The response to each part must repeat the part; otherwise
    /// the whole write is cancelled.
    public func write(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) async throws(RequestError) {
        try await links.perform(ValueWrite(handle, value), on: peer)
    }

    /// Whether a link has room for a write command; if not, `readyToWrite` is reported later.
    public func hasRoomToWrite(to peer: Peer.ID) -> Bool { links.hasRoomToWrite(to: peer) }

    /// Writes with a command.
    ///
    /// Returns `false` if the link has no room; `readyToWrite` is then reported later.
    public func writeWithoutResponse(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        try links.write(value, to: handle, of: peer)
    }

    /// Writes with a signed command.
    ///
    /// Returns `false` if the link has no room; `readyToWrite` is then reported later.
    ///
    /// On an encrypted link, the command is sent without a signature, because encryption gives the same
    /// protection (Core Specification, Vol 3, Part C, 10.2.2).
    public func writeSigned(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool {
        try links.writeSigned(value, to: handle, of: peer)
    }

    /// Limits the time for answers to later requests; `nil` restores the 30 s of ATT.
    package func limitAnswers(to limit: Duration?) { links.client.limitAnswers(to: limit) }

    /// Changes the connection parameters of the link to a peripheral, and returns the new ones.
    ///
    /// Throws `unsupported` if the controller or the peripheral refuses them.
    package func changeParameters(
        to range: ConnectionParameterRange, of peer: Peer.ID
    ) async throws(RadioError) -> ConnectionParameterRange {
        try await channels.changes.change(to: range, of: peer)
    }

    /// Sets a handler of requests for, and changes of, the connection parameters of links to peripherals.
    package func tellOfParameters(_ handler: @escaping ParameterHandler) { sinks.parameters = handler }

    // MARK: Both roles

    /// Opens a channel to a PSM that a peer has published.
    public func openL2CAPChannel(_ psm: UInt16, with peer: Peer.ID) async throws(RadioError)
        -> any L2CAPChannel
    {
        HostChannel(try await channels.open(psm, with: peer), of: self)
    }

    func send(_ bytes: [UInt8], over key: ChannelKey) async throws(RadioError) {
        try await channels.send(bytes, over: key)
    }

    func receive(from key: ChannelKey) async -> [UInt8]? { await channels.receive(from: key) }
    func close(_ key: ChannelKey) { channels.close(key) }
    func drop(_ key: ChannelKey) { channels.drop(key) }

    /// Pairs, or encrypts with the key of a bond, and returns when the link is encrypted.
    ///
    /// If the peer is a central, a Security Request is sent to it. Throws `pairingFailed`, or `disconnected`
    /// if the link ends first.
    public func pair(_ peer: Peer.ID) async throws(RadioError) {
        try await security.pair(peer)
    }

    /// Deletes the bond with a peer; returns whether there was one.
    ///
    /// The peer gets new keys when it pairs again.
    @discardableResult
    public func forgetBond(with address: DeviceAddress) -> Bool {
        sinks.faults?.forgetLostBond(with: address)
        return security.forgetBond(with: address)
    }

    /// Ends the link to a central or a peripheral.
    public func disconnect(_ peer: Peer.ID) async {
        await links.disconnect(peer)
    }

    /// Reads the RSSI of a link, in dBm.
    public func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8 {
        try await links.readRSSI(of: peer)
    }

    /// Sets a handler that is called for each request to a peripheral, and again for its answer.
    ///
    /// The handler's argument is `false` for a request and `true` for an answer. The second call precedes
    /// reports of later events. The call that made the request returns shortly afterwards.
    package func tellOfAnswers(_ handler: @escaping @Sendable (Bool) -> Void) { sinks.asked = handler }
}

extension HostRadio: DeviceNameRadio {
    /// Reads the GAP device name.
    package func readDeviceName(of peer: Peer.ID) async throws(RequestError) -> String {
        try await links.perform(DeviceNameRead(), on: peer)
    }
}
