public import MynahCore
public import MynahLifecycle

/// Plays the central's role: it finds peripherals, connects and asks (after CBCentralManager).
///
/// A handle that an `App` or a `Phone` makes, or alone on a radio. It runs on its radio's executor. What
/// happens comes through `events()`, through a delegate, or synchronously through the sink it was made with;
/// one of the three. A request to a peripheral is a call that returns with its answer.
///
/// An app's manager does not keep its phone alive, any other does. When the last reference goes, its scan and
/// its links end, and with a manager alone on a radio that radio.
///
/// ```swift
/// let manager = CentralManager(radio: HostRadio(transport: transport))
/// let events = await manager.events()
/// try await manager.start()
/// try await manager.scanForPeripherals(withServices: ["180D"])
/// for await event in events {
///     switch event {
///     case .discovered(let discovery):
///         await manager.stopScan()
///         try await manager.connect(discovery.peripheral)
///     case .connected(let strap, _):
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
        /// Whether a peripheral that asks for security is paired with, and asked again, as an iPhone does by
        /// itself.
        public var pairsWhenAsked = true

        /// The defaults.
        public init() {}
    }

    private let access: CentralAccess
    private let radio: any CentralRadio
    /// The phone that is kept alive, or `nil` for an app's manager.
    private let kept: Phone?
    /// Whether the phone is this manager's alone, and starts and stops with it.
    private let isAlone: Bool

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    /// A manager alone on a radio that has not been started.
    ///
    /// A peripheral can read the name in `identity`. Events go to `sink` or to the delegates, which the
    /// manager does not keep alive, or else to `events()`. Delegates beside a sink are not called.
    public init(
        radio: any CentralRadio, identity: DeviceIdentity = DeviceIdentity(name: "Mynah"),
        options: Options = Options(), delegate: (any CentralManagerDelegate)? = nil,
        peripheralDelegate: (any PeripheralDelegate)? = nil, sink: (any CentralManagerSink)? = nil
    ) {
        let sink = sink ?? CentralManagerDelegateSink(delegate, peripheralDelegate)
        let phone = Phone(
            PhoneCentral(alone: radio, options: options, sink: sink), on: CentralOnlyRadio(radio),
            identity: identity)
        self.radio = radio
        access = CentralAccess(.init(number: 0, epoch: 0), PhoneLink(phone))
        kept = phone
        isAlone = true
        (sink as? CentralManagerDelegateSink)?.attach(to: self)
    }

    /// The handle of a manager of a phone, which is kept alive if `isKeeping`.
    init(
        _ manager: CentralManagerState, radio: any CentralRadio, on phone: isolated Phone,
        keepingPhone isKeeping: Bool
    ) {
        self.radio = radio
        access = CentralAccess(CentralReference(manager), PhoneLink(phone))
        kept = isKeeping ? phone : nil
        isAlone = false
        manager.attach(self)
    }

    deinit {
        access.release()
    }

    /// Starts the radio; with a phone, its central half, which an app's manager starts by itself.
    public func start() async throws(RadioError) {
        if isAlone, let kept {
            try await kept.start()
        } else {
            try await access.ask { _, phone throws(RadioError) in try await phone.central.start(on: phone) }
        }
    }

    /// Ends its scan and its links; alone on a radio, stops the radio too.
    public func stop() async {
        if isAlone, let kept { return await kept.stop() }
        access.look { manager, phone in
            manager.app?.forget(manager)
            phone.central.end(manager, on: phone)
        }
    }

    /// The Bluetooth state; `unknown` after its app or its phone ended.
    public var state: RadioState { access.look { manager, _ in manager.state } ?? .unknown }

    /// Whether it scans, or will when its app may.
    public var isScanning: Bool { access.look { manager, _ in manager.scan != nil } ?? false }

    /// The identifier that the system preserves its state under, or `nil` if it preserves none.
    public var restoreIdentifier: String? { access.look { manager, _ in manager.restoreIdentifier } ?? nil }

    /// Returns every event from now on, in order.
    ///
    /// Each call makes a sequence for one more reader, which gets every event. A sequence holds up to 4,096
    /// unread events. Past that new ones are dropped, and `.missed` says how many.
    public func events() -> AsyncStream<CentralManagerEvent> {
        access.look { manager, _ in manager.addReader() } ?? AsyncStream { $0.finish() }
    }

    // MARK: Scanning

    /// Listens for devices; with services named, for those alone that advertise one of them.
    ///
    /// A device is reported once, and again when its advertisement changes; with `allowsDuplicates` each
    /// packet is reported. An app's scan hears nothing in the background unless it names services, and leaves
    /// out duplicates there; the radio scans for all apps at once, so the other options count for a manager
    /// without an app only.
    ///
    /// An iPhone whose app is in the background names no services: it sets a bit for each, which others may
    /// share. It is reported too if the bit is set.
    public func scanForPeripherals(
        withServices services: [BluetoothUUID]? = nil, options: ScanOptions = ScanOptions()
    ) async throws(RadioError) {
        try await access.ask { reference, phone throws(RadioError) in
            try await phone.central.scan(services, options, for: reference, on: phone)
        }
    }

    /// Stops listening; does nothing if the app does not run.
    public func stopScan() async {
        try? await access.ask { reference, phone in await phone.central.stopScan(for: reference, on: phone) }
    }

    /// What it has of its phone's scan, or `nil` if it does not scan; for code that runs on its executor
    /// already.
    package nonisolated var scanStatus: ScanStatus? {
        access.look { manager, phone in phone.central.scanner.status(of: manager, on: phone) } ?? nil
    }

    // MARK: Peripherals

    /// The peripheral at an address, heard or not: for a program that was told of it, as no app is.
    public func peripheral(at address: DeviceAddress) -> Peripheral {
        let found = access.look { manager, phone in
            phone.central.devices.peripheral(at: address, for: manager, on: phone)
        }
        return (found ?? nil) ?? access.unreachable(address, radio)
    }

    /// The peripherals that it has connected.
    public var connectedPeripherals: [Peripheral] {
        access.look { manager, phone in
            manager.asked.values.filter {
                phone.central.connections.state(of: $0, for: manager, on: phone) == .connected
            }
        } ?? []
    }

    /// The peripherals with these identifiers that the phone knows; a device whose address changed is not
    /// among them.
    public func retrievePeripherals(withIdentifiers identifiers: [PeripheralIdentifier]) -> [Peripheral] {
        access.look { manager, phone in phone.central.devices.retrieve(identifiers, for: manager, on: phone) }
            ?? []
    }

    /// The peripherals that the phone is connected to, for whichever app, and that have one of these
    /// services.
    ///
    /// They have to be connected here too, which happens at once. The phone asks a peripheral for services
    /// that it has not looked for yet.
    public func retrieveConnectedPeripherals(
        withServices services: [BluetoothUUID]
    ) async throws(RadioError) -> [Peripheral] {
        try await access.ask { reference, phone throws(RadioError) in
            try await phone.central.retrieveConnected(services, for: reference, on: phone)
        }
    }

    // MARK: Connections

    /// Has `.connectionEvent` report devices that any app of the phone connects or loses, or none if
    /// `matching` is `nil`.
    ///
    /// A device that is connected already is reported at once. The registration ends with the app's process.
    /// Does nothing if the app does not run.
    public func registerForConnectionEvents(
        _ matching: ConnectionEventMatching? = ConnectionEventMatching()
    ) {
        try? access.act { manager, phone in phone.central.register(manager, matching, on: phone) }
    }

    /// Asks for a connection, and returns at once: `.connected` follows, however late, or `.failedToConnect`.
    ///
    /// It does not time out. A peripheral that the phone is connected to already is connected at once. Throws
    /// `invalidState` if Bluetooth is not powered on.
    public func connect(
        _ peripheral: Peripheral, options: ConnectOptions = ConnectOptions()
    ) throws(RadioError) {
        try access.act { manager, phone throws(RadioError) in
            try phone.central.checkPower()
            phone.central.connections.connect(manager, to: peripheral, options, on: phone)
        }
    }

    /// Connects and waits until the peripheral is connected, for programs that do one thing after another.
    ///
    /// Without a timeout it waits until the peripheral is there. Throws `timedOut` if the time is over, or
    /// the task is cancelled: the connection is not waited for any more.
    public func connect(_ peripheral: Peripheral, timeout: Duration?) async throws(RadioError) {
        try await access.ask { reference, phone throws(RadioError) in
            let manager = try phone.central.acting(reference)
            try phone.central.checkPower()
            try await phone.central.connections.connectAndWait(
                manager, to: peripheral, timeout: timeout, on: phone)
        }
    }

    /// Cancels a connection, active or pending, and returns at once; `.disconnected` follows.
    ///
    /// The link ends unless another app holds it. Does nothing if the app does not run.
    public func cancelPeripheralConnection(_ peripheral: Peripheral) {
        try? access.act { manager, phone in phone.central.connections.cancel(manager, peripheral, on: phone) }
    }
}
