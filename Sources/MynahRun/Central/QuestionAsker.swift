/// Asks the user the questions of a pairing.
package protocol QuestionAsker: Sendable {
    /// Asks for a line.
    ///
    /// `read` returns what the answer does; `nil` if it does not understand the line, and the question is
    /// asked again with the hint.
    func ask(
        _ question: String, hint: String, _ read: @escaping @Sendable (String) -> (@Sendable () -> Void)?)

    /// Withdraws the question: nothing waits for its answer any more.
    func withdrawQuestion()
}
