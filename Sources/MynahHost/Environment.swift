import Logging
import MynahCore
import MynahHCI
import MynahSupport

/// The environment of a radio: its transport, clock, executors and options.
struct Environment: Sendable {
    /// The executor of the radio and all its parts.
    let executor: RunExecutor
    /// The executor for tasks that call the radio.
    let tasks: RunTaskExecutor
    let transport: any HCITransport
    let options: HostRadioOptions
    let logger: Logger
    let clock: RunClock
    /// The source of keys, nonces and addresses.
    let random: SecurityRandom

    init(
        transport: any HCITransport, options: HostRadioOptions, logger: Logger, clock: RunClock,
        random: SecurityRandom = SecurityRandom()
    ) {
        executor = clock.virtual?.executor ?? RunExecutor()
        tasks = RunTaskExecutor(executor)
        self.transport = transport
        self.options = options
        self.logger = logger
        self.clock = clock
        self.random = random
    }

    /// The executor that tasks must prefer if the clock has virtual time, or `nil` for any other clock.
    var preferredExecutor: (any TaskExecutor)? { clock.taskExecutor }

    /// Starts a task for `work`, with the preferred executor.
    func task(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: preferredExecutor) { await work() }
    }

    /// Sleeps; returns `false` if the task was cancelled.
    func sleeps(for duration: Duration) async -> Bool { (try? await clock.sleep(for: duration)) != nil }

    /// The current time of the clock.
    func now() -> Duration { clock.now.offset }
}
