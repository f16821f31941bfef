public import Logging
public import MynahCore
public import MynahHCI
import MynahSupport

/// A radio of our own: a host stack over HCI, on whatever controller the transport reaches.
///
/// Advertising goes out byte for byte, subscribers have names, and what does not fit into the controller's buffers is felt
/// as back-pressure.
public actor HostRadio: PeripheralRadio {
    /// What can be chosen.
    public struct Options: Sendable {
        /// The name of the radio, for people.
        public var name = "own host"
        /// The address to be known by; nil: the controller's public one, or a static random one where it has none.
        public var address: DeviceAddress?
        /// How long a controller may take to answer a command.
        public var commandTimeout: Duration = .seconds(5)
        /// How long a central may take to confirm an indication (Vol 3, Part F, 3.3.3).
        public var transactionTimeout: Duration = .seconds(30)
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
        case lost
    }

    let transport: any HCITransport
    let options: Options
    let logger: Logger
    let sleep: @Sendable (Duration) async throws -> Void
    var state = State.stopped
    var sink: (any RadioSink)?
    var identity = DeviceIdentity(name: "")
    var capabilities = RadioCapabilities(name: "own host")
    var commands = CommandQueue()
    var waiters: [UInt64: CheckedContinuation<Result<[UInt8], HCICommandError>, Never>] = [:]
    var data = DataQueue()
    var links: [UInt16: Link] = [:]
    var lastPeer: UInt32 = 0
    var database = AttributeDatabase()
    var batches: [PublishedServices.ID: Batch] = [:]
    var lastBatch: UInt32 = 0
    /// The properties of published characteristics, by key.
    var properties: [AttributeKey: CharacteristicProperties] = [:]
    var advertisement: Advertisement?
    var isFull = false
    var ownAddress: DeviceAddress?
    var serviceChanged: AttributeKey?
    /// Changes with each start, so that a late timeout says nothing of a later run.
    var run = 0

    /// A radio that is not started; `sleep` moves its time.
    public init(
        transport: any HCITransport, options: Options = Options(),
        logger: Logger = Logger(label: "mynah.host"),
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.transport = transport
        self.options = options
        self.logger = logger
        self.sleep = sleep
    }

    // MARK: Start and stop

    /// Opens the transport and brings the controller up.
    public func start(
        _ identity: DeviceIdentity, sink: any RadioSink
    ) async throws(RadioError) -> RadioCapabilities {
        guard case .stopped = state else {
            throw RadioError(.invalidState, "the radio has been started already")
        }
        state = .starting
        run += 1
        let run = run
        let inbox = PacketInbox()
        self.identity = identity
        self.sink = sink
        do throws(RadioError) {
            try await transport.open(
                receive: { [weak self] packet in
                    guard let self, inbox.append(packet) else { return }
                    Task { await self.empty(inbox, run) }
                },
                ended: { [weak self] error in
                    guard let self else { return }
                    Task { await self.transportEnded(error, run) }
                })
            try await bringUp()
        } catch {
            await stop()
            throw error
        }
        publishOwnServices()
        capabilities.name = options.name
        capabilities.keepsInterval = true
        state = .running
        tell(.stateChanged(.poweredOn))
        return capabilities
    }

    /// Stops advertising, ends every link and closes the transport.
    public func stop() async {
        guard state != .stopped else { return }
        if state == .running {
            await attempt { () throws(RadioError) in try await setAdvertising(false) }
            for handle in links.keys.sorted() {
                await attempt { () throws(RadioError) in
                    try await self.end(handle, .remoteUserTerminatedConnection)
                }
            }
        }
        state = .stopped
        transport.close()
        failWaiters()
        forgetLinks(isTold: false)
        commands = CommandQueue()
        data = DataQueue()
        database = AttributeDatabase()
        batches = [:]
        properties = [:]
        advertisement = nil
        isFull = false
        sink = nil
    }

    private func empty(_ inbox: PacketInbox, _ run: Int) {
        while true {
            let packets = inbox.takeAll()
            guard !packets.isEmpty else { return }
            for packet in packets { take(packet, run) }
        }
    }

    private func transportEnded(_ error: RadioError?, _ run: Int) {
        guard run == self.run, state == .running || state == .starting else { return }
        let wasRunning = state == .running
        state = .lost
        failWaiters()
        guard wasRunning else { return }
        forgetLinks(isTold: true)
        tell(.lost(error ?? RadioError(.lost, "the controller is gone: its transport was closed")))
        tell(.stateChanged(.unsupported))
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

    /// Ends a central's link.
    public func disconnect(_ central: Peer.ID) async {
        guard let link = links.values.first(where: { $0.peer.id == central }) else { return }
        await attempt { () throws(RadioError) in
            try await end(link.handle, .remoteUserTerminatedConnection)
        }
    }
}
