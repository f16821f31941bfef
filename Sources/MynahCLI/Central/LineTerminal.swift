import Dispatch
import MynahConsole
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A prompt on a terminal, with what happens meanwhile above it.
final class LineTerminal: Sendable {
    private struct State {
        var buffer = LineBuffer()
        var prompt = ""
        var isEnded = false
        /// What was typed before there was a prompt.
        var early: [UInt8] = []
        /// A question that takes the next line.
        var question: (@Sendable (String) -> Void)?
        var complete: @Sendable (String) -> [String] = { _ in [] }
    }

    private let state = Lock(State())
    private let keyboard: Keyboard
    /// The lines that were entered.
    let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init(_ keyboard: Keyboard, interruption: Interruption) {
        self.keyboard = keyboard
        (lines, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1024))
        interruption.looksAfter(
            .init(giveBack: { keyboard.giveBack() }, takeAgain: { [weak self] in self?.takeAgain() }))
        keyboard.onInput { [weak self] in self?.take($0) }
    }

    /// Shows the prompt from now on; `complete` tells what the last word before the cursor may become.
    func begin(prompt: String, complete: @escaping @Sendable (String) -> [String]) {
        let work = state.withLock { state in
            state.prompt = PrintableText.of(prompt) + "> "
            state.complete = complete
            defer { state.early = [] }
            return take(state.early, &state)
        }
        for each in work { each() }
    }

    /// Writes lines above the prompt.
    func print(_ text: String) {
        state.withLock { state in
            guard !state.isEnded else { return }
            Self.write("\r\u{1B}[K" + text + "\n")
            Self.draw(state)
        }
    }

    /// Asks for a line that is not a command.
    func ask(_ question: String, _ answer: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.question = answer }
        print(question)
    }

    /// What was asked is not wanted any more: the next line is a command again.
    func withdrawQuestion() {
        state.withLock { $0.question = nil }
    }

    private func takeAgain() {
        guard keyboard.takeAgain() else { return }
        state.withLock { Self.draw($0) }
    }

    /// Ends the lines, and gives the terminal its settings back.
    func end() {
        let wasEnded = state.withLock { state in
            defer { state.isEnded = true }
            if !state.isEnded { Self.write("\r\u{1B}[K") }
            return state.isEnded
        }
        guard !wasEnded else { return }
        continuation.finish()
        keyboard.end()
    }

    /// Nobody waits for lines any more.
    func finish() {
        continuation.finish()
    }

    private func take(_ bytes: [UInt8]) {
        let work: [@Sendable () -> Void] = state.withLock { state in
            guard !state.isEnded else { return [] }
            guard !state.prompt.isEmpty || state.question != nil else {
                if state.early.count < 4096 { state.early += bytes }
                return []
            }
            return take(bytes, &state)
        }
        for each in work { each() }
    }

    /// What is to be done outside the lock.
    private func take(_ bytes: [UInt8], _ state: inout State) -> [@Sendable () -> Void] {
        var work: [@Sendable () -> Void] = []
        for byte in bytes {
            switch state.buffer.take(byte) {
            case nil, .changed: break
            case .complete: Self.complete(&state)
            case .ended: work.append { [continuation] in continuation.finish() }
            case .entered(let line):
                Self.write("\r\u{1B}[K" + state.prompt + line + "\n")
                if let question = state.question {
                    state.question = nil
                    work.append { question(line) }
                } else {
                    work.append { [continuation] in continuation.yield(line) }
                }
            }
        }
        Self.draw(state)
        return work
    }

    private static func complete(_ state: inout State) {
        let before = state.buffer.beforeCursor
        switch Completion.of(before, by: state.complete(before)) {
        case .none: break
        case .insert(let text): state.buffer.insert(text)
        case .list(let candidates):
            let lines = Completion.columns(candidates.map(PrintableText.of), width: width)
            write("\r\u{1B}[K" + lines.joined(separator: "\n") + "\n")
        }
    }

    private static func draw(_ state: State) {
        guard !state.isEnded, !state.prompt.isEmpty else { return }
        write(PromptLine.drawing(state.prompt, state.buffer, width: width))
    }

    private static var width: Int {
        var size = winsize()
        return ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    private static func write(_ text: String) {
        Descriptor.write(Array(text.utf8), to: 1)
    }
}
