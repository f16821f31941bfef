package import MynahEmulator
package import MynahProfiles

/// The initial state of apps, as a value of `--state`.
package enum RunState: String, CaseIterable {
    case foreground
    case background
    case suspended
    /// The phone was restarted, and the app has not been opened since.
    case terminated

    package func apply(to app: inout EmulatedApp?) {
        switch self {
        case .foreground: app?.startState = .foreground
        case .background: app?.startState = .background
        case .suspended: app?.startState = .suspended
        case .terminated: app?.isTerminated = true
        }
    }

    /// The error if these profiles cannot start in this state, or `nil` if they can.
    package func problem(with profiles: [Profile], hasStateDirectory: Bool) -> String? {
        guard self == .terminated else { return nil }
        guard hasStateDirectory else {
            return "--state terminated restores apps from --state-dir: add it"
        }
        let isRelaunched = profiles.contains { profile in
            guard let app = profile.app else { return false }
            let own = profile.isPeripheral ? app.restoreIdentifier : nil
            let identifiers = [own] + profile.centrals.map(\.restoreIdentifier)
            return identifiers.contains { $0 != nil } && !app.backgroundModes.isEmpty
        }
        return isRelaunched
            ? nil : "--state terminated needs an app with a restoreIdentifier and a background mode"
    }
}
