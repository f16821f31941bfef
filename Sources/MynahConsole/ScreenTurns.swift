/// Decides when a live screen is drawn: never while the terminal belongs to the shell.
///
/// This state machine has no I/O. If the process was stopped (Ctrl-Z), a drawing that was planned before
/// could otherwise overwrite the shell's lines.
package struct ScreenTurns: Sendable {
    /// A plan to draw after a delay.
    package struct Plan: Hashable, Sendable {
        package var milliseconds: Int
        /// The number of the plan, which is invalid after a later plan.
        package var turn: Int
    }

    private enum Pace: Comparable {
        case idle
        /// The content changes with time.
        case slow
        /// The content has changed after an event.
        case soon
        /// The user waits for the drawing.
        case now

        var milliseconds: Int {
            switch self {
            case .idle, .slow: 500
            case .soon: 80
            case .now: 0
            }
        }
    }

    /// The work to do at the time of a plan.
    package enum Due: Hashable, Sendable {
        case nothing
        case draw
        /// Check whether the terminal belongs to this process again.
        ///
        /// There is no signal when a shell brings a running job to the foreground.
        case look
    }

    private enum State: Hashable {
        case shown(Pace)
        case givenBack
        /// The process runs in the background, without the terminal.
        case background(Pace)
        case ended
    }

    private var state = State.givenBack
    private var turn = 0

    package init() {}

    /// Plans a drawing 80 ms after a change; returns `nil` if an earlier drawing is already planned.
    package mutating func change() -> Plan? { plan(.soon) }

    /// Plans an immediate drawing, for a typed key or a new size of the terminal.
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

    /// Returns the work to do at the time of the plan with this number.
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

    /// Whether the terminal belongs to this process.
    package var isShown: Bool {
        if case .shown = state { true } else { false }
    }

    /// Handles a drawing; returns a plan for the next one if the content changes with time.
    package mutating func drawn(isMoving: Bool) -> Plan? { isMoving ? plan(.slow) : nil }

    /// Gives the terminal to the shell; returns `true` if the caller must leave the screen.
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

    /// Handles the continuation of the process in the background.
    package mutating func continueWithoutTerminal() {
        if state == .givenBack { state = .background(.idle) }
    }

    /// Returns the plan of the first drawing with the terminal, or `nil` after the end.
    ///
    /// The caller must enter the screen before this drawing, even if the screen was shown before. The process
    /// may have been stopped without notice, and then the shell has left the screen.
    package mutating func enterScreen() -> Plan? {
        guard state != .ended else { return nil }
        state = .shown(.idle)
        return plan(.now)
    }

    /// Ends drawing; returns `true` if the caller must leave the screen.
    package mutating func end() -> Bool {
        defer { state = .ended }
        if case .shown = state { return true }
        return false
    }
}
