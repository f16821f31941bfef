public import Mynah
import MynahCore
public import MynahLifecycle
public import MynahProfiles

/// The app that plays a device, and the phone that it is on.
public struct EmulatedApp: Sendable {
    /// What it is.
    public var description: AppDescription
    /// The state it starts in.
    public var startState: AppTransition
    /// How its phone advertises.
    public var advertising: PhoneAdvertising

    /// An app.
    public init(description: AppDescription, startState: AppTransition, advertising: PhoneAdvertising) {
        self.description = description
        self.startState = startState
        self.advertising = advertising
    }

    /// The app that a profile declares under a name.
    public init(_ app: Profile.App, name: String) {
        description = AppDescription(
            name: name, rules: AppRules(app), restoreIdentifiers: app.restoreIdentifier.map { [$0] } ?? [])
        startState = AppTransition(app.state)
        advertising = PhoneAdvertising(app)
    }
}

/// What can be done to an app from outside.
public enum AppTransition: String, Hashable, Sendable, CaseIterable {
    /// The user opens it, or brings it back.
    case foreground
    /// It leaves the screen.
    case background
    /// The system suspends it.
    case suspended
    /// The system ends it.
    case terminated
    /// The user ends it.
    case quit
    /// The system needs memory: a suspended app ends, and no other.
    case memoryPressure
    /// It ends by itself.
    case crash

    /// The way into the state that a profile names.
    public init(_ state: Profile.App.StartState) {
        self =
            switch state {
            case .foreground: .foreground
            case .background: .background
            case .suspended: .suspended
            }
    }
}
