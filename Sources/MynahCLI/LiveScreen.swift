// A source is made and ended from any thread; only its type does not say so.
@preconcurrency import Dispatch
import MynahConsole
import MynahEmulator
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A screen on a terminal: drawn anew a moment after something happened, and not at all while nothing does.
final class LiveScreen<Model: LiveModel>: Sendable {
    private struct State {
        var model: Model
        var isDrawPlanned = false
        var isEnded = false
    }

    private let state: Lock<State>
    private let queue = DispatchQueue(label: "mynah.screen")
    private let keyboard: Keyboard
    private let resizes: any DispatchSourceSignal

    init(_ model: Model, keyboard: Keyboard) {
        self.keyboard = keyboard
        state = Lock(State(model: model))
        resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: queue)
        Self.takeScreen()
        resizes.setEventHandler { [weak self] in self?.draw() }
        resizes.activate()
        keyboard.onKey { [weak self] in self?.planDraw(after: .milliseconds(0)) }
        planDraw(after: .milliseconds(0))
    }

    /// Changes what is shown.
    func take(_ change: @Sendable (inout Model) -> Void) {
        let isNew: Bool = state.withLock { state in
            change(&state.model)
            guard !state.isDrawPlanned, !state.isEnded else { return false }
            state.isDrawPlanned = true
            return true
        }
        if isNew { planDraw(after: .milliseconds(80)) }
    }

    /// Gives the terminal back and leaves the last lines on it.
    func end() {
        keyboard.end()
        resizes.cancel()
        let last: [String] = state.withLock { state in
            state.isEnded = true
            return state.model.summary(width: Self.size.width)
        }
        queue.sync {}
        giveTerminalBack()
        Descriptor.write(Array((last.joined(separator: "\n") + "\n").utf8), to: 1)
    }

    /// How it is used, for whoever hears the signals that end and stop the process.
    var use: Interruption.TerminalUse {
        .init(giveBack: { self.giveTerminalBack() }, takeAgain: { self.takeTerminalAgain() })
    }

    private static func takeScreen() {
        Descriptor.write(Array("\u{1B}[?1049h\u{1B}[?25l".utf8), to: 1)
    }

    private func takeTerminalAgain() {
        guard keyboard.takeAgain() else { return }
        Self.takeScreen()
        planDraw(after: .milliseconds(0))
    }

    /// Puts the terminal back as it was found.
    private func giveTerminalBack() {
        Descriptor.write(Array("\u{1B}[?25h\u{1B}[?1049l".utf8), to: 1)
        keyboard.giveBack()
    }

    private static var size: (width: Int, height: Int) {
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
    }

    private func planDraw(after delay: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.draw() }
    }

    private func draw() {
        let (width, height) = Self.size
        let drawing: (lines: [String], again: Bool)? = state.withLock { state in
            state.isDrawPlanned = false
            guard !state.isEnded else { return nil }
            let lines = state.model.lines(width: width, height: height, now: .now(), digits: keyboard.digits)
            // A rate goes down without an event.
            let isMoving = state.model.isMoving(now: .now())
            if isMoving { state.isDrawPlanned = true }
            return (lines, isMoving)
        }
        guard let drawing else { return }
        var text = "\u{1B}[H"
        for (index, line) in drawing.lines.prefix(height).enumerated() {
            text += line + "\u{1B}[K" + (index + 1 < height ? "\r\n" : "")
        }
        text += "\u{1B}[J"
        Descriptor.write(Array(text.utf8), to: 1)
        if drawing.again { planDraw(after: .milliseconds(500)) }
    }
}
