package import MynahCore

/// How an iPhone scans: one scan for all of its apps, and for the connections that they wait for.
///
/// The phone composes again when an app starts, changes or stops a scan, changes its state, asks for a
/// connection or no longer waits for one, and when a link or advertising begins or ends. It gives the options
/// to its radio if they changed, `listensFor` to its `LinkInitiator`, and each app's part to the app's
/// `DiscoveryCoalescer`.
///
/// Apple documents that a background scan takes longer "if all apps that are scanning for peripherals are in
/// the background", and no figure. The figures here are assumptions, as is that a connection that an app in
/// the foreground waits for is listened for as fast as a foreground scan.
package struct PhoneScanning: Hashable, Sendable {
    /// The scan interval while an app in the foreground scans or waits for a connection.
    private static let foregroundInterval: Duration = .milliseconds(40)
    /// The scan interval while every app that scans or waits is in the background.
    private static let backgroundInterval: Duration = .milliseconds(300)
    /// The scan window, in both.
    private static let window: Duration = .milliseconds(30)
    /// How often a scan with the controller's duplicate filter restarts, so that a changed advertisement
    /// is heard.
    private static let filterRestart: Duration = .seconds(10)

    /// Whether the controller can scan while it has a link (LE Read Supported States, Vol 4, Part E, 7.8.27).
    package var scansBesideLinks = true
    /// Whether the controller can scan while it advertises.
    package var scansBesideAdvertising = true

    /// A phone whose controller can scan at any time.
    package init() {}

    /// Composes the one scan of the phone.
    ///
    /// The scan asks for scan responses if an app scans: a pending connection needs none. The controller's
    /// duplicate filter is off while an app in the foreground scans.
    package func compose(
        _ scans: [AppScan], wanted: [WantedLink] = [], hasLinks: Bool = false, isAdvertising: Bool = false
    ) -> PhoneScan {
        let apps = scans.map {
            PhoneScan.Part(
                isInForce: $0.isInForce, allowsDuplicates: $0.reportsDuplicates, omitted: $0.omitted)
        }
        let modes = scans.filter(\.isInForce).map(\.mode)
        let wanted = wanted.filter { $0.mode != .off }
        var seen: Set<DeviceAddress> = []
        var scan = PhoneScan(
            apps: apps, listensFor: wanted.map(\.address).filter { seen.insert($0).inserted })
        guard !modes.isEmpty || !wanted.isEmpty else { return scan }
        if hasLinks, !scansBesideLinks {
            scan.obstacle = .link
            return scan
        }
        if isAdvertising, !scansBesideAdvertising {
            scan.obstacle = .advertising
            return scan
        }
        let isFast = modes.contains(.foreground) || wanted.contains { $0.mode == .foreground }
        scan.options = ScanOptions(
            isActive: !modes.isEmpty, allowsDuplicates: modes.contains(.foreground),
            interval: isFast ? Self.foregroundInterval : Self.backgroundInterval, window: Self.window)
        scan.filterRestart = modes.contains(.foreground) ? nil : Self.filterRestart
        return scan
    }
}

/// The scan of an iPhone, with the part of each app.
package struct PhoneScan: Hashable, Sendable {
    /// One app's part of the phone's scan.
    package struct Part: Hashable, Sendable {
        /// Whether the phone scans for this app.
        package var isInForce: Bool
        /// Whether every packet is reported to the app now.
        package var allowsDuplicates: Bool
        /// The parts of the app's request that are left out, and why.
        package var omitted: [AdvertisingReport.Omission]
    }

    /// Why the controller cannot scan now.
    package enum Obstacle: String, Hashable, Sendable, CaseIterable {
        /// The radio has a link, and cannot scan at the same time.
        case link
        /// The radio advertises, and cannot scan at the same time.
        case advertising
    }

    /// How the radio is to scan; `nil` if it is not to scan now.
    package var options: ScanOptions?
    /// How often the scan begins anew; `nil` if the controller's duplicate filter is off or nothing is
    /// scanned for.
    package var filterRestart: Duration?
    /// The part of each app, in order.
    package var apps: [Part]
    /// The devices whose connectable advertisements are listened for, each once, in the order in which they
    /// are waited for.
    package var listensFor: [DeviceAddress]
    /// The reason why the controller cannot scan as requested; the phone warns of each one once.
    package var obstacle: Obstacle?

    init(apps: [Part], listensFor: [DeviceAddress]) {
        self.apps = apps
        self.listensFor = listensFor
    }
}
