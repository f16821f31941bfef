package import MynahEmulator
package import MynahLifecycle

/// A key of the terminal that concerns a run's apps.
package enum AppKey: Hashable, Sendable {
    /// Select the app with this number for later keys.
    ///
    /// Apps are numbered from 1, phone by phone, in the order of the command line.
    case choose(Int)
    case transition(AppTransition)
    /// Open the alert that was shown last.
    case openAlert

    /// The meaning of a key, or `nil` if it has no meaning.
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

/// Interprets keys that were typed on a terminal: digits of a requested passkey, and keys for apps.
package struct TypedKeys: Sendable {
    /// The result of typing a key.
    package enum Typed: Hashable, Sendable {
        /// A passkey was entered.
        case number(UInt32)
        case app(AppKey)
    }

    /// The digits of a passkey that were typed so far.
    package private(set) var digits = ""

    // A passkey has six digits (Core Specification, Vol 3, Part H, 2.3.5.3).
    private static let limit = 6

    package init() {}

    /// Handles a typed key; returns its result, or `nil` if there is none.
    ///
    /// While a passkey is requested, digits belong to it. After the request has ended, they are discarded.
    package mutating func type(_ key: UInt8, isNumberAsked: Bool) -> Typed? {
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

/// The app to which keys apply.
///
/// This is the selected app. If none is selected and there is only one phone, it is the app that was last in
/// the foreground.
package struct AppKeys: Sendable {
    /// A phone with its apps.
    private struct KeyedPhone {
        var id: ObjectIdentifier
        var apps: [String]
    }

    /// The result of a key.
    package enum Outcome: Hashable, Sendable {
        case nothing
        /// An action of the user on an app or its phone; the identifier is that of the phone.
        case action(UserAction, AppTarget, ObjectIdentifier)
        /// No app is selected, and there are several phones.
        case ambiguous(phones: Int)
    }

    private var apps: [String]
    private var phones: [KeyedPhone] = []
    /// The name in events of the selected app, or `nil` if none is selected.
    package private(set) var chosen: String?

    /// Whether there are several apps to choose from.
    package var canChoose: Bool { phones.reduce(0) { $0 + $1.apps.count } > 1 }

    /// Makes keys for apps, whose names are in the order in which the screen numbers them.
    package init(apps: [String]) {
        self.apps = apps
    }

    /// Sets the apps of a phone.
    ///
    /// The number of an app never changes.
    package mutating func set(_ apps: [String], of phone: ObjectIdentifier) {
        if let index = phones.firstIndex(where: { $0.id == phone }) {
            phones[index].apps = apps
        } else {
            phones.append(KeyedPhone(id: phone, apps: apps))
        }
        self.apps += apps.filter { !self.apps.contains($0) }
        if chosen.map({ self.phone(of: $0) == nil }) == true { chosen = nil }
    }

    /// Removes a phone and its apps.
    package mutating func remove(_ phone: ObjectIdentifier) {
        if chosen.map({ self.phone(of: $0)?.id == phone }) == true { chosen = nil }
        phones.removeAll { $0.id == phone }
    }

    private func phone(of app: String) -> KeyedPhone? { phones.first { $0.apps.contains(app) } }

    /// Returns the result of a pressed key.
    package mutating func press(_ key: AppKey) -> Outcome {
        if case .choose(let number) = key {
            if apps.indices.contains(number - 1), phone(of: apps[number - 1]) != nil {
                chosen = apps[number - 1]
            }
            return .nothing
        }
        guard let phone = chosen.flatMap({ phone(of: $0) }) ?? phones.first else { return .nothing }
        guard chosen != nil || phones.count == 1 else { return .ambiguous(phones: phones.count) }
        switch key {
        case .choose: return .nothing
        case .transition(let transition):
            return .action(.transition(transition), chosen.map { .named($0) } ?? .lastInFront, phone.id)
        // The alert belongs to the phone, and not to an app.
        case .openAlert: return .action(.openAlert, .every, phone.id)
        }
    }
}
