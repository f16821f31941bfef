import MynahCore
import MynahTestSupport

/// A central's radio without air: a test says when a connection is there.
actor FakeCentralRadio: CentralRadio {
    private var sink: (any CentralSink)?
    /// The calls of `connect`, which take the link or `nil` if the radio stops.
    private var connecting: [(address: DeviceAddress, waiter: Waiter<Peer?>)] = []

    /// The addresses that are waited for, in order.
    var wanted: [DeviceAddress] { connecting.map(\.address) }

    /// Makes an event happen.
    func simulate(_ event: CentralEvent) {
        _ = sink?.handle(event)
    }

    /// Reports a link, and then returns from the call that asked for it.
    func connect(_ peer: Peer, asked address: DeviceAddress) {
        simulate(.connected(peer))
        guard let index = connecting.firstIndex(where: { $0.address == address }) else { return }
        connecting.remove(at: index).waiter.resume(returning: peer)
    }

    /// Whether it is started.
    var isRunning: Bool { sink != nil }

    func start(_ identity: DeviceIdentity, central sink: any CentralSink) async throws(RadioError) {
        self.sink = sink
        simulate(.stateChanged(.poweredOn))
    }

    func stop() async {
        sink = nil
        for (_, waiter) in connecting { waiter.resume(returning: nil) }
        connecting = []
    }

    func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer {
        do {
            let peer = try await waiting(for: "a link to \(address)") { connecting.append((address, $0)) }
            if let peer { return peer }
        } catch {
            throw RadioError(.lost, "\(error)")
        }
        throw RadioError(.lost, "stopped")
    }

    func scan(_ options: ScanOptions) async throws(RadioError) {}
    func stopScan() async {}
    func disconnect(_ peer: Peer.ID) async { simulate(.disconnected(peer, nil)) }
    func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8 { -40 }
    func exchangeMTU(with peer: Peer.ID) async throws(RequestError) -> Int { 23 }
    func discoverServices(
        _ uuid: BluetoothUUID?, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] { [] }
    func discoverSecondaryServices(of peer: Peer.ID) async throws(RequestError) -> [RemoteService] { [] }
    func discoverIncludedServices(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] { [] }
    func discoverCharacteristics(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteCharacteristic] { [] }
    func discoverDescriptors(
        of characteristic: RemoteCharacteristic, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteDescriptor] { [] }
    func read(_ handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError) -> [UInt8] { [] }
    func read(_ handles: [AttributeHandle], of peer: Peer.ID) async throws(RequestError) -> [[UInt8]] { [] }
    func readConcatenated(
        _ handles: [AttributeHandle], of peer: Peer.ID
    ) async throws(RequestError) -> [UInt8] { [] }
    func write(_ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError) {}
    func writeWithoutResponse(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool { true }
    func writeSigned(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool { true }
    func pair(_ peer: Peer.ID) async throws(RadioError) {}
    func forgetBond(with address: DeviceAddress) -> Bool { false }
}
