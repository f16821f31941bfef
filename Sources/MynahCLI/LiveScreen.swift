// A source can be made and ended on any thread; only its type does not declare that.
@preconcurrency import Dispatch
import MynahConsole
import MynahEmulator
import MynahSupport

import Glibc

/// A screen on a terminal, which is redrawn shortly after each change.
final class LiveScreen<Model: LiveModel>: Sendable {
    private struct State {
        var model: Model
        var turns = ScreenTurns()
        var notes = ScreenNotes()
    }

    private let state: Lock<State>
    /// The queue for all output, which keeps it in order.
    private let queue = DispatchQueue(label: "mynah.screen")
    private let keyboard: Keyboard
    private let resizes: any DispatchSourceSignal

    init(_ model: Model, keyboard: Keyboard) {
        self.keyboard = keyboard
        state = Lock(State(model: model))
        resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: queue)
        resizes.setEventHandler { [weak self] in self?.hurry() }
        resizes.activate()
        keyboard.onKey { [weak self] in self?.hurry() }
        StandardError.divert { [weak self] in self?.note($0) }
        enterScreen()
    }

    /// Changes the model, and schedules a redraw.
    func change(_ change: @Sendable (inout Model) -> Void) {
        plan(
            state.withLock { state in
                change(&state.model)
                return state.turns.change()
            })
    }

    /// Shows a message at the bottom, which stays on the terminal after the end.
    private func note(_ text: String) {
        plan(
            state.withLock { state in
                state.notes.add(text)
                return state.turns.change()
            })
    }

    private func hurry() { plan(state.withLock { $0.turns.hurry() }) }

    /// Restores the terminal, and prints the summary and the last messages.
    func end() {
        StandardError.divert(to: nil)
        keyboard.end()
        resizes.cancel()
        let (isShown, summary, notes) = state.withLock { state in
            (state.turns.end(), state.model.summary(width: Self.size.width), state.notes.last)
        }
        write((isShown ? Self.leaving : "") + summary.joined(separator: "\n") + "\n", waits: true)
        for note in notes { StandardError.print(note) }
    }

    /// The functions that restore and set the terminal when the process stops and continues.
    var use: Signals.TerminalUse {
        .init(giveBack: { self.giveBack() }, takeAgain: { self.takeAgain() })
    }

    private static var leaving: String { "\u{1B}[?25h\u{1B}[?1049l" }

    private func enterScreen() {
        guard let first = state.withLock({ $0.turns.enterScreen() }) else { return }
        write("\u{1B}[?1049h\u{1B}[?25l")
        plan(first)
    }

    private func takeAgain() {
        if keyboard.takeAgain() {
            enterScreen()
        } else {
            state.withLock { $0.turns.continueWithoutTerminal() }
        }
    }

    /// Restores the terminal.
    private func giveBack() {
        if state.withLock({ $0.turns.giveBack() }) { write(Self.leaving, waits: true) }
        keyboard.giveBack()
    }

    private func write(_ text: String, waits: Bool = false) {
        let isWritten = DispatchSemaphore(value: 0)
        queue.async {
            Descriptor.write(Array(text.utf8), to: 1)
            isWritten.signal()
        }
        // A terminal that accepts no output, as after Ctrl-S, must not keep the process from ending.
        if waits { _ = isWritten.wait(timeout: .now() + .seconds(1)) }
    }

    private static var size: (width: Int, height: Int) {
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
    }

    private func plan(_ plan: ScreenTurns.Plan?) {
        guard let plan else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(plan.milliseconds)) { [weak self] in
            self?.draw(plan.turn)
        }
    }

    private func draw(_ turn: Int) {
        let (width, height) = Self.size
        let due = state.withLock { $0.turns.due(turn) }
        if due == .look, keyboard.takeAgain() { enterScreen() }
        guard due == .draw else { return }
        let drawing: (lines: [String], next: ScreenTurns.Plan?)? = state.withLock { state in
            guard state.turns.isShown else { return nil }
            let notes = state.notes.bottom(height: height).map { ScreenLine.cut($0, width) }
            let room = height - notes.count
            let lines = state.model.lines(width: width, height: room, now: .now(), digits: keyboard.digits)
            // A displayed rate falls without an event.
            let next = state.turns.drawn(isMoving: state.model.isMoving(now: .now()))
            return (lines.prefix(room) + notes, next)
        }
        guard let drawing else { return }
        var text = "\u{1B}[H"
        for (index, line) in drawing.lines.enumerated() {
            text += line + "\u{1B}[K" + (index + 1 < height ? "\r\n" : "")
        }
        text += "\u{1B}[J"
        Descriptor.write(Array(text.utf8), to: 1)
        plan(drawing.next)
    }
}
