/// The reason why an app does not run, or why its phone's Bluetooth was off.
///
/// The raw value is the word for it on the command line.
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
    /// Airplane Mode turned Bluetooth off; it is on again.
    case airplaneMode
    /// The phone restarted.
    case restart
}

/// Whether the system relaunches an app for a Bluetooth event.
///
/// The raw value is the cell of the article's table.
package enum RelaunchRule: String, Hashable, Sendable, CaseIterable {
    case yes
    case afterUnlock = "after the first unlock"
    /// Only an app that set up its accessories with AccessorySetupKit.
    case accessorySetupKit = "only with AccessorySetupKit"
    case no

    /// Whether an app that does not use AccessorySetupKit is relaunched, at the latest after an unlock.
    package var allowsRelaunch: Bool { self == .yes || self == .afterUnlock }

    /// Whether an app is relaunched, at the latest after an unlock; `usesIt` says whether it uses
    /// AccessorySetupKit.
    package func allowsRelaunch(withAccessorySetup usesIt: Bool) -> Bool {
        allowsRelaunch || usesIt && self == .accessorySetupKit
    }
}

extension IOSVersion {
    /// The first versions with other rules for relaunching.
    package static let relaunchVersions = [7, 11, 26]

    /// Whether the system relaunches a terminated app with state restoration after this.
    ///
    /// The columns up to iOS 10 and from iOS 11 on are those of Technical Q&A QA1962, and the rules of today
    /// those of technote TN3115, whose note 5 says what changed with iOS 26. QA1962 does not name Control
    /// Center, whose button turned Bluetooth off up to iOS 10 as Settings do: that column is an assumption.
    package func relaunch(after cause: RelaunchCause) -> RelaunchRule {
        let rules: [RelaunchRule] =
            switch cause {
            case .terminated, .crash: [.yes, .yes, .yes]
            case .quit: [.no, .no, .accessorySetupKit]
            case .controlCenterOff: [.no, .yes, .accessorySetupKit]
            // Note 3: an Airplane Mode that leaves Bluetooth on is no cause.
            case .settingsOff, .airplaneMode: [.no, .no, .no]
            case .restart: [.no, .afterUnlock, .afterUnlock]
            }
        return rules[Self.relaunchVersions.lastIndex { $0 <= major } ?? 0]
    }
}
