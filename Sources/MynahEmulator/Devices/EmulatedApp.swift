public import Mynah
package import MynahCore
public import MynahLifecycle
public import MynahProfiles

/// The app that plays a device, and the phone that it is on.
public struct EmulatedApp: Sendable {
    /// The app's name, background modes and other properties.
    public var description: AppDescription
    /// The initial state of the app.
    public var startState: Profile.App.StartState
    /// How the app's phone advertises.
    public var advertising: PhoneAdvertising
    /// The version of iOS on the app's phone.
    package var iOS = IOSVersion(17)
    /// `true` if the system terminated the app before its phone restarted, so that the app is not launched.
    public var isTerminated = false
    /// The user's answer when a device wants to pair with the app.
    package var pairing = Profile.App.PairingConsent.accept
    /// The connection latency that the app requests from each subscriber, or `nil` if it requests none.
    package var connectionLatency: ConnectionLatency?
    /// The L2CAP channel that the app publishes, or `nil` if it publishes none.
    package var channel: Profile.Channel?
    /// The accessories that the app passes to the AccessorySetupKit picker; empty if the app does not use
    /// it.
    package var accessorySetup: [Profile.App.AccessoryDescriptor] = []
    /// The name of the app's phone, or `nil` if the phone has none.
    package var phone: String?

    /// Makes an app.
    public init(
        description: AppDescription, startState: Profile.App.StartState, advertising: PhoneAdvertising
    ) {
        self.description = description
        self.startState = startState
        self.advertising = advertising
    }

    /// Makes the app of a profile, with its central managers; `name` is the app's name.
    public init(_ app: Profile.App, name: String, centrals: [Profile.Central] = []) {
        let isRestored = app.backgroundModes.contains(.bluetoothPeripheral)
        description = AppDescription(
            name: name, rules: AppRules(app),
            restoreIdentifiers: isRestored ? app.restoreIdentifier.map { [$0] } ?? [] : [],
            centralRestoreIdentifiers: centrals.compactMap(\.restoreIdentifier))
        description.authorization = app.authorization
        description.isSceneBased = app.sceneBased
        description.usesAccessorySetup = app.usesAccessorySetup
        startState = app.state
        iOS = IOSVersion(app.iOS)
        pairing = app.pairing
        if app.usesAccessorySetup {
            accessorySetup = app.accessorySetup
            // The user picks accessories instead of granting permission or confirming a pairing.
            (description.authorization, pairing) = (.allowedAlways, .accept)
        }
        connectionLatency = app.connectionLatency
        channel = app.channel
        advertising = PhoneAdvertising(app)
    }
}

extension AppTransition {
    /// Makes the transition into the initial state of an app.
    init(into state: Profile.App.StartState) {
        self =
            switch state {
            case .foreground: .enterForeground
            case .background: .enterBackground
            case .suspended: .suspend
            }
    }
}
