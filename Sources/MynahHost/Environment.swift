import Logging
import MynahCore
import MynahHCI

/// What a radio runs in.
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

/// What a radio waits for, by time.
enum HostDeadline: Hashable {
    /// The controller has to answer a command.
    case command
    /// The own address changes.
    case addressRotation
    /// The controller has to report that it stopped initiating.
    case connectionCancel
    /// Links that were asked to end have to be gone.
    case linksEnd
    /// A connection is given up.
    case connect(UInt64)
    /// A central has to confirm an indication (Vol 3, Part F, 3.3.3).
    case confirmation(ConnectionHandle)
    /// A peer has to answer an L2CAP signal.
    case signal(ConnectionHandle, UInt8)
    /// Pairing has to go on.
    case pairing(ConnectionHandle)
    /// A server has to answer a request.
    case request(ConnectionHandle)
}

/// How far a radio's life is.
struct Life {
    enum Stage {
        case stopped
        case starting
        case running
        /// The controller is gone, and is looked for again.
        case lost
        /// It is there again, and is brought up.
        case recovering
    }

    var stage = Stage.stopped
    /// What the peripheral's half reports to, or `nil` if it is not started.
    var sink: (any RadioSink)?
    /// What the central's half reports to, or `nil` if it is not started.
    var centralSink: (any CentralSink)?
    /// Changes with each transport that is opened, so that what an earlier one delivers late is dropped.
    var epoch = 0
    /// Why the controller was lost last.
    var loss: RadioError?
    /// Looks for a controller that was lost.
    var recovery: Task<Void, Never>?

    var isRunning: Bool { stage == .running }
    /// Whether a controller is at the other end.
    var isAttached: Bool { stage == .starting || stage == .running || stage == .recovering }
}

/// The calls that wait for something.
struct Waiters {
    struct Connection {
        var continuation: CheckedContinuation<Result<Peer, RadioError>, Never>
        /// The error if its time is over.
        var overdue: RadioError
    }

    typealias Sent = CheckedContinuation<Result<Void, RadioError>, Never>

    var bringUp: CheckedContinuation<Result<Void, RadioError>, Never>?
    /// For the answer to a command, by the number of the call.
    var commands: [UInt64: CheckedContinuation<Result<[UInt8], RadioError>, Never>] = [:]
    /// For the advertiser or the scanner to have nothing under way.
    var settled: [ControllerSession.Sender: [CheckedContinuation<Void, Never>]] = [:]
    /// For a connection, by the number of the request.
    var connections: [UInt64: Connection] = [:]
    /// For a link to be secured, by the number of the call.
    private(set) var pairings: [UInt64: CheckedContinuation<Result<Void, RadioError>, Never>] = [:]
    private var lastPairing: UInt64 = 0
    /// For an L2CAP channel to open, by the number of the call.
    var channels: [UInt64: CheckedContinuation<Result<ChannelEnd, RadioError>, Never>] = [:]
    /// For a central to answer a request for connection parameters, by the number of the call.
    var parameters: [UInt64: CheckedContinuation<Result<Bool, RadioError>, Never>] = [:]
    /// For the next SDU of an L2CAP channel.
    var channelReaders: [ChannelKey: CheckedContinuation<[UInt8]?, Never>] = [:]
    /// For SDUs to be on their way over an L2CAP channel.
    var channelWriters: [ChannelKey: [Sent]] = [:]
    /// For all links to end.
    var linksEnded: [CheckedContinuation<Void, Never>] = []

    mutating func endBringUp(_ result: Result<Void, RadioError>) {
        let waiter = bringUp
        bringUp = nil
        waiter?.resume(returning: result)
    }

    mutating func answered(_ call: UInt64, _ result: Result<[UInt8], RadioError>) {
        commands.removeValue(forKey: call)?.resume(returning: result)
    }

    mutating func settle(_ sender: ControllerSession.Sender) {
        guard !settled.isEmpty, let all = settled.removeValue(forKey: sender) else { return }
        for waiter in all { waiter.resume() }
    }

    mutating func endConnection(_ number: UInt64, _ result: Result<Peer, RadioError>) {
        connections.removeValue(forKey: number)?.continuation.resume(returning: result)
    }

    /// Adds a call that waits for a link to be secured, and returns its number.
    mutating func add(_ pairing: CheckedContinuation<Result<Void, RadioError>, Never>) -> UInt64 {
        lastPairing += 1
        pairings[lastPairing] = pairing
        return lastPairing
    }

    mutating func endPairings(_ calls: [UInt64], _ error: RadioError?) {
        for call in calls {
            pairings.removeValue(forKey: call)?.resume(returning: error.map { .failure($0) } ?? .success(()))
        }
    }

    mutating func endLinks() {
        let all = linksEnded
        linksEnded = []
        for waiter in all { waiter.resume() }
    }
}
