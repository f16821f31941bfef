package import MynahEmulator
package import MynahLifecycle

/// A key of the terminal that is about a run's apps.
package enum AppKey: Hashable, Sendable {
    /// The following keys are for this app, counted from 1 in the order of the command line.
    case choose(Int)
    case transition(AppTransition)
    /// Opens the alert that was shown last.
    case openAlert

    /// What a key is for, or `nil` if it is for nothing.
    package init?(_ key: UInt8) {
        switch key {
        case UInt8(ascii: "1")...UInt8(ascii: "9"): self = .choose(Int(key - UInt8(ascii: "0")))
        case UInt8(ascii: "f"): self = .transition(.enterForeground)
        case UInt8(ascii: "b"): self = .transition(.enterBackground)
        case UInt8(ascii: "s"): self = .transition(.suspend)
        case UInt8(ascii: "t"): self = .transition(.terminate)
        case UInt8(ascii: "q"): self = .transition(.quit)
        case UInt8(ascii: "o"): self = .openAlert
        default: return nil
        }
    }
}

/// What was typed on a terminal, key by key: numbers while one is asked for, and keys that are about apps.
package struct TypedKeys: Sendable {
    /// What a key completes.
    package enum Typed: Hashable, Sendable {
        /// A number was entered.
        case number(UInt32)
        case app(AppKey)
    }

    /// The digits that were typed and not yet entered.
    package private(set) var digits = ""

    // A passkey has six digits (Core Specification, Vol 3, Part H, 2.3.5.3).
    private static let limit = 6

    package init() {}

    /// Takes a key; returns what it completes, or `nil` if it completes nothing.
    ///
    /// Digits belong to a number while it is asked for. Those of a pairing that is over are forgotten.
    package mutating func take(_ key: UInt8, isNumberAsked: Bool) -> Typed? {
        if !isNumberAsked { digits = "" }
        switch key {
        case UInt8(ascii: "0")...UInt8(ascii: "9") where isNumberAsked:
            if digits.count < Self.limit { digits.append(Character(Unicode.Scalar(key))) }
            return nil
        case 0x7F, 0x08:
            _ = digits.popLast()
            return nil
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            defer { digits = "" }
            return UInt32(digits).map { .number($0) }
        default: return AppKey(key).map { .app($0) }
        }
    }
}

/// The app that keys act on: the one that was chosen, or else the one that was on the screen last.
package struct AppKeys: Sendable {
    private let apps: [String]
    /// What events call the chosen app, or `nil` if none was chosen.
    package private(set) var chosen: String?

    /// The keys for these apps, by what events call them.
    package init(apps: [String]) {
        self.apps = apps
    }

    /// Takes a key; returns what is to be done, and to which app, or `nil` if nothing is.
    package mutating func take(_ key: AppKey) -> (action: UserAction, target: AppTarget)? {
        switch key {
        case .choose(let number):
            if apps.indices.contains(number - 1) { chosen = apps[number - 1] }
            return nil
        case .transition(let transition):
            return (.transition(transition), chosen.map { .named($0) } ?? .lastInFront)
        // The alert is the phone's.
        case .openAlert: return (.openAlert, .every)
        }
    }
}
