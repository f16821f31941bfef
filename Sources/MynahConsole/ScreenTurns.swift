/// The times at which a live screen draws: never while the terminal belongs to the shell.
///
/// The type does no I/O.
///
/// A draw that is due when the process was stopped would paint an old frame over the shell's lines.
package struct ScreenTurns: Sendable {
    /// A draw that is to be asked for after a time.
    package struct Plan: Hashable, Sendable {
        package var milliseconds: Int
        /// A later plan makes this one void.
        package var turn: Int
    }

    private enum Pace: Comparable {
        case idle
        /// The content changes by itself.
        case slow
        /// Something happened.
        case soon
        /// The user waits for it.
        case now

        var milliseconds: Int {
            switch self {
            case .idle, .slow: 500
            case .soon: 80
            case .now: 0
            }
        }
    }

    /// The work at the time of a plan.
    package enum Due: Hashable, Sendable {
        case nothing
        case draw
        /// See whether the terminal is ours again: no signal says so when a shell brings a running job to the
        /// foreground.
        case look
    }

    private enum State: Hashable {
        case shown(Pace)
        case givenBack
        /// Continued without the terminal.
        case background(Pace)
        case ended
    }

    private var state = State.givenBack
    private var turn = 0

    package init() {}

    /// Something happened that is to be seen a moment later; `nil` if a draw as soon as that is planned.
    package mutating func change() -> Plan? { plan(.soon) }

    /// A key was typed or the size is another: drawn at once.
    package mutating func hurry() -> Plan? { plan(.now) }

    private mutating func plan(_ pace: Pace) -> Plan? {
        switch state {
        case .shown(let planned) where planned < pace: state = .shown(pace)
        case .background(let planned) where planned < pace: state = .background(pace)
        default: return nil
        }
        turn += 1
        return Plan(milliseconds: pace.milliseconds, turn: turn)
    }

    /// Returns the work at the time of a plan.
    package mutating func due(_ turn: Int) -> Due {
        guard turn == self.turn else { return .nothing }
        switch state {
        case .shown(let planned) where planned != .idle:
            state = .shown(.idle)
            return .draw
        case .background(let planned) where planned != .idle:
            state = .background(.idle)
            return .look
        default: return .nothing
        }
    }

    /// Whether the terminal is ours.
    package var isShown: Bool {
        if case .shown = state { true } else { false }
    }

    /// Notes that the screen was drawn; returns the next draw if the content changes by itself.
    package mutating func drawn(isMoving: Bool) -> Plan? { isMoving ? plan(.slow) : nil }

    /// The terminal is the shell's from now on: whether the screen is left.
    package mutating func giveBack() -> Bool {
        switch state {
        case .shown:
            state = .givenBack
            return true
        case .background:
            state = .givenBack
            return false
        case .givenBack, .ended: return false
        }
    }

    /// The process continues in the background.
    package mutating func continueWithoutTerminal() {
        if state == .givenBack { state = .background(.idle) }
    }

    /// Returns the plan of the first draw after the program has got the terminal, at the start or again, or
    /// `nil` after the end.
    ///
    /// The screen is entered before this draw.
    ///
    /// The screen is entered even if it was shown already: the process may have been stopped without notice,
    /// and the shell has left the screen then.
    package mutating func enterScreen() -> Plan? {
        guard state != .ended else { return nil }
        state = .shown(.idle)
        return plan(.now)
    }

    /// Ends drawing.
    ///
    /// Returns `true` if the screen has to be left.
    package mutating func end() -> Bool {
        defer { state = .ended }
        if case .shown = state { return true }
        return false
    }
}
