/// Asks the user the questions of a pairing.
package protocol QuestionAsker: Sendable {
    /// Asks for a line.
    ///
    /// `read` returns the action for an answer, or `nil` if the line is not a valid answer; then the question
    /// is asked again with the hint.
    func ask(
        _ question: String, hint: String, _ read: @escaping @Sendable (String) -> (@Sendable () -> Void)?)

    /// Withdraws the question, because no answer is needed any more.
    func withdrawQuestion()
}
