public import MynahLifecycle

/// What the user of a run makes happen to an app: by `--at`, or by a key of the terminal.
public enum UserAction: Hashable, Sendable {
    /// A step of its life.
    case transition(AppTransition)
    /// Its user starts what the app advertises, on its own screen.
    case startAdvertising
    /// Its user stops what the app advertises, on its own screen.
    case stopAdvertising

    /// The words for all of them.
    public static var words: [String] {
        AppTransition.allCases.map(\.rawValue) + ["startAdvertising", "stopAdvertising"]
    }

    /// What a word stands for, or `nil` if it stands for nothing.
    public init?(_ word: String) {
        switch word {
        case "startAdvertising": self = .startAdvertising
        case "stopAdvertising": self = .stopAdvertising
        default:
            guard let transition = AppTransition(rawValue: word) else { return nil }
            self = .transition(transition)
        }
    }
}
