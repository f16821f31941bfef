public import Logging
public import MynahCore
public import MynahHCI
import MynahSupport

/// A radio of our own: a host stack over HCI, on whatever controller the transport reaches.
///
/// Advertising goes out byte for byte, subscribers have names, and what does not fit into the controller's buffers is felt
/// as back-pressure. It plays a peripheral, a central, or both on one controller.
///
/// The actor is a driver: it passes what happens to its parts and carries out the actions that they return.
public actor HostRadio: PeripheralRadio, CentralRadio {
    /// What can be chosen.
    public typealias Options = HostRadioOptions

    let environment: Environment
    var life = Life()
    var waiters = Waiters()
    var deadlines = Deadlines<HostDeadline>()
    var timer = DeadlineTimer()
    var controller: ControllerSession
    var reports = ReportAssembler()
    var peers = PeerAddresses()

    var outbound: Outbound
    var links = LinkTable()
    var server: GATTServer
    /// Empty, with room for actions, so that a request costs no array.
    var serverActions: [GATTServer.Action] = []
    var security: SecurityManager
    var gatt: GATTClient
    var l2cap: L2CAPManager

    /// A radio that is not started; `sleep` and `now` are its time.
    public init(
        transport: any HCITransport, options: Options = Options(),
        logger: Logger = Logger(label: "mynah.host"),
        // Deadlines and recovery use it; a test moves the time by hand.
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        now: @escaping @Sendable () -> Duration = HostRadio.uptime
    ) {
        environment = Environment(
            transport: transport, options: options, logger: logger, sleep: sleep, now: now)
        controller = ControllerSession(name: options.controller, timeout: options.commandTimeout)
        outbound = Outbound(limit: options.queueLimit)
        l2cap = L2CAPManager(timeout: options.transactionTimeout)
        server = GATTServer(timeout: options.transactionTimeout)
        security = SecurityManager(
            .init(
                isPairable: options.isPairable, hasSecureConnections: options.hasSecureConnections,
                file: options.bonds?.path))
        gatt = GATTClient(timeout: options.transactionTimeout)
    }

    private static let start = ContinuousClock.now

    /// The time since the first radio of this process asked.
    public static let uptime: @Sendable () -> Duration = { ContinuousClock.now - start }

    /// The radio's phone and managers run on it too.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        environment.executor.asUnownedSerialExecutor()
    }
    /// For a task that asks one thing after the other: with this preference it goes on where the answer comes, without a hop.
    public nonisolated var taskExecutor: any TaskExecutor { environment.tasks }
    /// The name of the radio, for people.
    public nonisolated var name: String { options.name }

    nonisolated var options: Options { environment.options }
    nonisolated var logger: Logger { environment.logger }
    /// The address that is on the air, or `nil` if none is.
    var ownAddress: DeviceAddress? { controller.address.current }

    // MARK: What happens

    @discardableResult
    func tell(_ event: RadioEvent) -> RadioAnswer {
        life.sink?.handle(event) ?? .none
    }

    @discardableResult
    func tellCentral(_ event: CentralEvent) -> RadioAnswer {
        life.centralSink?.handle(event) ?? .none
    }

    func warn(_ code: String, _ message: String) {
        let warning = RadioWarning(code, message)
        if life.sink == nil { tellCentral(.warning(warning)) } else { tell(.warning(warning)) }
    }

    // MARK: Time

    func now() -> Duration { environment.now() }

    /// Sleeps until the earliest deadline.
    func armTimer() {
        guard timer.needs(deadlines.wakeTime) else { return }
        timer.arm(deadlines.wakeTime, now: environment.now, sleep: environment.sleep) { [weak self] number in
            await self?.wake(number)
        }
    }

    private func wake(_ number: UInt64) {
        guard timer.woke(number) else { return }
        while let deadline = deadlines.takeDue(at: now()) { expire(deadline) }
        armTimer()
    }

    private func expire(_ deadline: HostDeadline) {
        switch deadline {
        case .command: loseSilentController()
        case .addressRotation: drive { $0.expireAddress(at: $1, &$2) }
        case .connectionCancel: drive { $0.expireConnectionCancel(at: $1, &$2) }
        case .linksEnd: waiters.endLinks()
        case .connect(let number): connectOverdue(number)
        case .confirmation(let handle): serve { $0.confirmationDue(handle, at: now(), &$2) }
        case .signal(let link, let identifier): changeL2CAP { $0.expire(identifier, on: link, &$2) }
        case .request(let handle): changeClient(handle) { client, _ in client.expire(handle, at: now()) }
        case .pairing(let handle): secure(handle) { $0.expire(handle, at: $1, &$2) }
        }
    }
}
