import MynahCore
import MynahSupport
import MynahTestSupport

/// A radio of both roles without air: a test says what happens, and asks what the radio was asked for.
actor FakeCentralRadio: CentralRadio, PeripheralRadio, DeviceNameRadio {
    /// The bond with a device whose Client Characteristic Configuration needs an encrypted link to be read.
    enum Bond {
        case absent, bonded
        /// The device has deleted it.
        case lost
    }

    /// Runs the radio, and everything else in a run with virtual time.
    private nonisolated let executor: RunExecutor
    nonisolated let preferredExecutor: (any TaskExecutor)?
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private struct Request {
        var number: Int
        var address: DeviceAddress
        var waiter: Waiter<Result<Peer, RadioError>>
    }

    private var sink: (any CentralSink)?
    private var peripheralSink: (any RadioSink)?
    private var connecting: [Request] = []
    private var lastNumber = 0
    /// The links that are to be ended, in order.
    private(set) var ended: [Peer.ID] = []
    /// The scan of now, or nil.
    private(set) var scanning: ScanOptions?
    /// How often a scan began or changed.
    private(set) var scanCount = 0
    /// The requests to peripherals, in order.
    private(set) var requests: [String] = []
    /// The refusal of the next scan.
    private var scanError: RadioError?
    private var holdsReads = false
    private var holdsDiscovery = false
    private var links: [Peer.ID: DeviceAddress] = [:]
    private var lastLink: UInt32 = 0
    private(set) var isOn = true
    /// Whether a device sends a value as soon as it is subscribed to.
    private var notifiesAtOnce = false
    private var held: [Waiter<Void>] = []
    /// The channels that were opened to peripherals, in order.
    private(set) var channels: [FakeChannel] = []
    /// The links that have no room for a write command.
    private var full: Set<Peer.ID> = []
    /// The identity addresses of bonded devices, by a private address.
    private var identities: [DeviceAddress: DeviceAddress] = [:]
    private var batches: [PublishedServices.ID: [ServiceDefinition]] = [:]
    private var lastBatch: UInt32 = 0
    /// The current advertisement.
    private(set) var advertisement: Advertisement?
    private var bonds: [DeviceAddress: Bond] = [:]
    private var encrypted: Set<Peer.ID> = []
    /// The GAP device names of devices.
    private var deviceNames: [DeviceAddress: String] = [:]
    /// The centrals that are subscribed, in order.
    private var subscribed: [(attribute: AttributeKey, central: Peer.ID)] = []

    static let heartRate = RemoteService(uuid: "180D", handles: 1...6)
    static let battery = RemoteService(uuid: "180F", handles: 7...10)
    static let rate = RemoteCharacteristic(
        uuid: "2A37", properties: [.notify], declaration: 2, handle: 3, end: 4)
    static let genericAttribute = RemoteService(uuid: "1801", handles: 100...103)
    static let location = RemoteCharacteristic(
        uuid: "2A38", properties: [.read], declaration: 5, handle: 6, end: 6)

    /// The services of each device: the battery's move when they change.
    private var services = [FakeCentralRadio.heartRate]
    private var batteryMoves: [DeviceAddress: UInt16] = [:]

    /// A radio with the machine's time, or with virtual time.
    init(_ time: VirtualTime? = nil) {
        executor = time?.executor ?? RunExecutor()
        preferredExecutor = time?.executor
    }

    /// The addresses that it was asked to connect to, in order.
    var wanted: [DeviceAddress] { connecting.map(\.address) }

    /// Whether it is started.
    var isRunning: Bool { sink != nil || peripheralSink != nil }

    /// Whether its central's half is started.
    var hasCentral: Bool { sink != nil }

    /// Whether it has no links, and neither scans nor waits for devices.
    var isQuiet: Bool { links.isEmpty && connecting.isEmpty && scanning == nil }

    /// The links that are on the air.
    var linkIDs: [Peer.ID] { Array(links.keys) }

    /// The devices that are connected.
    var linked: Set<DeviceAddress> { Set(links.values) }

    /// Whether a device would be connected if it answered now.
    func isAnswerable(_ address: DeviceAddress) -> Bool {
        wanted.contains(address) && !links.values.contains(address)
    }

    /// How often devices were asked for services.
    var discoveryCount: Int { requests.count { $0.hasPrefix("services ") } }

    /// The numbers of the channels that are open, in the order in which they were opened.
    var openChannels: Set<Int> { Set(channels.indices.filter { channels[$0].isOpen }) }

    /// How many reads wait.
    var heldCount: Int { held.count }

    // MARK: Events that a test causes

    /// Makes an event happen.
    @discardableResult
    func simulate(_ event: CentralEvent) -> RadioAnswer {
        sink?.handle(event) ?? .none
    }

    /// Makes a device be heard.
    func hear(_ address: DeviceAddress, _ hex: String, _ kind: ScanReport.Kind = .nonConnectable) {
        simulate(
            .heard(ScanReport(address: address, kind: kind, data: Hex.decode(hex) ?? [], rssi: -50)))
    }

    /// Reports a link, and then returns from the call that asked for it.
    func connect(_ peer: Peer, asked address: DeviceAddress) {
        if let address = peer.address { links[peer.id] = address }
        simulate(.connected(peer))
        resume(.success(peer)) { $0.address == address }
    }

    /// Makes a device answer by a link of a new number, if it is waited for.
    func answerAny(_ address: DeviceAddress) {
        guard isAnswerable(address) else { return }
        lastLink += 1
        let isPaired = bonds[address].map { $0 != .absent } ?? false
        connect(Peer(id: .init(lastLink), address: address, isPaired: isPaired), asked: address)
    }

    /// Makes a device's link end by itself.
    func lose(_ address: DeviceAddress) {
        for link in links.filter({ $0.value == address }).keys {
            links[link] = nil
            endChannels(of: link)
            simulate(.disconnected(link, RadioError(.disconnected, "not heard any more")))
        }
    }

    /// The channels of a link end with it.
    private func endChannels(of link: Peer.ID) {
        for channel in channels where channel.peer == link { channel.end() }
    }

    /// Moves a device's battery service, and indicates that to the phone or does not.
    func moveBattery(of address: DeviceAddress, isIndicated: Bool) {
        batteryMoves[address, default: 0] += 1
        guard isIndicated else { return }
        for link in links.filter({ $0.value == address }).keys {
            simulate(.servicesChanged(link, Self.battery.handles.lowerBound...0xFFFF))
        }
    }

    /// Devices have services, too, that iOS keeps for itself.
    func addHiddenServices() { services = [Self.heartRate, Self.genericAttribute] }

    private func services(of peer: Peer.ID) -> [RemoteService] {
        let moves = links[peer].flatMap { batteryMoves[$0] } ?? 0
        return services + [RemoteService(uuid: "180F", handles: Self.batteryHandles(after: moves))]
    }

    /// The attribute handles of a battery service that has moved so often.
    static func batteryHandles(after moves: UInt16) -> ClosedRange<AttributeHandle> {
        let first = battery.handles.lowerBound.rawValue + moves
        return AttributeHandle(rawValue: first)...AttributeHandle(rawValue: first + 3)
    }

    /// Makes a device send a number as its heart rate, if it has a link.
    func send(_ number: UInt16, from address: DeviceAddress) {
        for link in links.filter({ $0.value == address }).keys {
            simulate(.notified(link, 3, [UInt8(number >> 8), UInt8(number & 0xFF)], .notification))
        }
    }

    /// Makes a device request connection parameters, which are refused for a reason or accepted.
    func request(
        _ wanted: ConnectionParameterRange, _ refusal: ConnectionParameterRefusal?, of address: DeviceAddress
    ) {
        let request = ConnectionParameterRequest(
            wanted, by: .l2cap, isAccepted: refusal == nil, refusal)
        for link in links.filter({ $0.value == address }).keys {
            simulate(.parameters(link, ConnectionParameterReport(.requested(request))))
        }
    }

    /// Switches Bluetooth off or on.
    func setPower(_ isOn: Bool) async {
        self.isOn = isOn
        guard !isOn else {
            simulate(.stateChanged(.poweredOn))
            _ = peripheralSink?.handle(.stateChanged(.poweredOn))
            return
        }
        let error = RadioError(.lost, "Bluetooth is off")
        let lost = links
        links = [:]
        for link in lost.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            endChannels(of: link)
            simulate(.disconnected(link, error))
        }
        while !connecting.isEmpty { resume(.failure(error)) { _ in true } }
        simulate(.stateChanged(.poweredOff))
        _ = peripheralSink?.handle(.stateChanged(.poweredOff))
        let left = subscribed
        subscribed = []
        for (attribute, central) in left { _ = peripheralSink?.handle(.unsubscribed(attribute, central)) }
    }

    /// Makes a central subscribe to a value, or end that.
    func subscribe(_ central: UInt32, to attribute: AttributeKey, _ isOn: Bool) {
        let central = Peer.ID(central)
        subscribed.removeAll { $0 == (attribute, central) }
        if isOn { subscribed.append((attribute, central)) }
        _ = peripheralSink?.handle(
            isOn ? .subscribed(attribute, central, .notification) : .unsubscribed(attribute, central))
    }

    func setBond(_ bond: Bond, with address: DeviceAddress) { bonds[address] = bond }
    func setDeviceName(_ name: String, of address: DeviceAddress) { deviceNames[address] = name }

    /// Makes a central read a value; returns whether it got one.
    func read(_ attribute: AttributeKey) -> Bool {
        let request = ReadRequest(central: .init(1000), attribute: attribute)
        guard case .answer(.success)? = peripheralSink?.handle(.read(request)) else { return false }
        return true
    }

    /// The values that are published.
    var published: Set<AttributeKey> { Set(batches.values.joined().flatMap(\.characteristics).map(\.key)) }

    /// Makes a device be heard that can be connected to, and returns whether the radio is asked to.
    func isAsked(for address: DeviceAddress) -> Bool {
        if !wanted.contains(address) { hear(address, "", .connectable) }
        return wanted.contains(address)
    }

    /// Makes a device answer that is waited for, when it has been heard.
    func answer(_ address: DeviceAddress, link: UInt32, isBonded: Bool = false) async {
        do {
            try await until("the radio is asked to connect to \(address)") { isAsked(for: address) }
        } catch {
            preconditionFailure("\(error)")
        }
        connect(Peer(id: .init(link), address: address, isPaired: isBonded), asked: address)
    }

    /// Refuses a connection.
    func refuse(_ address: DeviceAddress, _ error: RadioError) {
        resume(.failure(error)) { $0.address == address }
    }

    func know(_ address: DeviceAddress, as identity: DeviceAddress) { identities[address] = identity }
    func refuseScan(_ error: RadioError) { scanError = error }
    func holdReads() { holdsReads = true }
    func holdDiscovery() { holdsDiscovery = true }
    func notifyAtOnce() { notifiesAtOnce = true }

    /// Takes the room of a link for write commands, or gives it back and reports that.
    func setRoom(_ hasRoom: Bool, on link: Peer.ID) {
        guard hasRoom else { return _ = full.insert(link) }
        full.remove(link)
        simulate(.readyToWrite(link))
    }

    func releaseReads() {
        (holdsReads, holdsDiscovery) = (false, false)
        for waiter in held { waiter.resume() }
        held = []
    }

    private func resume(_ result: Result<Peer, RadioError>, _ isIt: (Request) -> Bool) {
        guard let index = connecting.firstIndex(where: isIt) else { return }
        connecting.remove(at: index).waiter.resume(returning: result)
    }

    // MARK: Its life

    func start(_ identity: DeviceIdentity, central sink: any CentralSink) async throws(RadioError) {
        self.sink = sink
        simulate(.stateChanged(.poweredOn))
    }

    func start(_ identity: DeviceIdentity, sink: any RadioSink) async throws(RadioError) -> RadioCapabilities
    {
        peripheralSink = sink
        _ = sink.handle(.stateChanged(.poweredOn))
        return RadioCapabilities(name: "fake")
    }

    func stop() async {
        (sink, peripheralSink) = (nil, nil)
        while !connecting.isEmpty { resume(.failure(RadioError(.lost, "stopped"))) { _ in true } }
        releaseReads()
    }

    nonisolated func close() {
        Task { await stop() }
    }

    // MARK: The central's half

    func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer {
        if connecting.contains(where: { $0.address == address }) || links.values.contains(address) {
            throw RadioError(.invalidState, "\(address) is connected, or about to be")
        }
        guard isOn else { throw RadioError(.invalidState, "the radio is not running") }
        lastNumber += 1
        let number = lastNumber
        let result: Result<Peer, RadioError>
        do {
            result = try await waiting(for: "a link to \(address), or the end of the wait for one") {
                connecting.append(Request(number: number, address: address, waiter: $0))
            }
        } catch {
            connecting.removeAll { $0.number == number }
            throw RadioError(.timedOut, "\(error)")
        }
        return try result.get()
    }

    func scan(_ options: ScanOptions) async throws(RadioError) {
        if let scanError {
            self.scanError = nil
            throw scanError
        }
        scanning = options
        scanCount += 1
    }

    func stopScan() async { scanning = nil }

    func identity(of address: DeviceAddress) -> DeviceAddress { identities[address] ?? address }

    func disconnect(_ peer: Peer.ID) async {
        ended.append(peer)
        guard links.removeValue(forKey: peer) != nil else { return }
        endChannels(of: peer)
        simulate(.disconnected(peer, nil))
    }

    func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8 { -40 }
    func exchangeMTU(with peer: Peer.ID) async throws(RequestError) -> Int { 23 }

    func discoverServices(
        _ uuid: BluetoothUUID?, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] {
        requests.append("services \(uuid?.description ?? "all")")
        if holdsDiscovery { try? await waiting(for: "the release of a held discovery") { held.append($0) } }
        return services(of: peer).filter { uuid == nil || $0.uuid == uuid }
    }

    func discoverSecondaryServices(of peer: Peer.ID) async throws(RequestError) -> [RemoteService] { [] }
    func discoverIncludedServices(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] { [] }

    func discoverCharacteristics(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteCharacteristic] {
        requests.append("characteristics \(service.uuid)")
        return service == Self.heartRate ? [Self.rate, Self.location] : []
    }

    func discoverDescriptors(
        of characteristic: RemoteCharacteristic, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteDescriptor] {
        characteristic == Self.rate ? [RemoteDescriptor(uuid: GATT.clientConfiguration, handle: 4)] : []
    }

    func read(_ handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError) -> [UInt8] {
        requests.append("read \(handle)")
        if handle == 4, let address = links[peer], let bond = bonds[address] {
            guard bond == .bonded, encrypted.contains(peer) else {
                throw .refused(.insufficientAuthentication)
            }
            return [0, 0]
        }
        if holdsReads { try? await waiting(for: "the release of a held read") { held.append($0) } }
        return [7]
    }

    func read(_ handles: [AttributeHandle], of peer: Peer.ID) async throws(RequestError) -> [[UInt8]] {
        handles.map { [UInt8(truncatingIfNeeded: $0.rawValue)] }
    }

    func readConcatenated(_ handles: [AttributeHandle], of peer: Peer.ID) async throws(RequestError)
        -> [UInt8]
    { [] }

    func write(_ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError) {
        requests.append("write \(handle) \(Hex.encode(value))")
        // The answer to the write and the value come one after the other, before anyone runs who waits for
        // the answer.
        if notifiesAtOnce, value == [1, 0] { simulate(.notified(peer, 3, [0, 99], .notification)) }
    }

    func writeWithoutResponse(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool { hasRoomToWrite(to: peer) }
    func writeSigned(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool { hasRoomToWrite(to: peer) }
    func hasRoomToWrite(to peer: Peer.ID) -> Bool { !full.contains(peer) }
    func pair(_ peer: Peer.ID) async throws(RadioError) {
        guard let address = links[peer], let bond = bonds[address] else { return }
        guard bond != .lost else { throw RadioError(.pairingFailed, "the key is missing", reason: 0x06) }
        bonds[address] = .bonded
        encrypted.insert(peer)
        simulate(.paired(peer))
    }
    func readDeviceName(of peer: Peer.ID) async throws(RequestError) -> String {
        links[peer].flatMap { deviceNames[$0] } ?? ""
    }
    func openL2CAPChannel(_ psm: UInt16, with peer: Peer.ID) async throws(RadioError) -> any L2CAPChannel {
        let channel = FakeChannel(psm: psm, peer: peer)
        channels.append(channel)
        return channel
    }
    func forgetBond(with address: DeviceAddress) -> Bool {
        guard let bond = bonds[address], bond != .absent else { return false }
        bonds[address] = .absent
        return true
    }

    // MARK: The peripheral's half

    func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        lastBatch += 1
        batches[.init(lastBatch)] = services
        return PublishedServices(id: .init(lastBatch))
    }

    func withdraw(_ services: PublishedServices.ID) async {
        batches[services] = nil
        let published = published
        subscribed.removeAll { !published.contains($0.attribute) }
    }
    func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {}

    func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        self.advertisement = advertisement
        return AdvertisingReport(isOn: true, data: [], scanResponse: [], interval: nil, address: nil)
    }

    func stopAdvertising() async { advertisement = nil }
    func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult { .sent(0) }
}
