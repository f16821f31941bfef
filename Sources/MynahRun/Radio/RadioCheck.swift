import MynahCore
import MynahFaults
import MynahProfiles
import MynahSupport

/// Checks profiles against the radio that will play them, before anything is registered.
final class RadioCheck: Sendable {
    private let print: @Sendable (String) -> Void
    private let found = Lock<[ProfileIssue]>([])

    /// Makes a check that passes its messages to `print`.
    init(print: @escaping @Sendable (String) -> Void) {
        self.print = print
    }

    /// The parts of the profile that the radio would play differently; empty if there are none.
    var shortcomings: [ProfileIssue] { found.withLock { $0 } }

    /// Prints the parts that the radio plays differently; throws `unsupported` if it cannot play a profile as
    /// written.
    func check(
        _ profiles: [Profile], _ capabilities: RadioCapabilities, _ faults: FaultSupport
    ) throws(RadioError) {
        for profile in profiles {
            let issues = profile.issues(with: capabilities, faults: faults, isChosen: true)
            for issue in issues { print(issue.description) }
            guard !issues.contains(where: { $0.severity == .error }) else {
                found.withLock { $0 = issues }
                throw RadioError(.unsupported, "\(capabilities.name) cannot play \(profile.file) as it is")
            }
        }
    }
}
