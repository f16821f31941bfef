import Logging
import MynahCore
import MynahDBus

/// The radio's connection to bluetoothd and its adapter, from one start to the next stop.
///
/// The client carries out the procedures that an `AdapterSession` requests. If the radio stops during a
/// procedure, the procedure throws `invalidState`.
final class AdapterClient {
    /// The state of bluetoothd and the adapter.
    var session = AdapterSession() {
        didSet { if session.isPresent == wantedPower { powering.end() } }
    }
    /// Sends an event to the radio.
    private(set) var send: BusEventHandler = { _ in }
    private let options: BlueZOptions
    private let logger: Logger
    private let connector: BusConnector
    private var identity = DeviceIdentity(name: "")
    private var daemon: BluetoothDaemon?
    /// A wait that ends when the adapter is no longer pairable.
    private let pairingEnd = BoundedWait()
    /// A wait that ends when the radio has handled a change of the adapter's power.
    private let powering = BoundedWait()
    private var wantedPower: Bool?
    private var isEnded = false

    init(_ options: BlueZOptions, logger: Logger) {
        self.options = options
        self.logger = logger
        connector = BusConnector(options.bus, logger: logger)
    }

    /// Whether a connection to the bus is being made.
    var isConnecting: Bool { connector.isConnecting }

    /// The number of queued bytes that are not sent to the bus yet.
    var outgoingSize: Int { daemon?.connection.outgoingSize ?? 0 }

    /// Whether bluetoothd can request a separate notification socket for each subscriber.
    var offersSockets: Bool { session.capabilities.subscriptions.namesSubscribers }

    /// Throws `invalidState` if the radio has stopped.
    func check() throws(RadioError) {
        if isEnded { throw RadioError(.invalidState, "the radio was stopped meanwhile") }
    }

    /// Returns bluetoothd and the path of the adapter.
    ///
    /// Throws `lost` if there is no connection.
    func reach() throws(RadioError) -> (daemon: BluetoothDaemon, path: ObjectPath) {
        guard let daemon, let path = session.adapter?.path else {
            throw RadioError(.lost, "the radio was stopped meanwhile")
        }
        return (daemon, path)
    }

    // MARK: Start and stop

    /// Finds bluetoothd and the adapter, and prepares the adapter for the device.
    func start(_ identity: DeviceIdentity, send: @escaping BusEventHandler) async throws(RadioError) {
        self.identity = identity
        self.send = send
        try await connect()
        try await learnObjects()
        try session.select(options.adapter)
        _ = try await learnVersion()
        try await prepare()
        try check()
    }

    /// Begins to stop: all procedures fail from now on.
    ///
    /// The calls to bluetoothd that restore the adapter still wait for answers. After one of them has timed
    /// out, no call waits any more.
    func beginStop() {
        isEnded = true
        session.end()
        powering.end()
        connector.cancel()
        daemon?.limitPatience()
    }

    /// Restores the adapter's properties, and closes the connection.
    ///
    /// bluetoothd then removes everything that is still registered, so that no call is needed to unregister
    /// it.
    func stop() async {
        await restore()
        await daemon?.close()
        if let adapter = session.adapter {
            AgentRouting.set(nil, on: options.bus, adapter: adapter.path.string)
        }
    }

    func connect() async throws(RadioError) {
        let connection: DBusConnection
        do throws(DBusError) {
            connection = try await connector.connect()
        } catch {
            throw BlueZErrors.radioError(error, doing: "connecting to the bus")
        }
        do throws(RadioError) {
            try check()
        } catch {
            await connection.close()
            throw error
        }
        session.connected()
        daemon = BluetoothDaemon(connection, send: send)
    }

    // MARK: Objects

    /// Requests the list of bluetoothd's objects, and stores it.
    func learnObjects() async throws(RadioError) {
        guard let daemon else { throw RadioError(.lost, "the radio was stopped meanwhile") }
        session.willLearn()
        do throws(RadioError) {
            let objects = try await daemon.managedObjects()
            try check()
            session.learned(objects)
        } catch {
            session.learned(nil)
            guard error.code == .timedOut, !session.hasDaemon else { throw error }
            // The bus was asked to start bluetoothd, but systemd skips it if the kernel has no adapter.
            throw RadioError(
                .unreachable, "bluetoothd is not running, and cannot be started",
                remedy: "find out why: systemctl status bluetooth")
        }
    }

    /// Handles a change of bluetoothd's objects.
    func apply(_ change: ObjectChange) -> [AdapterSession.Action] {
        let actions = session.apply(change)
        if session.adapterState?.isPairable != true { pairingEnd.end() }
        return actions
    }

    /// Determines bluetoothd's version; returns whether the radio's capabilities have changed because of it.
    func learnVersion() async throws(RadioError) -> Bool {
        var version = options.version ?? session.reportedVersion
        if version == nil {
            version = await BlueZVersion.installed()
            try check()
        }
        return session.learned(version: version, wantsSockets: options.acquiresNotify)
    }

    // MARK: The adapter's properties

    /// Turns the adapter on, sets its name, registers the pairing agent, and allows pairing.
    func prepare() async throws(RadioError) {
        guard let name = session.adapter?.name, var preparation = session.preparation(for: identity) else {
            throw RadioError(.noAdapter, "the adapter is gone")
        }
        while let step = preparation.next(isPowered: session.adapterState?.isPowered == true) {
            try check()
            do throws(RadioError) {
                switch step {
                case .wait(let time): await BoundedWait().wait(atMost: time)
                case .registerAgent: try await registerAgent()
                case .set(let property):
                    session.willSet(property)
                    let (daemon, path) = try reach()
                    try await daemon.set(property, of: path)
                }
                preparation.done()
            } catch {
                let isPowering = preparation.isPowering
                guard !preparation.failed(error) else { continue }
                // bluetoothd 5.66 reports a failure without a reason.
                throw isPowering ? RFKill().error(for: name) ?? error : error
            }
        }
    }

    /// The longest time that `setPower` waits until the radio has handled the change.
    private static let powerLimit = Duration.seconds(10)

    /// Turns the adapter off or on, and returns when the radio has handled the change.
    ///
    /// If `isOn` is `true`, this returns after the radio has registered everything with bluetoothd again.
    /// Throws `timedOut` if this takes longer than 10 s.
    func setPower(_ isOn: Bool) async throws(RadioError) {
        session.willSet(.powered(isOn))
        let (daemon, path) = try reach()
        try await daemon.set(.powered(isOn), of: path)
        if session.isPresent != isOn {
            wantedPower = isOn
            await powering.wait(atMost: Self.powerLimit)
            wantedPower = nil
        }
        try check()
        guard session.isPresent == isOn else {
            throw RadioError(
                .timedOut, "the adapter was turned \(isOn ? "on" : "off"), and bluetoothd has not followed")
        }
    }

    private func registerAgent() async throws(RadioError) {
        let (daemon, path) = try reach()
        AgentRouting.set(send, on: options.bus, adapter: path.string)
        guard session.willRegisterAgent() else { return }
        do throws(RadioError) {
            try await daemon.registerAgent(identity.ioCapability)
        } catch {
            session.agentEnded()
            throw error
        }
    }

    private func restore() async {
        guard var restoration = session.restoration() else { return }
        while let step = restoration.next(isPairable: session.adapterState?.isPairable == true) {
            do throws(RadioError) {
                let (daemon, path) = try reach()
                switch step {
                case .unregisterAgent:
                    session.agentEnded()
                    try await daemon.unregisterAgent()
                case .awaitPairingEnd(let limit): await pairingEnd.wait(atMost: limit)
                case .set(let property): try await daemon.set(property, of: path, timeout: .seconds(2))
                }
            } catch {
                logger.debug("left as it is", metadata: ["error": "\(error)"])
            }
        }
    }

    // MARK: Requests

    /// Ends the link of a device; does nothing if `device` is `nil`.
    func disconnect(_ device: String?) async {
        guard let device, let path = try? ObjectPath(device) else { return }
        do throws(RadioError) {
            try await reach().daemon.disconnect(path)
        } catch {
            logger.debug("left as it is", metadata: ["error": "\(error)"])
        }
    }

    /// The address of the device at a path, or `nil` if bluetoothd knows no device there.
    func address(ofDevice path: String) -> DeviceAddress? {
        session.objects.devices[path].flatMap {
            DeviceAddress($0.address, kind: $0.isRandom ? .random : .public)
        }
    }

    /// Removes a device with its bond, which also ends its link.
    ///
    /// Returns `false` if bluetoothd does not know the device.
    func removeDevice(_ address: DeviceAddress) async throws(RadioError) -> Bool {
        let (daemon, adapter) = try reach()
        let known = session.objects.devices.keys.filter { $0.hasPrefix(adapter.string + "/") }
        guard let device = known.first(where: { self.address(ofDevice: $0) == address }),
            let path = try? ObjectPath(device)
        else { return false }
        try await daemon.removeDevice(path, of: adapter)
        return true
    }

    /// Sends the event `timer(.pace)` to the radio as soon as fewer than `limit` bytes are queued for the
    /// bus.
    func awaitRoom(below limit: Int) {
        daemon?.connection.whenOutgoing(isBelow: limit) { [send] in send(.timer(.pace)) }
    }

    /// Returns the event handler of the radio of this process that uses a device's adapter.
    ///
    /// `device` is the path of the device. Returns `nil` if no radio of this process uses the adapter.
    func otherRadio(for device: String) -> BusEventHandler? {
        AgentRouting.handler(for: device, on: options.bus)
    }
}
