/// Asks the user the questions of a pairing.
package protocol QuestionAsker: Sendable {
    /// Asks the user a question.
    ///
    /// `read` returns the action for an answer, or `nil` if the answer is not valid; the question is then
    /// asked again with the hint.
    func ask(
        _ question: String, hint: String, _ read: @escaping @Sendable (String) -> (@Sendable () -> Void)?)

    /// Withdraws the current question, which needs no answer any longer.
    func withdrawQuestion()
}
