/// The rules that depend on the major version of iOS.
package struct IOSVersion: Hashable, Sendable {
    package let major: Int

    package init(_ major: Int) {
        self.major = major
    }

    /// The first version in which the system can reconnect automatically (`autoReconnect`).
    package static let autoReconnect = 17

    /// The first version that has connection events (`registerForConnectionEvents`).
    package static let connectionEvents = 13

    /// The first version that asks the user for the permission to use Bluetooth.
    package static let permission = 13

    /// The first version whose apps may use scenes.
    package static let scenes = 13

    /// The first version in which a Live Activity lets an app scan and advertise in the background as in the
    /// foreground.
    package static let liveActivityPrivileges = 26

    /// The first version that has AccessorySetupKit.
    package static let accessorySetup = 18

    /// Whether an iPhone sends the overflow area in the scan response while all apps are in the background.
    ///
    /// Captures in the tests of the Herald project show this.
    package var hidesOverflowArea: Bool { major >= 12 }
    /// Whether changed UUIDs of a background app are advertised only in the foreground, as developers
    /// report.
    package var defersBackgroundChanges: Bool { major >= 14 }
    /// Whether the user decides which apps use Bluetooth.
    package var hasPermission: Bool { major >= Self.permission }
    /// Whether an app may use scenes.
    package var hasScenes: Bool { major >= Self.scenes }
    /// Whether an app with a Live Activity scans and advertises in the background as in the foreground.
    package var hasLiveActivityPrivileges: Bool { major >= Self.liveActivityPrivileges }
    /// Whether an app can use AccessorySetupKit.
    package var hasAccessorySetup: Bool { major >= Self.accessorySetup }
    /// Whether an app can register for connection events.
    package var hasConnectionEvents: Bool { major >= Self.connectionEvents }
    /// Whether the system can reconnect automatically at the request of an app.
    package var hasAutoReconnect: Bool { major >= Self.autoReconnect }
    /// An iPhone's limits for connection parameters.
    ///
    /// The first version with each set of limits is an assumption.
    package var parameterLimits: ConnectionParameterRules.Limits {
        switch major {
        case ...9:
            // Bluetooth Accessory Design Guidelines of 2013, 3.6.
            .init(
                shortestInterval: .milliseconds(20)...(.seconds(4)), multiple: 1, range: .milliseconds(20),
                single: nil, latency: 4, supervisionTimeout: .milliseconds(100)...(.seconds(6)),
                longestSilence: .seconds(2))
        case 10...17:
            // Accessory Design Guidelines, R8 to R21.
            .init(
                shortestInterval: .milliseconds(15)...(.seconds(4)), multiple: 12, range: .milliseconds(15),
                single: .milliseconds(15), latency: 30, supervisionTimeout: .seconds(2)...(.seconds(6)),
                longestSilence: .seconds(2))
        default:
            // As quoted from 2025 on.
            .init(
                shortestInterval: .milliseconds(15)...(.seconds(2)), multiple: 12, range: .milliseconds(15),
                single: .milliseconds(15), latency: 30, supervisionTimeout: .seconds(6)...(.seconds(18)),
                longestSilence: .seconds(6))
        }
    }
    /// The largest ATT_MTU that an iPhone offers, as measured.
    ///
    /// For iOS 10, the value is that of older phones.
    package var largestMTU: Int {
        switch major {
        case ...9: 158
        case 10: 185
        default: 527
        }
    }
}
