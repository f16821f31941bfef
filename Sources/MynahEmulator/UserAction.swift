public import MynahLifecycle

/// What the user of a run makes happen to an app, or to its phone: by `--at`, or by a key of the terminal.
public enum UserAction: Hashable, Sendable {
    /// A step of its life.
    case transition(AppTransition)
    /// Its user starts what the app advertises, on its own screen.
    case startAdvertising
    /// Its user stops what the app advertises, on its own screen.
    case stopAdvertising
    /// The user turns Bluetooth off or on, for all that is on the phone; an accessory's too.
    case setPower(Bool)

    /// The words for all of them.
    public static var words: [String] {
        AppTransition.allCases.map(\.rawValue) + [
            "startAdvertising", "stopAdvertising", "poweredOff", "poweredOn",
        ]
    }

    /// Whether it is about the whole radio, and so about an accessory too.
    public var isAboutRadio: Bool {
        if case .setPower = self { true } else { false }
    }

    /// What a word stands for, or `nil` if it stands for nothing.
    public init?(_ word: String) {
        switch word {
        case "startAdvertising": self = .startAdvertising
        case "stopAdvertising": self = .stopAdvertising
        case "poweredOff": self = .setPower(false)
        case "poweredOn": self = .setPower(true)
        default:
            guard let transition = AppTransition(rawValue: word) else { return nil }
            self = .transition(transition)
        }
    }
}
