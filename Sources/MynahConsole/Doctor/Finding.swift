import MynahCore

/// The result of one check of `mynah doctor`.
package struct Finding: Hashable, Sendable {
    /// The effect of the finding on a run.
    package enum Verdict: String, CaseIterable, Sendable {
        case fine
        /// A run works, but something in it does not behave as on a real device.
        case loss
        /// A run does not work.
        case stop
        /// The check was not possible.
        case unknown
        /// The check was skipped, because an earlier check failed or a precondition is missing.
        case skipped
    }

    /// The name of the check, as in the JSON report.
    package var id: String
    package var verdict: Verdict
    /// The state of the machine, or the reason why it is unknown.
    package var found: String
    /// The consequence for a run, or `nil` if there is none.
    package var meaning: String?
    /// The command or the instructions to fix the problem, or `nil` if there is none.
    package var remedy: String?

    package init(
        _ id: String, _ verdict: Verdict, _ found: String, meaning: String? = nil, remedy: String? = nil
    ) {
        self.id = id
        self.verdict = verdict
        self.found = found
        self.meaning = meaning
        self.remedy = remedy
    }
}

extension Finding {
    /// The finding for an error that would stop a run.
    static func stop(_ id: String, _ error: RadioError, meaning: String? = nil) -> Finding {
        Finding(id, .stop, error.message, meaning: meaning, remedy: error.remedy)
    }

    /// The finding of a check that was not possible.
    static func unknown(_ id: String, _ reason: String) -> Finding {
        Finding(id, .unknown, "not known: \(reason)")
    }
}

extension Finding.Verdict {
    /// The verdict on a machine: that of the worst finding.
    package static func of(_ findings: [Finding]) -> Finding.Verdict {
        if findings.contains(where: { $0.verdict == .stop }) { return .stop }
        return findings.contains { $0.verdict == .loss } ? .loss : .fine
    }

    /// The exit code of `mynah doctor` for a machine with this verdict.
    package var exitCode: Int32 {
        switch self {
        case .fine, .unknown, .skipped: 0
        case .stop: 1
        case .loss: 2
        }
    }
}
