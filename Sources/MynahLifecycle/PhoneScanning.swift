package import MynahCore

/// Composes the scan of an iPhone: one scan for all of its apps, and for their pending connections.
///
/// The phone composes again when an app starts, changes or stops a scan, changes its state, or begins or ends
/// a pending connection, and when a link or advertising begins or ends. It passes the options to its radio if
/// they changed, `listensFor` to its `LinkInitiator`, and each app's part to the app's `DiscoveryCoalescer`.
///
/// Apple documents that a background scan takes longer "if all apps that are scanning for peripherals are in
/// the background", and no figure. The figures here are assumptions. It is also an assumption that the phone
/// listens for a pending connection of a foreground app as it scans for one.
package struct PhoneScanning: Hashable, Sendable {
    /// The scan interval while an app in the foreground scans or has a pending connection.
    private static let foregroundInterval: Duration = .milliseconds(40)
    /// The scan interval while every app that scans or has a pending connection is in the background.
    private static let backgroundInterval: Duration = .milliseconds(300)
    /// The scan window, in the foreground and the background.
    private static let window: Duration = .milliseconds(30)
    /// The time after which a scan with the controller's duplicate filter restarts, so that changed
    /// advertisements are reported.
    private static let filterRestart: Duration = .seconds(10)

    /// Whether the controller can scan while it has a link (LE Read Supported States, Vol 4, Part E, 7.8.27).
    package var scansBesideLinks = true
    /// Whether the controller can scan while it advertises.
    package var scansBesideAdvertising = true

    /// Makes the rules for a controller that can scan at any time.
    package init() {}

    /// Composes the one scan of the phone.
    ///
    /// The scan is active if an app scans; pending connections need no scan responses. The controller's
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
    /// The part of one app's scan in the phone's scan.
    package struct Part: Hashable, Sendable {
        /// Whether the phone scans for this app.
        package var isInForce: Bool
        /// Whether every packet is reported to the app now.
        package var allowsDuplicates: Bool
        /// The parts of the app's request that are left out, with the reasons.
        package var omitted: [AdvertisingReport.Omission]
    }

    /// The reason that the controller cannot scan now.
    package enum Obstacle: String, Hashable, Sendable, CaseIterable {
        /// The radio has a link, and cannot scan at the same time.
        case link
        /// The radio advertises, and cannot scan at the same time.
        case advertising
    }

    /// The options of the radio's scan, or `nil` if it must not scan now.
    package var options: ScanOptions?
    /// The time after which the scan restarts, or `nil` if the controller's duplicate filter is off or the
    /// phone does not scan.
    package var filterRestart: Duration?
    /// The parts of the apps' scans, in the order of the scans.
    package var apps: [Part]
    /// The devices to listen for because of pending connections, each once, in the order of the requests.
    package var listensFor: [DeviceAddress]
    /// The reason that the controller cannot scan as requested; the phone warns of each reason once.
    package var obstacle: Obstacle?

    init(apps: [Part], listensFor: [DeviceAddress]) {
        self.apps = apps
        self.listensFor = listensFor
    }
}
