import Logging
import MynahCore
import MynahHCI
import MynahSupport

/// The dependencies of a radio: transport, clock, executor and options.
struct Environment: Sendable {
    /// Runs the radio, its phone and its managers.
    let executor: RunExecutor
    /// For tasks that go on where the radio's answers come.
    let tasks: RunTaskExecutor
    let transport: any HCITransport
    let options: HostRadioOptions
    let logger: Logger
    let clock: RunClock

    init(transport: any HCITransport, options: HostRadioOptions, logger: Logger, clock: RunClock) {
        executor = clock.virtual?.executor ?? RunExecutor()
        tasks = clock.virtual?.tasks ?? RunTaskExecutor(executor)
        self.transport = transport
        self.options = options
        self.logger = logger
        self.clock = clock
    }

    /// The time since the beginning of the clock.
    func now() -> Duration { clock.now.offset }
}
