import MynahEmulator
import MynahProfiles

/// What `--state` says: the state that apps start in.
enum RunState: String, CaseIterable {
    case foreground
    case background
    case suspended
    /// The phone was restarted, and the app was not opened.
    case terminated

    func apply(to app: inout EmulatedApp?) {
        switch self {
        case .foreground: app?.startState = .foreground
        case .background: app?.startState = .background
        case .suspended: app?.startState = .suspended
        case .terminated: app?.isTerminated = true
        }
    }

    /// What keeps these profiles from starting in it, or `nil` if nothing does.
    func problem(with profiles: [Profile], hasStateDirectory: Bool) -> String? {
        guard self == .terminated else { return nil }
        guard hasStateDirectory else {
            return "--state terminated restores what --state-dir keeps, and there is none"
        }
        let isRelaunched = profiles.contains { profile in
            guard let app = profile.app else { return false }
            let identifiers = [app.restoreIdentifier] + profile.centrals.map(\.restoreIdentifier)
            return identifiers.contains { $0 != nil } && !app.backgroundModes.isEmpty
        }
        return isRelaunched
            ? nil : "--state terminated needs an app with a restoreIdentifier and a background mode"
    }
}
