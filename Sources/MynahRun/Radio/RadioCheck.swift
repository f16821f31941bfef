import MynahCore
import MynahFaults
import MynahProfiles
import MynahSupport

/// Checks profiles against the capabilities of the radio that will play them, before anything is registered.
final class RadioCheck: Sendable {
    private let print: @Sendable (String) -> Void
    private let found = Lock<[ProfileIssue]>([])

    /// Makes a check that passes its messages to `print`.
    init(print: @escaping @Sendable (String) -> Void) {
        self.print = print
    }

    /// The issues of a profile that the radio cannot play; empty if there is no such profile.
    var shortcomings: [ProfileIssue] { found.withLock { $0 } }

    /// Prints all differences between profiles and what the radio can do.
    ///
    /// Throws `unsupported` if the radio cannot play a profile as written.
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
