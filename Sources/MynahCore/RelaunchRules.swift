/// The reason that an app does not run, or that its phone's Bluetooth was off.
///
/// The raw value is the word on the command line.
package enum RelaunchCause: String, Hashable, Sendable, CaseIterable {
    /// The system terminated the app.
    case terminated
    /// The app crashed.
    case crash
    /// The user quit the app.
    case quit
    /// The user turned Bluetooth off in Settings, and on again.
    case settingsOff
    /// The user turned Bluetooth off in Control Center, and on again.
    case controlCenterOff
    /// Airplane Mode turned Bluetooth off, and Bluetooth is on again.
    case airplaneMode
    /// The phone restarted.
    case restart
}

/// The rule for whether the system relaunches an app for a Bluetooth event.
///
/// The raw value is the text in the table of Apple's article.
package enum RelaunchRule: String, Hashable, Sendable, CaseIterable {
    case yes
    case afterUnlock = "after the first unlock"
    /// The app is relaunched only if it has set up its accessories with AccessorySetupKit.
    case accessorySetupKit = "only with AccessorySetupKit"
    case no

    /// Whether an app without AccessorySetupKit is relaunched, at least after the phone is unlocked.
    package var allowsRelaunch: Bool { self == .yes || self == .afterUnlock }

    /// Whether an app is relaunched, at least after the phone is unlocked.
    ///
    /// `usesIt` is `true` if the app uses AccessorySetupKit.
    package func allowsRelaunch(withAccessorySetup usesIt: Bool) -> Bool {
        allowsRelaunch || usesIt && self == .accessorySetupKit
    }
}

extension IOSVersion {
    /// The versions of iOS that changed the rules for relaunching.
    package static let relaunchVersions = [7, 11, 26]

    /// Returns the rule for relaunching an app with state restoration after this cause.
    ///
    /// The rules up to iOS 10 and from iOS 11 on are those of Technical Q&A QA1962. The current rules are
    /// those of technote TN3115, whose note 5 describes the changes of iOS 26. QA1962 does not mention
    /// Control Center, whose button turned Bluetooth off like Settings up to iOS 10. Its rules are an
    /// assumption.
    package func relaunch(after cause: RelaunchCause) -> RelaunchRule {
        let rules: [RelaunchRule] =
            switch cause {
            case .terminated, .crash: [.yes, .yes, .yes]
            case .quit: [.no, .no, .accessorySetupKit]
            case .controlCenterOff: [.no, .yes, .accessorySetupKit]
            // Note 3: if Airplane Mode leaves Bluetooth on, it is not a cause.
            case .settingsOff, .airplaneMode: [.no, .no, .no]
            case .restart: [.no, .afterUnlock, .afterUnlock]
            }
        return rules[Self.relaunchVersions.lastIndex { $0 <= major } ?? 0]
    }
}
