public import Logging
public import MynahCore
public import MynahHCI
import MynahSupport

/// A radio with Mynah's own host stack, on any controller that the HCI transport reaches.
///
/// The radio advertises exactly the bytes that it is given. It reports each subscriber, and a queue that is
/// full. It plays a peripheral, a central, or both on one controller.
///
/// The actor is the radio's executor and its life. Drivers that it owns do the work on that executor:
/// one for the controller, one for advertising, scanning and connecting, one for the links, and one for
/// their L2CAP channels.
public actor HostRadio: PeripheralRadio, CentralRadio {
    /// The options of a radio.
    public typealias Options = HostRadioOptions

    let environment: Environment
    let sinks = RadioSinks()
    let timer: HostTimer
    let controller: ControllerDriver
    let access: GenericAccess
    let links: LinkDriver
    var stage = Stage.stopped
    /// Calls that wait until Bluetooth is turned on or off, or `nil` if no change is under way.
    var powerWaiters: [CheckedContinuation<Void, Never>]?

    /// A radio that is not started; `clock` measures its deadlines.
    public init(
        transport: any HCITransport, options: Options = Options(),
        logger: Logger = Logger(label: "mynah.host"), clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            Environment(transport: transport, options: options, logger: logger, clock: RunClock(clock)))
    }

    init(_ environment: Environment) {
        self.environment = environment
        timer = HostTimer(environment)
        controller = ControllerDriver(environment, timer, sinks)
        access = GenericAccess(environment, timer, sinks, controller)
        links = LinkDriver(environment, timer, sinks, controller, access)
        controller.access = access
        controller.links = links
        access.links = links
        sinks.served = { [weak links] peer in links?.change { $0.served(peer, &$1) } }
    }

    /// The radio's phone and managers run on it too.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        environment.executor.asUnownedSerialExecutor()
    }
    /// An executor preference for a task that makes one call after the other: it continues on the executor of
    /// the answer, without a hop.
    package nonisolated var taskExecutor: any TaskExecutor { preferredExecutor ?? environment.tasks }
    /// The executor of a run with virtual time, or `nil`.
    public nonisolated var preferredExecutor: (any TaskExecutor)? { environment.preferredExecutor }
    /// The name of the radio, for people.
    package nonisolated var name: String { options.name }
    nonisolated var options: Options { environment.options }

    /// Calls a closure with the links on the radio's executor: in this call, or soon.
    nonisolated func perform(_ body: @escaping @Sendable (LinkDriver) -> Void) {
        environment.executor.perform { self.assumeIsolated { body($0.links) } }
    }

    // MARK: Time

    func wake(_ number: UInt64) {
        guard timer.woke(number) else { return }
        while let deadline = timer.takeDue() { expire(deadline) }
    }

    private func expire(_ deadline: HostDeadline) {
        switch deadline {
        case .command: controller.loseSilent()
        case .addressRotation: controller.drive { $0.expireAddress(at: $1, &$2) }
        case .connectionCancel: controller.drive { $0.expireConnectionCancel(at: $1, &$2) }
        case .linksEnd: links.stopWaitingForEnd()
        case .connect(let number): access.overdue(number)
        case .confirmation(let link): links.confirmationDue(link)
        case .signal(let link, let identifier): links.channels.signalDue(link, identifier)
        case .request(let link): links.requestDue(link)
        case .pairing(let link): links.pairingDue(link)
        }
    }
}
