import MynahCore

/// The stages of a radio between its start and its stop.
enum RadioStage {
    /// The data of a radio from one start to its stop.
    struct Session {
        let identity: DeviceIdentity
        let sink: any RadioSink
        /// The `RadioSink` that answers reads and writes.
        var requestSink: any RadioSink
        /// The number of the start, by which late results of an earlier start are recognized.
        let epoch: UInt64
    }

    /// The radio is stopped, or was never started; `epoch` is the number of the last start, or 0.
    case stopped(epoch: UInt64)
    case starting(Session)
    case started(Session)
    case stopping(Session)

    private var session: Session? {
        switch self {
        case .stopped: nil
        case .starting(let session), .started(let session), .stopping(let session): session
        }
    }

    /// The `RadioSink` that handles all events but reads and writes, or `nil` if the radio is stopped.
    var sink: (any RadioSink)? { session?.sink }

    /// The `RadioSink` that answers reads and writes, or `nil` if the radio is stopped.
    var requestSink: (any RadioSink)? { session?.requestSink }

    /// Sets the `RadioSink` that answers reads and writes.
    ///
    /// If `sink` is `nil`, the sink of all other events answers them too.
    mutating func setRequestSink(_ sink: (any RadioSink)?) {
        guard case .started(var session) = self else { return }
        session.requestSink = sink ?? session.sink
        self = .started(session)
    }

    /// The number of the current start, or of the last one if the radio is stopped.
    var epoch: UInt64 {
        if case .stopped(let epoch) = self { epoch } else { session?.epoch ?? 0 }
    }

    /// Begins the start.
    ///
    /// Throws `invalidState` if the radio is not stopped.
    mutating func start(_ identity: DeviceIdentity, _ sink: any RadioSink) throws(RadioError) {
        guard case .stopped(let last) = self else {
            throw RadioError(.invalidState, "the radio has been started already")
        }
        self = .starting(Session(identity: identity, sink: sink, requestSink: sink, epoch: last + 1))
    }

    /// Handles the completion of the start.
    mutating func started() {
        if case .starting(let session) = self { self = .started(session) }
    }

    /// Begins to stop; returns `false` if the radio is stopped or stopping.
    mutating func stop() -> Bool {
        switch self {
        case .stopped, .stopping: return false
        case .starting(let session), .started(let session):
            self = .stopping(session)
            return true
        }
    }

    /// Handles the completion of the stop.
    mutating func stopped() {
        self = .stopped(epoch: epoch)
    }
}
