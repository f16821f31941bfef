/// The rules that depend on the major version of iOS, one row for each.
package struct IOSVersion: Hashable, Sendable {
    /// The major version.
    package let major: Int

    /// A version.
    package init(_ major: Int) {
        self.major = major
    }

    /// The first version that connects again by itself if the app wishes (`autoReconnect`).
    package static let autoReconnect = 17

    /// The first version that asks the user for the permission to use Bluetooth.
    package static let permission = 13

    /// Whether the overflow area is in the scan response while all apps are in the background, as reported.
    package var hidesOverflowArea: Bool { major >= 12 }
    /// Whether changed UUIDs of a background app are advertised only in the foreground, as reported.
    package var defersBackgroundChanges: Bool { major >= 14 }
    /// Whether the user decides which apps use Bluetooth.
    package var hasPermission: Bool { major >= Self.permission }
    /// Whether the system connects again by itself if the app wishes.
    package var hasAutoReconnect: Bool { major >= Self.autoReconnect }
    /// The largest ATT_MTU that an iPhone offers, as measured; with iOS 10, on older phones.
    package var largestMTU: Int {
        switch major {
        case ...9: 158
        case 10: 185
        default: 527
        }
    }
}
