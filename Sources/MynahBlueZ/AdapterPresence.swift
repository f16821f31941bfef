import MynahCore

/// Tracks whether bluetoothd and its adapter can be used, and decides what to do when that changes.
///
/// This state machine has no I/O: an `AdapterSession` reports changes to it, and the radio carries out its
/// actions.
struct AdapterPresence {
    /// The reason why the radio cannot be used.
    enum Cause: Hashable {
        /// bluetoothd or the bus has ended.
        case daemon
        /// The adapter was removed.
        case adapter
        /// The adapter was turned off.
        case power

        /// The radio's state while it cannot be used for this reason.
        var state: RadioState {
            switch self {
            case .daemon: .resetting
            case .adapter: .unsupported
            case .power: .poweredOff
            }
        }

        /// The error that is reported for this reason.
        var error: RadioError {
            switch self {
            case .daemon:
                RadioError(
                    .lost, "bluetoothd is gone",
                    remedy: "Mynah uses it again when it is back: sudo systemctl start bluetooth")
            case .adapter:
                RadioError(.lost, "the adapter is gone", remedy: "Mynah uses it again when it is back")
            case .power:
                RadioError(.lost, "the adapter was turned off", remedy: "bluetoothctl power on")
            }
        }
    }

    enum State: Hashable {
        /// The radio is stopped, is starting or is stopping; changes cause no action.
        case idle
        /// The radio is started, and can use bluetoothd and the adapter.
        case present
        /// The radio cannot be used for this reason, and waits until it can be used again.
        case lost(Cause)
        /// The radio can be used again, and registers everything with bluetoothd again.
        ///
        /// The epoch distinguishes this recovery from an earlier one that ends late.
        case recovering(Cause, epoch: Int)
    }

    enum Input: Hashable {
        /// The radio has started.
        case begin
        /// The radio stops.
        case end
        /// The reason why the adapter cannot be used, or `nil` if it can.
        case missing(Cause?)
        case recovered(epoch: Int)
        case recoveryFailed(epoch: Int)
    }

    enum Action: Hashable {
        /// Discard the state that was lost with bluetoothd, the adapter or its power, beginning with the
        /// links.
        case forget(Cause)
        case reportLost(Cause)
        case reportState(RadioState)
        case reportRecovered
        case perform(RecoveryJob)
        /// Call `AdapterSession.retry` after this time.
        case retry(after: Duration)
    }

    private(set) var state = State.idle
    private var missing: Cause?
    private var epoch = 0

    mutating func handle(_ input: Input) -> [Action] {
        switch (state, input) {
        case (.idle, .begin):
            state = .present
            return [.reportState(.poweredOn)] + lookAgain()
        case (_, .end):
            state = .idle
            return []
        case (_, .missing(let cause)):
            missing = cause
            return lookAgain()
        case (.recovering(_, let current), .recovered(let epoch)) where epoch == current:
            state = .present
            return [.reportState(.poweredOn), .reportRecovered] + lookAgain()
        case (.recovering(let cause, let current), .recoveryFailed(let epoch)) where epoch == current:
            state = .lost(cause)
            return [.retry(after: .seconds(1))]
        default:
            return []
        }
    }

    private mutating func lookAgain() -> [Action] {
        switch state {
        case .idle:
            return []
        case .present:
            guard let missing else { return [] }
            state = .lost(missing)
            return [.forget(missing), .reportLost(missing), .reportState(missing.state)]
        case .lost(let cause):
            // While bluetoothd starts, its adapters first appear and are then powered: that is not a new
            // state.
            let isWorse = missing == .daemon && cause != .daemon || missing == .adapter && cause == .power
            guard !isWorse else { return worsen() }
            guard missing == nil || missing == .power && cause != .power else { return [] }
            epoch += 1
            state = .recovering(cause, epoch: epoch)
            return [.perform(.registerAll(epoch: epoch))]
        case .recovering(let cause, _):
            // While bluetoothd starts, the adapter may be powered later; the recovery itself turns it on.
            guard let missing, missing != .power || cause == .power else { return [] }
            guard missing == .daemon && cause != .daemon || missing == .adapter && cause == .power else {
                state = .lost(cause)
                return [.forget(missing)]
            }
            return worsen()
        }
    }

    private mutating func worsen() -> [Action] {
        guard let missing else { return [] }
        state = .lost(missing)
        return [.forget(missing), .reportState(missing.state)]
    }
}
