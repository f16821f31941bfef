import Dispatch
import MynahRun
import MynahSupport

import Glibc

/// For a command without a prompt, asks questions on standard error, and reads the answers from standard
/// input.
final class PlainQuestions: QuestionAsker {
    private struct State {
        var question: (text: String, hint: String, read: @Sendable (String) -> (@Sendable () -> Void)?)?
        var isReading = false
        var isAtEnd = false
        /// Whether a shell has used the terminal since the question was shown.
        var isGivenBack = false
    }

    private let state = Lock(State())
    /// The queue on which standard input is read, because reading blocks its thread.
    private let queue = DispatchQueue(label: "mynah.answers")

    /// Returns `nil` unless standard input and standard error are a terminal with the process in its
    /// foreground.
    init?(_ signals: Signals) {
        guard isatty(0) == 1, isatty(2) == 1, Keyboard.isInForeground else { return nil }
        signals.looksAfter(
            .init(
                giveBack: { [weak self] in self?.state.withLock { $0.isGivenBack = true } },
                takeAgain: { [weak self] in self?.showAgain() }))
    }

    /// Shows an open question again, after the output of a shell.
    private func showAgain() {
        let text: String? = state.withLock { state in
            guard state.isGivenBack, Keyboard.isInForeground else { return nil }
            state.isGivenBack = false
            return state.question?.text
        }
        if let text { StandardError.print(text) }
    }

    func ask(
        _ question: String, hint: String, _ read: @escaping @Sendable (String) -> (@Sendable () -> Void)?
    ) {
        // A line that was typed before the question is not an answer to it.
        tcflush(0, TCIFLUSH)
        StandardError.print(question)
        let (isReading, isAtEnd) = state.withLock { state in
            state.question = (question, hint, read)
            defer { state.isReading = true }
            return (state.isReading, state.isAtEnd)
        }
        if isAtEnd { return reply("no") }
        if !isReading { queue.async { self.answer() } }
    }

    func withdrawQuestion() {
        state.withLock { $0.question = nil }
    }

    /// Answers questions with the lines of standard input; after its end, the answer is no.
    private func answer() {
        while let line = readLine() { reply(line) }
        state.withLock { $0.isAtEnd = true }
        reply("no")
    }

    private func reply(_ line: String) {
        let (answer, hint): ((@Sendable () -> Void)?, String?) = state.withLock { state in
            guard let question = state.question else { return (nil, nil) }
            guard let answer = question.read(line) else { return (nil, question.hint) }
            state.question = nil
            return (answer, nil)
        }
        answer?()
        if let hint { StandardError.print(hint) }
    }
}
