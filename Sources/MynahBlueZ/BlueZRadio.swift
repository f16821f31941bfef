public import Logging
public import MynahCore
public import MynahDBus

/// Plays a peripheral through bluetoothd, beside whatever else uses the adapter.
///
/// Everything happens on `GLibExecutor.shared`, where D-Bus is spoken too: a request goes from the bus to the sink and back
/// on one thread.
public actor BlueZRadio: PeripheralRadio {
    /// How the radio is set up.
    public struct Options: Sendable {
        /// The adapter, `hci0` or `AA:BB:CC:DD:EE:FF`; nil: the first.
        public var adapter: String?
        /// How many notifications a second are handed to bluetoothd, which queues them without limit; nil: any number.
        ///
        /// 2,000 is more than a phone takes: at the shortest connection interval, 7.5 ms, it is fifteen to an event.
        public var notificationRate: Int? = 2000
        /// Asks for a socket for each subscriber, so that subscribers have names; for BlueZ 5.80 and later.
        public var acquiresNotify = false
        /// The bus.
        public var bus = DBusConnection.Address.system
        /// bluetoothd's version; nil: the installed program is asked.
        public var version: BlueZVersion?
        /// bluetoothd gives up after 5 s (ATTRIBUTE_TIMEOUT) and drops what comes later; we answer before that.
        package var answerLimit: Duration = .milliseconds(4500)

        /// The first adapter and the defaults.
        public init() {}
    }

    struct Batch {
        var services: [ServiceDefinition]
        var tree: AttributeTree
        var isRegistered = false
    }

    struct Attribute {
        var path: ObjectPath
        var uuid: BluetoothUUID
        var value: [UInt8]?
        var permissions: AttributePermissions
        /// The longest value that may be written, in bytes.
        var maximumLength: Int
        /// How it sends, where there is only one way; nil: as each central subscribed, or not at all.
        var delivery: Delivery?
        var sends = false
        /// bluetoothd said that somebody subscribed, and not yet that all are gone.
        var isSubscribed = false
        /// The sink was told so.
        var isToldSubscribed = false
    }

    struct Found {
        var alias: String
        var isAliasDefault: Bool
        var isPowered: Bool
        var isPairable: Bool
        /// The properties that we have set, which are put back.
        var touched: Set<String> = []
    }

    let options: Options
    let logger: Logger
    var connection: DBusConnection?
    /// The way to one.
    var connecting: Task<Result<DBusConnection, DBusError>, Never>?
    var subscriptions: [DBusSubscription] = []
    var sink: (any RadioSink)?
    var identity = DeviceIdentity(name: "")
    var life = RadioLife()
    var hasOwner = false
    /// bluetoothd has said goodbye to our agent, as it does when it ends.
    var isLeaving = false
    /// It has not answered in time while the radio was being stopped.
    var isMute = false
    var objects = BusObjects()
    /// The adapter in use, by path and by address: a returning one may have another path.
    var adapter: (path: ObjectPath, address: String)?
    var found: Found?
    /// bluetoothd's version; nil: it cannot be told.
    var version: BlueZVersion?
    var capabilities = RadioCapabilities(name: "BlueZ")
    var isAgentRegistered = false
    var adapterWaiter:
        (condition: @Sendable (BusObjects.Adapter) -> Bool, continuation: CheckedContinuation<Void, Never>)?

    var batches: [PublishedServices.ID: Batch] = [:]
    var attributes: [AttributeKey: Attribute] = [:]
    var lastBatch: UInt32 = 0
    var nextHandle = AttributeTree.firstHandle

    var advertising = AdvertisementMachine()
    var advertisementWaiters: [CheckedContinuation<RadioError?, Never>] = []
    var toldWarnings: Set<String> = []

    var peers = PeerTable()
    var pacer: NotificationPacer
    var sockets: [SocketKey: NotifySocket] = [:]
    var socketSubscriptions = SocketSubscriptions()
    var isFull = false
    /// The sink was told that the queue is full, and then the radio was lost.
    var owesReady = false
    var late: [UInt64: LateReply] = [:]
    var lastLate: UInt64 = 0
    private(set) var timers: Timers?

    /// Timers whose handlers come back to the radio.
    struct Timers {
        var retry: GLibTimer
        var pace: GLibTimer
        var deadline: GLibTimer
        var doubt: GLibTimer

        func cancel() {
            for timer in [retry, pace, deadline, doubt] { timer.cancel() }
        }
    }

    /// The thread on which D-Bus is spoken.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// A radio that is not started.
    public init(options: Options = Options(), logger: Logger = Logger(label: "mynah.bluez")) {
        self.options = options
        self.logger = logger
        pacer = NotificationPacer(rate: options.notificationRate)
    }

    // MARK: Start and stop

    /// Finds bluetoothd and the adapter, turns it on and becomes its pairing agent.
    public func start(
        _ identity: DeviceIdentity, sink: any RadioSink
    ) async throws(RadioError) -> RadioCapabilities {
        guard life.state == .stopped else {
            throw RadioError(.invalidState, "the radio has been started already")
        }
        _ = life.handle(.start)
        self.identity = identity
        self.sink = sink
        timers = makeTimers()
        do throws(RadioError) {
            try await connect()
            try await learnObjects()
            try checkWanted()
            adapter = try objects.selectAdapter(options.adapter)
            version = await learnVersion()
            try await prepareAdapter()
            try checkWanted()
        } catch {
            await stop()
            throw error
        }
        capabilities = currentCapabilities()
        advertising.reached()
        carryOut(life.handle(.started))
        lookAround()
        warnOfOldVersion()
        return capabilities
    }

    /// Withdraws everything and puts back what was found of the adapter.
    public func stop() async {
        guard life.state != .stopped, life.state != .stopping else { return }
        _ = life.handle(.stop)
        timers?.cancel()
        connecting?.cancel()
        await withdrawAll()
        await putBack()
        subscriptions = []
        await connection?.close()
        connection = nil
        forgetRegistrations()
        batches = [:]
        attributes = [:]
        nextHandle = AttributeTree.firstHandle
        advertising = AdvertisementMachine()
        peers = PeerTable()
        forgetSockets()
        late = [:]
        objects.removeAll()
        hasOwner = false
        isLeaving = false
        isMute = false
        isAgentRegistered = false
        if let adapter { AgentRouting.set(nil, on: options.bus, adapter: adapter.path.string) }
        adapter = nil
        found = nil
        timers = nil
        isFull = false
        owesReady = false
        toldWarnings = []
        sink = nil
        _ = life.handle(.stopped)
    }

    private func makeTimers() -> Timers {
        Timers(
            retry: GLibTimer { [weak self] in self?.assumeIsolated { $0.retry() } },
            pace: GLibTimer { [weak self] in self?.assumeIsolated { $0.hasRoom() } },
            deadline: GLibTimer { [weak self] in self?.assumeIsolated { $0.answerOverdue() } },
            doubt: GLibTimer { [weak self] in self?.assumeIsolated { $0.endDoubts() } })
    }

    func currentCapabilities() -> RadioCapabilities {
        let adapter = adapter.flatMap { objects.adapters[$0.path.string] }
        let name = self.adapter.map { String($0.path.string.split(separator: "/").last ?? "") }
        var capabilities = BlueZCapabilities.capabilities(
            version: version ?? .oldest, keepsInterval: adapter?.tellsAdvertisingFeatures,
            namesSubscribers: offersSockets, adapter: name)
        capabilities.address = self.adapter.flatMap { DeviceAddress($0.address, kind: .public) }
        return capabilities
    }

    /// Whether each subscriber is asked for a socket of its own; confirmations come back through it from 5.80 on.
    var offersSockets: Bool { options.acquiresNotify && version ?? .oldest >= BlueZVersion(5, 80) }

    /// Time for the pure parts, from no particular zero.
    var now: Duration { Self.zero.duration(to: .now) }

    private static let zero = ContinuousClock.now

    /// Waits on the executor, without a thread or a task of its own.
    func pause(for duration: Duration) async {
        var timer: GLibTimer?
        await withCheckedContinuation { continuation in
            timer = GLibTimer { continuation.resume() }
            timer?.schedule(after: duration)
        }
        withExtendedLifetime(timer) {}
    }

    /// Throws where somebody has stopped the radio while it started or came back.
    func checkWanted() throws(RadioError) {
        switch life.state {
        case .starting, .running, .lost, .recovering: return
        case .stopped, .stopping:
            throw RadioError(.invalidState, "the radio was stopped meanwhile")
        }
    }

    @discardableResult
    func tell(_ event: RadioEvent) -> RadioAnswer {
        sink?.handle(event) ?? .none
    }

    /// Tells a warning, once for each `about`.
    func warnOnce(_ code: String, about: String = "", _ message: String) {
        guard toldWarnings.insert(code + " " + about).inserted else { return }
        tell(.warning(RadioWarning(code, message)))
    }
}
