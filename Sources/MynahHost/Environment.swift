import Logging
import MynahCore
import MynahHCI

/// The dependencies of a radio: transport, clock, executor and options.
struct Environment: Sendable {
    /// Runs the radio, its phone and its managers.
    let executor = HostExecutor()
    /// For tasks that go on where the radio's answers come.
    let tasks: HostTaskExecutor
    let transport: any HCITransport
    let options: HostRadioOptions
    let logger: Logger
    /// Waits; deadlines and recovery use it.
    let sleep: @Sendable (Duration) async throws -> Void
    /// The time since some fixed moment.
    let now: @Sendable () -> Duration

    init(
        transport: any HCITransport, options: HostRadioOptions, logger: Logger,
        sleep: @escaping @Sendable (Duration) async throws -> Void, now: @escaping @Sendable () -> Duration
    ) {
        tasks = HostTaskExecutor(executor)
        self.transport = transport
        self.options = options
        self.logger = logger
        self.sleep = sleep
        self.now = now
    }
}
