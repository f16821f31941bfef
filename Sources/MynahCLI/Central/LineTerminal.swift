import Dispatch
import MynahConsole
import MynahRun
import MynahSupport

import Glibc

/// A prompt on a terminal, with events above it.
///
/// A plain terminal, for example with `TERM=dumb`, edits lines itself and gets no escape sequences. There,
/// events are printed after the prompt.
final class LineTerminal: QuestionAsker {
    private struct State {
        var buffer = LineBuffer()
        var prompt = ""
        var isEnded = false
        /// Whether the process was stopped and a shell uses the terminal.
        ///
        /// Events are then printed without the prompt.
        var isGivenBack = false
        /// Whether the process continues in the background.
        var isInBackground = false
        /// On a plain terminal, whether the prompt is shown and no line was entered after it.
        var isPromptShown = false
        /// The bytes that were typed before the first prompt.
        var early: [UInt8] = []
        /// The open question, which gets the next line that is a valid answer.
        var question: (hint: String, read: @Sendable (String) -> (@Sendable () -> Void)?)?
        var complete: @Sendable (String) -> [String] = { _ in [] }
    }

    private let state = Lock(State())
    private let keyboard: Keyboard
    private let isPlain: Bool
    private let output: EventOutput
    /// The lines that were entered.
    let lines = LineFeed()

    init(_ keyboard: Keyboard, isPlain: Bool, signals: Signals) {
        self.keyboard = keyboard
        self.isPlain = isPlain
        output = EventOutput { signals.interruption.interrupt() }
        signals.looksAfter(
            .init(
                giveBack: { [weak self] in self?.giveBack() }, takeAgain: { [weak self] in self?.takeAgain() }
            ))
        StandardError.divert { [weak self] text in
            // The text is split into lines, because log lines may contain any character.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            self?.print(lines.map { PrintableText.of(String($0)) }.joined(separator: "\n"))
        }
        if isPlain { lines.onEmpty { [weak self] in self?.prompt() } }
        keyboard.onInput({ [weak self] in self?.type($0) }, onEnd: { [weak self] in self?.finish() })
    }

    /// Begins to show the prompt.
    ///
    /// `complete` returns the possible completions of the last word before the cursor.
    func begin(prompt: String, complete: @escaping @Sendable (String) -> [String]) {
        let work = state.withLock { state in
            state.prompt = PrintableText.of(prompt) + "> "
            state.complete = complete
            defer { state.early = [] }
            return type(state.early, &state)
        }
        for each in work { each() }
    }

    /// Prints lines above the prompt, or after it on a plain terminal.
    func print(_ text: String) {
        state.withLock { print(text, &$0) }
    }

    private func print(_ text: String, _ state: inout State) {
        guard !state.isEnded else { return }
        // When a shell brings a running job to the foreground, the job gets no signal.
        if state.isInBackground, keyboard.takeAgain() {
            (state.isGivenBack, state.isInBackground) = (false, false)
        }
        if state.isGivenBack { return write(text + "\n") }
        if isPlain {
            let wasShown = state.isPromptShown
            write((wasShown ? "\n" : "") + text + "\n" + (wasShown ? state.prompt : ""))
        } else {
            write("\r\u{1B}[K" + text + "\n")
            draw(state)
        }
    }

    /// Shows the prompt of a plain terminal, which edits the line itself.
    private func prompt() {
        state.withLock { state in
            guard !state.isEnded, !state.isPromptShown else { return }
            state.isPromptShown = true
            write(state.prompt)
        }
    }

    /// Asks a question; the next valid line is the answer, and not a command.
    func ask(
        _ question: String, hint: String, _ read: @escaping @Sendable (String) -> (@Sendable () -> Void)?
    ) {
        state.withLock { state in
            state.question = (hint, read)
            print(question, &state)
        }
    }

    /// Withdraws the question, so that the next line is a command again.
    func withdrawQuestion() {
        state.withLock { $0.question = nil }
    }

    private func giveBack() {
        state.withLock { $0.isGivenBack = true }
        keyboard.giveBack()
    }

    private func takeAgain() {
        let isOurs = keyboard.takeAgain()
        state.withLock { state in
            state.isInBackground = state.isGivenBack && !isOurs
            guard isOurs else { return }
            if isPlain, state.isGivenBack, state.isPromptShown { write(state.prompt) }
            state.isGivenBack = false
            draw(state)
        }
    }

    /// Ends the input, and restores the settings of the terminal.
    func end() {
        let wasEnded = state.withLock { state in
            defer { state.isEnded = true }
            if !state.isEnded {
                write(isPlain ? (state.isPromptShown ? "\n" : "") : state.isGivenBack ? "" : "\r\u{1B}[K")
            }
            return state.isEnded
        }
        guard !wasEnded else { return }
        StandardError.divert(to: nil)
        lines.close()
        output.flush()
        keyboard.end()
    }

    private func type(_ bytes: [UInt8]) {
        let work: [@Sendable () -> Void] = state.withLock { state in
            guard !state.isEnded else { return [] }
            guard !state.prompt.isEmpty || state.question != nil else {
                if state.early.count < 4096 { state.early += bytes }
                return []
            }
            return type(bytes, &state)
        }
        for each in work { each() }
    }

    /// Handles typed bytes; returns the work to do after the lock is released.
    private func type(_ bytes: [UInt8], _ state: inout State) -> [@Sendable () -> Void] {
        var work: [@Sendable () -> Void] = []
        for byte in bytes {
            switch state.buffer.handle(byte) {
            case nil, .changed: break
            case .complete: if !isPlain { complete(&state) }
            case .ended: work += finish(&state)
            case .entered(let line):
                if !isPlain { write("\r\u{1B}[K" + state.prompt + line + "\n") }
                state.isPromptShown = false
                guard let question = state.question else {
                    work.append { [lines] in lines.add(Array((line + "\n").utf8)) }
                    continue
                }
                if let answer = question.read(line) {
                    state.question = nil
                    work.append(answer)
                } else {
                    print(question.hint, &state)
                }
            }
        }
        draw(state)
        return work
    }

    /// Ends the input, because nothing more can be typed.
    private func finish() {
        let work = state.withLock { finish(&$0) }
        for each in work { each() }
    }

    /// Answers an open question with no, because the input has ended.
    ///
    /// Returns the work to do after the lock is released.
    private func finish(_ state: inout State) -> [@Sendable () -> Void] {
        let answer = state.question?.read("no")
        state.question = nil
        let end: @Sendable () -> Void = { [lines] in lines.finish() }
        return answer.map { [$0, end] } ?? [end]
    }

    private func complete(_ state: inout State) {
        let before = state.buffer.beforeCursor
        switch Completion.of(before, by: state.complete(before)) {
        case .none: break
        case .insert(let text): state.buffer.insert(text)
        case .list(let candidates):
            let lines = Completion.columns(candidates.map(PrintableText.of), width: width)
            write("\r\u{1B}[K" + lines.joined(separator: "\n") + "\n")
        }
    }

    private func draw(_ state: State) {
        guard !isPlain, !state.isEnded, !state.isGivenBack, !state.prompt.isEmpty else { return }
        write(PromptLine.drawing(state.prompt, state.buffer, width: width))
    }

    /// The number of columns of the terminal.
    var width: Int {
        var size = winsize()
        return ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    private func write(_ text: String) {
        output.write(Array(text.utf8))
    }
}
