import MynahCore

/// Whether bluetoothd and its adapter are there, and what is to be done when they go and come back.
///
/// Pure: facts in, actions out. The radio starts and stops it, and carries the actions out.
struct RadioLife {
    /// Why the radio cannot be used.
    enum Cause: Hashable {
        /// bluetoothd, or the bus, is gone.
        case daemon
        /// The adapter is gone.
        case adapter
        /// Somebody turned the adapter off.
        case power

        /// The Bluetooth state that goes with it, in Apple's words.
        var state: RadioState {
            switch self {
            case .daemon: .resetting
            case .adapter: .unsupported
            case .power: .poweredOff
            }
        }
    }

    enum State: Hashable {
        case stopped
        case starting
        case running
        /// Waits for what is missing.
        case lost(Cause)
        /// Registers everything again; the number tells a late end of an earlier attempt from this one's.
        case recovering(Cause, attempt: Int)
        case stopping
    }

    enum Input: Hashable {
        case start
        case started
        case stop
        case stopped
        /// What is missing now; nil: nothing.
        case missing(Cause?)
        case recovered(attempt: Int)
        case recoveryFailed(attempt: Int)
        /// The pause after a failed attempt is over.
        case retry
    }

    enum Action: Hashable {
        /// Everything that hung on what is gone is forgotten, links first.
        case forget(Cause)
        case tellLost(Cause)
        case tellState(RadioState)
        case recover(attempt: Int)
        case pause
        case tellRecovered
    }

    private(set) var state = State.stopped
    private var missing: Cause?
    private var attempts = 0

    mutating func handle(_ input: Input) -> [Action] {
        switch (state, input) {
        case (.stopped, .start):
            state = .starting
            return []
        case (_, .stop):
            state = .stopping
            return []
        case (.stopping, .stopped), (.starting, .stopped):
            state = .stopped
            return []
        case (.starting, .started):
            state = .running
            return [.tellState(.poweredOn)] + lookAgain()
        case (_, .missing(let cause)):
            missing = cause
            return lookAgain()
        case (.recovering(_, let current), .recovered(let attempt)) where attempt == current:
            state = .running
            return [.tellState(.poweredOn), .tellRecovered] + lookAgain()
        case (.recovering(let cause, let current), .recoveryFailed(let attempt)) where attempt == current:
            state = .lost(cause)
            return [.pause]
        case (.lost, .retry):
            return lookAgain()
        default:
            return []
        }
    }

    private mutating func lookAgain() -> [Action] {
        switch state {
        case .stopped, .starting, .stopping:
            return []
        case .running:
            guard let missing else { return [] }
            state = .lost(missing)
            return [.forget(missing), .tellLost(missing), .tellState(missing.state)]
        case .lost(let cause):
            // While a daemon starts, its adapters come and are powered one after the other: that is no new state.
            let isWorse = missing == .daemon && cause != .daemon || missing == .adapter && cause == .power
            guard !isWorse else { return worsen() }
            guard missing == nil || missing == .power && cause != .power else { return [] }
            attempts += 1
            state = .recovering(cause, attempt: attempts)
            return [.recover(attempt: attempts)]
        case .recovering(let cause, _):
            // Power may come late while a daemon starts; the attempt itself turns it on.
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
        return [.forget(missing), .tellState(missing.state)]
    }
}
