public import Logging
public import MynahCore
public import MynahHCI
import MynahSupport

/// A radio with Mynah's own host stack, on any controller that an HCI transport reaches.
///
/// The radio advertises exactly the bytes that it is given. It reports each subscriber, and each full queue.
/// The radio can be a peripheral, a central, or both on one controller.
///
/// The actor starts and stops the radio, and runs on the radio's executor. Its drivers do the work on that
/// executor: one for the controller, one for advertising, scanning and connecting, one for ACL data, one for
/// L2CAP channels, one for pairing and encryption, and one for the links.
public actor HostRadio: PeripheralRadio, CentralRadio {
    /// The options of a radio.
    public typealias Options = HostRadioOptions

    let environment: Environment
    let drivers: HostDrivers
    var stage = Stage.stopped
    /// Calls of `setPower` that wait for an earlier call, or `nil` if no call is being carried out.
    var powerWaiters: [CheckedContinuation<Void, Never>]?

    /// Makes a radio that is not started; `clock` measures all its times.
    public init(
        transport: any HCITransport, options: Options = Options(),
        logger: Logger = Logger(label: "mynah.host"), clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            Environment(transport: transport, options: options, logger: logger, clock: RunClock(clock)))
    }

    init(_ environment: Environment) {
        self.environment = environment
        drivers = HostDrivers(environment)
    }

    var sinks: RadioSinks { drivers.sinks }
    var timer: HostTimer { drivers.timer }
    var controller: ControllerDriver { drivers.controller }
    var access: GenericAccess { drivers.access }
    var acl: ACLDriver { drivers.acl }
    var channels: ChannelDriver { drivers.channels }
    var security: SecurityDriver { drivers.security }
    var links: LinkDriver { drivers.links }

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        environment.executor.asUnownedSerialExecutor()
    }
    /// The executor that a task with many calls to the radio should prefer.
    ///
    /// After a call, the task then continues on the radio's thread, without a switch.
    package nonisolated var taskExecutor: any TaskExecutor { preferredExecutor ?? environment.tasks }
    /// The executor that tasks must prefer if the clock has virtual time, or `nil` for any other clock.
    public nonisolated var preferredExecutor: (any TaskExecutor)? { environment.preferredExecutor }
    /// The name of the radio in messages.
    package nonisolated var name: String { options.name }
    nonisolated var options: Options { environment.options }

    /// Runs a closure with the driver of the links on the radio's executor.
    ///
    /// The closure runs in this call, or on another thread that is running the radio.
    nonisolated func perform(_ body: @escaping @Sendable (LinkDriver) -> Void) {
        environment.executor.perform { self.assumeIsolated { body($0.links) } }
    }

    // MARK: Time

    func wake(_ number: UInt64) {
        guard timer.woke(number) else { return }
        while let deadline = timer.takeDue() { drivers.expire(deadline) }
    }
}
