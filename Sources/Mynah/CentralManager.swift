public import MynahCore

/// Plays the central's role: it finds peripherals, connects and asks (after CBCentralManager).
///
/// It runs on its radio's executor. When its last reference goes, its links end. What happens comes through `events()`, or synchronously through the sink it was made
/// with; what is asked for is a call that returns with its answer.
///
/// ```swift
/// let manager = CentralManager(radio: HostRadio(transport: transport))
/// try await manager.start()
/// let events = await manager.events()
/// try await manager.scanForPeripherals(withServices: ["180D"])
/// for await event in events {
///     switch event {
///     case .discovered(let discovery):
///         await manager.stopScan()
///         let strap = discovery.peripheral
///         try await manager.connect(strap)
///         try await strap.discoverAll()
///         if let rate = await strap.characteristic("2A37") {
///             try await strap.setNotifyValue(true, for: rate)
///         }
///     case .valueUpdated(let update):
///         print(update.value)
///     default: break
///     }
/// }
/// ```
public actor CentralManager {
    /// What can be chosen.
    public struct Options: Sendable {
        /// Whether a peripheral that asks for security is paired with, and asked again, as an iPhone does by itself.
        public var pairsWhenAsked = true

        /// The defaults.
        public init() {}
    }

    let radio: any CentralRadio
    private let identity: DeviceIdentity
    private let sink: (any CentralManagerSink)?
    private var readers = EventReaders(missed: CentralManagerEvent.missed)
    /// Whether the radio is a phone's too, which stops it.
    private let sharesRadio: Bool
    private var isStarted = false
    private var wantedServices: [BluetoothUUID]?
    private var table = DiscoveryTable()
    var peripherals: PeripheralTable<Peripheral>

    /// The Bluetooth state.
    public internal(set) var state = RadioState.unknown
    /// Whether it listens for advertising.
    public private(set) var isScanning = false

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    /// A manager on a radio that has not been started; a peripheral can read the name in `identity`.
    public init(
        radio: any CentralRadio, identity: DeviceIdentity = DeviceIdentity(name: "Mynah"),
        options: Options = Options(), sink: (any CentralManagerSink)? = nil
    ) {
        self.init(radio: radio, identity: identity, options: options, sink: sink, sharesRadio: false)
    }

    init(
        radio: any CentralRadio, identity: DeviceIdentity, options: Options,
        sink: (any CentralManagerSink)?, sharesRadio: Bool
    ) {
        self.radio = radio
        self.identity = identity
        peripherals = PeripheralTable { address in
            Peripheral(address: address, radio: radio, pairsWhenAsked: options.pairsWhenAsked)
        }
        self.sink = sink
        self.sharesRadio = sharesRadio
    }

    deinit {
        guard isStarted else { return }
        guard sharesRadio else { return radio.close() }
        let (radio, links) = (radio, peripherals.links)
        Task {
            await radio.stopScan()
            for link in links { await radio.disconnect(link) }
        }
    }

    /// Starts the radio.
    public func start() async throws(RadioError) {
        try await radio.start(identity, central: CentralLink(self))
        isStarted = true
    }

    /// Ends every link and stops the radio; one that a phone owns goes on for the phone.
    public func stop() async {
        if sharesRadio {
            await stopScan()
            for id in peripherals.links { await radio.disconnect(id) }
        } else {
            await radio.stop()
        }
        end()
    }

    private func end() {
        isStarted = false
        isScanning = false
        state = .unknown
        for (id, peripheral) in peripherals.endAll() { update(peripheral, .disconnected(id, nil)) }
        readers.finish()
    }

    /// Returns every event from now on, in order.
    ///
    /// Each call makes a sequence for one more reader, which gets every event. A sequence holds up to 4,096 unread events.
    /// Past that new ones are dropped, and `.missed` says how many.
    public func events() -> AsyncStream<CentralManagerEvent> {
        precondition(sink == nil, "this manager's events go to the sink it was made with")
        return readers.add()
    }

    /// Gives an event to the program.
    @discardableResult
    func report(_ event: CentralManagerEvent) -> RadioAnswer {
        if let sink { return sink.handle(event) }
        readers.yield(event)
        return .none
    }

    // MARK: - Scanning

    /// Listens for devices; with services named, for those alone that advertise one of them.
    ///
    /// An iPhone whose app is in the background names no services: it sets a bit for each, which others may share. It is
    /// reported too if the bit is set.
    public func scanForPeripherals(
        withServices services: [BluetoothUUID]? = nil, options: ScanOptions = ScanOptions()
    ) async throws(RadioError) {
        wantedServices = services
        try await radio.scan(options)
        isScanning = true
    }

    /// Stops listening.
    public func stopScan() async {
        isScanning = false
        await radio.stopScan()
    }

    func heard(_ report: ScanReport) {
        guard let found = table.take(report, among: wantedServices) else { return }
        let peripheral = peripheral(at: report.address)
        peripheral.onOwnExecutor { $0.heard(found.advertisement) }
        self.report(
            .discovered(
                Discovery(
                    peripheral: peripheral, advertisement: found.advertisement, data: found.data,
                    scanResponse: found.scanResponse, rssi: report.rssi,
                    isConnectable: found.isConnectable, report: report)))
    }

    // MARK: - Peripherals

    /// The peripheral at an address, heard or not (after retrievePeripherals).
    public func peripheral(at address: DeviceAddress) -> Peripheral {
        peripherals.peripheral(at: address)
    }

    /// The peripherals that are connected now.
    public var connectedPeripherals: [Peripheral] { peripherals.connected }

    /// Connects; without a timeout it waits until the peripheral is there, as CoreBluetooth does.
    public func connect(_ peripheral: Peripheral, timeout: Duration? = nil) async throws(RadioError) {
        let number = peripherals.beginRequest(for: peripheral, at: peripheral.address)
        defer { for id in peripherals.endRequest(number) { settle(id) } }
        settle(try await radio.connect(peripheral.address, timeout: timeout), peripheral)
    }

    /// Ends a peripheral's link.
    public func cancelPeripheralConnection(_ peripheral: Peripheral) async {
        guard let id = await peripheral.peer else { return }
        await radio.disconnect(id)
    }
}
