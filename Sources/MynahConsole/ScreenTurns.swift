/// The times at which a live screen draws: never while the terminal belongs to the shell.
///
/// This type does no I/O.
///
/// A draw that was due while the process was stopped would overwrite the shell's lines.
package struct ScreenTurns: Sendable {
    /// A drawing that is planned after a delay.
    package struct Plan: Hashable, Sendable {
        package var milliseconds: Int
        /// The number of the plan; a later plan cancels it.
        package var turn: Int
    }

    private enum Pace: Comparable {
        case idle
        /// The content changes without an event.
        case slow
        /// Something happened.
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

    /// The work that is due at the time of a plan.
    package enum Due: Hashable, Sendable {
        case nothing
        case draw
        /// Check whether the terminal belongs to this process again, because no signal tells that a shell
        /// brings a running job to the foreground.
        case look
    }

    private enum State: Hashable {
        case shown(Pace)
        case givenBack
        /// The process has continued without the terminal.
        case background(Pace)
        case ended
    }

    private var state = State.givenBack
    private var turn = 0

    package init() {}

    /// Plans a drawing soon after a change; returns `nil` if one is planned already.
    package mutating func change() -> Plan? { plan(.soon) }

    /// Plans a drawing at once, because a key was typed or the size has changed.
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

    /// Whether the terminal belongs to this process.
    package var isShown: Bool {
        if case .shown = state { true } else { false }
    }

    /// Notes that the screen was drawn; returns the plan of the next drawing if the content changes without
    /// an event.
    package mutating func drawn(isMoving: Bool) -> Plan? { isMoving ? plan(.slow) : nil }

    /// Gives the terminal to the shell; returns whether the screen has to be left.
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

    /// Notes that the process continues in the background.
    package mutating func continueWithoutTerminal() {
        if state == .givenBack { state = .background(.idle) }
    }

    /// Returns the plan of the first drawing after the process has got the terminal, or `nil` after the end.
    ///
    /// The screen must be entered before this drawing.
    ///
    /// This is necessary even if the screen was shown before: the process may have been stopped without
    /// notice, and then the shell has left the screen.
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
