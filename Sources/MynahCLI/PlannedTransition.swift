import MynahLifecycle
import MynahProfiles
import MynahSupport

/// What `--at` says: a time after the start, and what happens to the apps then.
struct PlannedTransition {
    var delay: Duration
    var transition: AppTransition

    /// Reads `10s=background`; the failure says what is wrong with anything else.
    static func parse(_ text: String) -> Result<PlannedTransition, PlannedTransitionProblem> {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2 else {
            return .failure(
                .init(message: "--at wants a time and a state, as in --at 10s=background, not \"\(text)\""))
        }
        guard !parts[0].hasPrefix("-") else {
            return .failure(
                .init(message: "--at \(text): the time \(parts[0]) is past before the run has begun"))
        }
        let delay: Duration
        do throws(DurationText.Problem) {
            delay = try DurationText.parse(parts[0])
        } catch {
            return .failure(.init(message: "--at \(text): the time \(error.message)"))
        }
        let word = parts[1].filter { $0 != " " }
        guard let transition = AppTransition(rawValue: word) else {
            let names = AppTransition.allCases.map(\.rawValue)
            let near = NearestName.of(word, among: names).map { "; did you mean \($0)?" }
            let hint = near ?? "; the states are \(names.joined(separator: ", "))"
            return .failure(.init(message: "--at \(text): there is no state \"\(word)\"\(hint)"))
        }
        return .success(PlannedTransition(delay: delay, transition: transition))
    }
}

/// What is wrong with a planned transition.
struct PlannedTransitionProblem: Error {
    var message: String
}
