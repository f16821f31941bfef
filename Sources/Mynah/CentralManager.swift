public import MynahCore
public import MynahLifecycle

/// Discovers peripherals and connects to them (after CBCentralManager).
///
/// An `App` or a `Phone` makes one, or `init(radio:)` makes one that has a radio to itself. It runs on the
/// radio's executor. Its events go to `events()`, or synchronously to a delegate, if the manager is made with
/// one. A request to a `Peripheral` is a call that returns its answer.
///
/// The manager of an app does not keep its phone alive; any other does. When the last reference to a manager
/// is dropped, its scan, its connections and its registration for connection events end. If it has a radio to
/// itself, the radio stops.
///
/// ```swift
/// let manager = CentralManager(radio: try HostRadio.virtual())
/// try await manager.start()
/// for await discovery in try await manager.discoveries(of: ["180D"]) {
///     let strap = discovery.peripheral
///     try await manager.connect(strap, timeout: .seconds(10))
///     try await strap.discoverAll(["180D"])
///     guard let rate = await strap.characteristic("2A37") else { continue }
///     for await value in try await strap.values(of: rate) { print(value) }
/// }
/// ```
public actor CentralManager {
    /// Options of a central manager.
    public struct Options: Sendable {
        /// Whether the manager pairs if a peripheral refuses a request for lack of security, and then repeats
        /// the request, as an iPhone does.
        public var pairsWhenAsked = true
        /// Whether the phone shows an alert if an app in the foreground makes the manager while Bluetooth is
        /// off (CBCentralManagerOptionShowPowerAlertKey).
        public var showsPowerAlert = true

        /// Makes the default options.
        public init() {}
    }

    private let access: CentralAccess
    private let radio: any CentralRadio
    /// The phone that this manager keeps alive, or `nil` for an app's manager.
    private let kept: Phone?
    /// Whether this manager has a radio to itself, with a phone that starts and stops with the manager.
    private let isAlone: Bool

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    /// Makes a manager that has a radio to itself, which must not be started yet.
    ///
    /// A peripheral can read the name in `identity`. Events go to `delegate`, or else to `events()`.
    public init(
        radio: any CentralRadio, identity: DeviceIdentity = DeviceIdentity(name: "Mynah"),
        options: Options = Options(), delegate: sending (any CentralManagerDelegate)? = nil
    ) {
        self.init(
            radio: radio, identity: identity, options: options,
            sink: delegate.map { CentralManagerDelegateSink($0) })
    }

    /// Makes a manager that has a radio to itself, which must not be started yet.
    ///
    /// Events go to `sink`, or else to `events()`.
    package init(
        radio: any CentralRadio, identity: DeviceIdentity = DeviceIdentity(name: "Mynah"),
        options: Options = Options(), sink: (any CentralManagerSink)?
    ) {
        let phone = Phone(alone: radio, identity: identity, options: options, sink: sink)
        self.radio = radio
        access = CentralAccess(.init(number: 0, epoch: 0), PhoneLink(phone))
        kept = phone
        isAlone = true
        (sink as? CentralManagerDelegateSink)?.attach(to: self)
    }

    /// Makes the `CentralManager` for a phone's manager; it keeps the phone `kept` alive.
    init(
        _ access: CentralAccess, _ radio: any CentralRadio, keeping kept: Phone?
    ) {
        self.radio = radio
        self.access = access
        self.kept = kept
        isAlone = false
    }

    deinit {
        access.release()
    }

    /// Starts the radio, or the central role of the phone's radio.
    ///
    /// An app's manager needs no start. Throws `invalidState` if the phone has not been started.
    public func start() async throws(RadioError) {
        if isAlone, let kept {
            try await kept.start()
        } else {
            try await access.ask { _, phone throws(RadioError) in
                try await phone.central.start(as: phone.identity)
            }
        }
    }

    /// Ends the manager with its scan, its connections and its registration for connection events.
    ///
    /// If it has a radio to itself, the radio stops.
    public func stop() async {
        if isAlone, let kept { return await kept.stop() }
        access.look { manager, phone in
            phone.memory.app(of: manager)?.forget(manager)
            phone.central.end(manager)
        }
    }

    /// The Bluetooth state; `unknown` after the app or the phone has ended.
    public var state: RadioState { access.look { manager, _ in manager.state } ?? .unknown }

    /// The user's permission for the app to use Bluetooth; a manager without an app needs no permission.
    public var authorization: BluetoothAuthorization {
        access.look { manager, _ in manager.app?.authorization ?? .allowedAlways } ?? .notDetermined
    }

    /// Whether the manager scans, or has a scan that is paused while its app is in the background.
    public var isScanning: Bool { access.look { manager, _ in manager.scan != nil } ?? false }

    /// The identifier under which the system preserves the manager's state, or `nil` if it is not preserved.
    public var restoreIdentifier: String? { access.look { manager, _ in manager.restoreIdentifier } ?? nil }

    /// Returns a sequence of all events from now on, in order.
    ///
    /// Each call makes another sequence, and each sequence gets every event. A sequence holds up to 4,096
    /// unread events. Further events are dropped, and `.missed` reports how many. Traps if the manager was
    /// made with a delegate.
    public func events() -> AsyncStream<CentralManagerEvent> {
        access.look { manager, _ in manager.addReader() } ?? AsyncStream { $0.finish() }
    }

    // MARK: Scanning

    /// Scans for peripherals: for all, or for those that advertise one of these services.
    ///
    /// A peripheral is reported once, and again when its advertisement changes. With `allowsDuplicates` each
    /// packet is reported. An app's scan discovers nothing in the background unless it names services, and
    /// reports no duplicates there. The radio scans for all apps at once, so it ignores the interval and the
    /// window of an app's scan.
    ///
    /// An iPhone advertises the services of a background app as bits of its overflow area; several services
    /// share a bit. The iPhone is reported if the bit of a requested service is set. Throws `invalidState` if
    /// Bluetooth is not powered on or the app does not run.
    public func scanForPeripherals(
        withServices services: [BluetoothUUID]? = nil, options: ScanOptions = ScanOptions()
    ) async throws(RadioError) {
        try await access.ask { reference, phone throws(RadioError) in
            try await phone.central.scan(services, options, for: reference)
        }
    }

    /// Scans as `scanForPeripherals` does, and returns a sequence of the discoveries.
    ///
    /// The scan stops when the sequence is dropped, for example by a `break`. The sequence ends when the scan
    /// ends: by `stopScan()` or another scan, when Bluetooth is turned off, or with the manager. A sequence
    /// holds the latest 4,096 unread discoveries. Throws what `scanForPeripherals` throws.
    public func discoveries(
        of services: [BluetoothUUID]? = nil, options: ScanOptions = ScanOptions()
    ) async throws(RadioError) -> AsyncStream<Discovery> {
        try await access.discoveries(services, options)
    }

    /// Queues the start of a scan, for a callback, which cannot wait.
    ///
    /// Calls in callbacks are carried out in their order. A call with `await` does not wait for them.
    ///
    /// An error is reported as the warning `scanRefused`, by the manager, or by the phone if an app made the
    /// manager.
    @available(*, noasync, message: "call the overload that waits, with await, in an async closure")
    public func scanForPeripherals(
        withServices services: [BluetoothUUID]? = nil, options: ScanOptions = ScanOptions()
    ) {
        access.scanSoon(services, options)
    }

    /// Stops scanning; does nothing if the app does not run.
    public func stopScan() async {
        try? await access.ask { reference, phone in await phone.central.stopScan(for: reference) }
    }

    /// Queues the end of the scan, for a callback, which cannot wait.
    @available(*, noasync, message: "call the overload that waits, with await, in an async closure")
    public func stopScan() { access.stopScanSoon() }

    /// The manager's part of its phone's scan, or `nil` if it does not scan.
    ///
    /// For code that already runs on the manager's executor.
    package nonisolated var scanStatus: ScanStatus? {
        access.look { manager, phone in phone.central.scanner.status(of: manager) } ?? nil
    }

    // MARK: Peripherals

    /// Returns the peripheral at an address, whether or not it was discovered.
    ///
    /// Core Bluetooth has no such call: an iOS app never sees an address.
    public func peripheral(at address: DeviceAddress) -> Peripheral {
        let found = access.look { manager, phone in
            phone.central.devices.peripheral(at: address, for: manager)
        }
        return (found ?? nil) ?? access.unreachable(address, radio)
    }

    /// The peripherals that are connected for this manager.
    public var connectedPeripherals: [Peripheral] {
        access.look { manager, phone in
            manager.askedPeripherals.filter {
                phone.central.connections.state(of: $0, for: manager) == .connected
            }
        } ?? []
    }

    /// Returns the peripherals with these identifiers that the phone knows.
    ///
    /// The phone does not recognize a device whose address changed, unless it is bonded.
    public func retrievePeripherals(withIdentifiers identifiers: [PeripheralIdentifier]) -> [Peripheral] {
        access.look { manager, phone in phone.central.devices.retrieve(identifiers, for: manager) }
            ?? []
    }

    /// Returns the peripherals with one of these services that are connected for any app of the phone.
    ///
    /// Before you use such a peripheral, connect it for this manager too, which happens at once. The phone
    /// discovers services that no app has discovered yet.
    public func retrieveConnectedPeripherals(
        withServices services: [BluetoothUUID]
    ) async throws(RadioError) -> [Peripheral] {
        try await access.ask { reference, phone throws(RadioError) in
            try await phone.central.retrieveConnected(services, for: reference)
        }
    }

    // MARK: Connections

    /// Registers for `.connectionEvent`, which reports peripherals of all apps of the phone.
    ///
    /// The manager reports each matching peripheral that connects or disconnects. With `nil` the registration
    /// ends. A peripheral that is connected already is reported at once. The registration ends with the app's
    /// process. Does nothing if the app does not run.
    public func registerForConnectionEvents(
        _ matching: ConnectionEventMatching? = ConnectionEventMatching()
    ) {
        try? access.act { manager, phone in phone.central.events.register(manager, matching) }
    }

    /// Requests a connection and returns at once; `.connected` or `.failedToConnect` follows.
    ///
    /// The request does not time out. A peripheral that is connected for another app is connected at once.
    /// Throws `invalidState` if Bluetooth is not powered on or the app does not run.
    public func connect(
        _ peripheral: Peripheral, options: ConnectOptions = ConnectOptions()
    ) throws(RadioError) {
        try access.act { manager, phone throws(RadioError) in
            try phone.central.memory.checkPower()
            try manager.checkMayConnect(peripheral)
            phone.central.connections.connect(manager, to: peripheral, options)
        }
    }

    /// Connects, and returns when the peripheral is connected.
    ///
    /// With `nil` there is no timeout. Throws `timedOut` and withdraws the request if the timeout elapses or
    /// the task is cancelled. Throws `invalidState` if Bluetooth is not powered on or the app does not run.
    public func connect(_ peripheral: Peripheral, timeout: Duration?) async throws(RadioError) {
        try await access.ask { reference, phone throws(RadioError) in
            let manager = try phone.central.memory.acting(reference)
            try phone.central.memory.checkPower()
            try manager.checkMayConnect(peripheral)
            try await phone.central.connections.connectAndWait(
                manager, to: peripheral, timeout: timeout)
        }
    }

    /// Cancels an active or a pending connection and returns at once; `.disconnected` follows.
    ///
    /// The link stays on the air if another app uses it. Does nothing if the app does not run.
    public func cancelPeripheralConnection(_ peripheral: Peripheral) {
        try? access.act { manager, phone in phone.central.connections.cancel(manager, peripheral) }
    }
}
