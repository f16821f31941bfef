public import Logging
public import MynahCore
public import MynahHCI
import MynahSupport

/// A radio of our own: a host stack over HCI, on whatever controller the transport reaches.
///
/// Advertising goes out byte for byte, subscribers have names, and what does not fit into the controller's buffers is felt
/// as back-pressure.
///
/// It plays a peripheral, a central, or both on one controller.
public actor HostRadio: PeripheralRadio {
    /// What can be chosen.
    public struct Options: Sendable {
        /// The name of the radio, for people.
        public var name = "own host"
        /// What the controller is called in messages, with where it is.
        public var controller = "the controller"
        /// Which address is on the air.
        public var address = AddressPolicy.automatic
        /// How long a controller may take to answer a command.
        public var commandTimeout: Duration = .seconds(5)
        /// How long a central may take to confirm an indication (Vol 3, Part F, 3.3.3).
        public var transactionTimeout: Duration = .seconds(30)
        /// How long the radio waits before it looks for a controller that it lost; twice as long each time, up to 5 s.
        public var recoveryPause: Duration = .milliseconds(250)
        /// Where bonds are kept; nil: in memory, for as long as the radio is there.
        public var bonds: BondFile?
        /// Whether it pairs; otherwise who asks for it is refused.
        public var isPairable = true
        /// Whether it pairs by LE Secure Connections with whoever can; otherwise by LE legacy pairing alone.
        public var hasSecureConnections = true
        /// How many packets wait for the controller before a value is refused.
        public var queueLimit = 64

        /// The defaults.
        public init() {}
    }

    struct Batch {
        var range: ClosedRange<UInt16>
        var services: [ServiceDefinition]
    }

    enum State {
        case stopped
        case starting
        case running
        /// The controller is gone, and is looked for again.
        case lost
        /// It is there again, and is brought up.
        case recovering

        /// Whether a controller is at the other end.
        var isAttached: Bool { self == .starting || self == .running || self == .recovering }
    }

    let executor: HostExecutor
    private let guests: HostTaskExecutor
    /// What its phone and managers run on too.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    /// For a task that asks one thing after the other: preferring it, it goes on where the answer comes, without a hop.
    public nonisolated var taskExecutor: any TaskExecutor { guests }

    let transport: any HCITransport
    let options: Options
    /// The name of the radio, for people.
    public nonisolated var name: String { options.name }
    let logger: Logger
    let sleep: @Sendable (Duration) async throws -> Void
    let now: @Sendable () -> Duration
    var state = State.stopped
    var sink: (any RadioSink)?
    var identity = DeviceIdentity(name: "")
    var capabilities = RadioCapabilities(name: "own host")
    var commands = CommandQueue()
    var waiters: [UInt64: CheckedContinuation<Result<[UInt8], HCICommandError>, Never>] = [:]
    var data = DataQueue()
    var links = SortedMap<UInt16, Link>()
    var lastPeer: UInt32 = 0
    var database = AttributeDatabase()
    var batches: [PublishedServices.ID: Batch] = [:]
    var lastBatch: UInt32 = 0
    /// The properties of published characteristics, by key.
    var properties: [AttributeKey: CharacteristicProperties] = [:]
    var advertisement: Advertisement?
    /// Where a value found no room.
    var refusals = Refusals()
    /// Links whose notifications wait to go out together.
    var collecting: Set<UInt16> = []
    /// The address that is on the air.
    var ownAddress: DeviceAddress?
    /// The address to be known by: public, or random and static.
    var identityAddress: DeviceAddress?
    /// The private address that is on the air, and when it changes; nil: it does not.
    var rotation: AddressRotation?
    var rotating: Task<Void, Never>?
    var security = SecurityKeeper()
    var serviceChanged: AttributeKey?
    var central = CentralHalf()
    /// Beside the half, which would be copied whole for each event that it is told.
    var centralSink: (any CentralSink)?
    /// Whether the controller has commands for extended advertising.
    var hasExtendedCommands = false
    /// What it was given since it was reset; nil: neither.
    var commandStyle: CommandStyle?
    var channels = ChannelKeeper()
    /// Changes with each controller that is opened, so that what is late says nothing of a later one.
    var run = 0
    /// Who waits for all links to end.
    var farewells: [CheckedContinuation<Void, Never>] = []
    /// How long they are waited for.
    static let farewell = Duration.seconds(1)
    /// Why the transport ended while the controller was brought up.
    var endedWhileStarting: RadioError?
    /// Looks for a controller that was lost.
    var recovery: Task<Void, Never>?

    /// A radio that is not started; `sleep` and `now` are its time.
    public init(
        transport: any HCITransport, options: Options = Options(),
        logger: Logger = Logger(label: "mynah.host"),
        // Time-outs and rotation wait with it; a test moves the time by hand.
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        now: @escaping @Sendable () -> Duration = HostRadio.uptime
    ) {
        executor = HostExecutor()
        guests = HostTaskExecutor(executor)
        self.transport = transport
        self.options = options
        self.logger = logger
        self.sleep = sleep
        self.now = now
    }

    private static let epoch = ContinuousClock.now

    /// How long ago the first radio of this process asked.
    public static let uptime: @Sendable () -> Duration = { ContinuousClock.now - epoch }

    // MARK: Start and stop

    /// Starts the peripheral's half; opens the transport and brings the controller up, unless the central's half has.
    public func start(
        _ identity: DeviceIdentity, sink: any RadioSink
    ) async throws(RadioError) -> RadioCapabilities {
        guard self.sink == nil, state == .stopped || state == .running else {
            throw RadioError(.invalidState, "the radio has been started already")
        }
        self.sink = sink
        if state == .running {
            // The device is another than the central said.
            database = AttributeDatabase()
            self.identity = identity
            publishOwnServices()
        } else {
            try await open(identity)
        }
        tell(.stateChanged(.poweredOn))
        return capabilities
    }

    /// Opens the transport and brings the controller up; where that fails the radio is stopped again.
    func open(_ identity: DeviceIdentity) async throws(RadioError) {
        state = .starting
        self.identity = identity
        loadBonds()
        do throws(RadioError) {
            try await openTransport()
            try await bringUp()
        } catch {
            transport.close()
            await stop()
            // Whatever answered so, or not at all, may be no controller.
            guard error.remedy == nil, [.lost, .timedOut, .protocolViolation].contains(error.code) else {
                throw error
            }
            throw RadioError(
                error.code, error.message,
                remedy: "see that a Bluetooth controller speaks H4 there, and that nobody else has it")
        }
        guard state == .starting else {
            throw RadioError(.lost, "the radio was stopped while it was started")
        }
        publishOwnServices()
        capabilities.name = options.name
        capabilities.keepsInterval = true
        state = .running
    }

    /// Stops advertising, ends every link and closes the transport.
    public func stop() async {
        guard state != .stopped else { return }
        if state == .running {
            central.isFollowing = false
            await stopScan()
            if advertisement != nil {
                await attempt { () throws(RadioError) in try await setAdvertising(false) }
            }
            for handle in links.keys.sorted() {
                await attempt { () throws(RadioError) in
                    try await self.end(handle, .remoteUserTerminatedConnection)
                }
            }
            await waitForFarewells()
        }
        state = .stopped
        writeBonds()
        recovery?.cancel()
        recovery = nil
        rotating?.cancel()
        transport.close()
        failWaiters()
        forgetLinks(isTold: false)
        endCentralHalf(RadioError(.lost, "the radio was stopped"))
        commands = CommandQueue()
        data = DataQueue()
        database = AttributeDatabase()
        batches = [:]
        channels = ChannelKeeper()
        properties = [:]
        advertisement = nil
        refusals = Refusals()
        sink = nil
    }

    /// A controller that is let go at once does not tell the other sides that their links end, and they miss us for long.
    private func waitForFarewells() async {
        guard state == .running, !links.isEmpty else { return }
        let overdue = Task {
            guard (try? await sleep(Self.farewell)) != nil else { return }
            sayFarewell()
        }
        await withCheckedContinuation { farewells.append($0) }
        overdue.cancel()
    }

    /// There are no links any more, or they are not waited for.
    func sayFarewell() {
        let all = farewells
        farewells = []
        for farewell in all { farewell.resume() }
    }

    func warn(_ code: String, _ message: String) {
        let warning = RadioWarning(code, message)
        if sink == nil { tellCentral(.warning(warning)) } else { tell(.warning(warning)) }
    }

    func failWaiters() {
        let all = waiters
        waiters = [:]
        for waiter in all.values { waiter.resume(returning: .failure(.ended)) }
    }

    @discardableResult
    func tell(_ event: RadioEvent) -> RadioAnswer {
        sink?.handle(event) ?? .none
    }

    func attempt(_ body: () async throws(RadioError) -> Void) async {
        do throws(RadioError) {
            try await body()
        } catch {
            logger.debug("left as it is", metadata: ["error": "\(error)"])
        }
    }

    /// Ends a link, to a central or to a peripheral.
    public func disconnect(_ peer: Peer.ID) async {
        guard let link = links.values.first(where: { $0.peer.id == peer }) else { return }
        await attempt { () throws(RadioError) in
            try await end(link.handle, .remoteUserTerminatedConnection)
        }
    }
}
