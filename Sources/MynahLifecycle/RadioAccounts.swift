package import MynahCore

/// Splits a radio's use among its apps.
///
/// A link, a scan or the advertising counts fully for each app that uses it.
///
/// This is a state machine without I/O. The caller passes in the radio's total use at each change of the
/// apps' uses, and for each report.
package struct RadioAccounts: Sendable {
    /// An app's uses of its phone's radio.
    package struct Holding: Hashable, Sendable {
        /// Whether the app uses the whole radio; `true` for an accessory, which does not share it with apps.
        package var isWhole = false
        package var advertises = false
        package var scans = false
        /// Whether the app has a pending connection.
        package var waits = false
        package var links: Set<Peer.ID> = []

        /// Makes a holding that uses nothing.
        package init() {}

        /// The use of the whole radio.
        package static let whole: Holding = {
            var holding = Holding()
            holding.isWhole = true
            return holding
        }()
    }

    /// The uses of each app, by the number of the app.
    package private(set) var holdings: [UInt64: Holding] = [:]
    private var last: RadioUse
    /// The links in the last total use of the radio that at least one app has used.
    private var known: Set<Peer.ID> = []
    private var uses: [UInt64: AirUse] = [:]

    /// Begins to count from these totals of the radio.
    package init(from use: RadioUse) {
        last = use
    }

    /// Adds the radio's use until now to each app's use, and then changes the apps' holdings.
    package mutating func change(_ new: [UInt64: Holding], _ use: RadioUse) {
        settle(use)
        holdings = new
    }

    /// Returns the use of each app since the last report.
    ///
    /// Only complete advertising events are reported; the rest of an event is in the next report. A negative
    /// airtime is also kept for the next report. It occurs after a link sent more packets than it had
    /// connection events: the T_IFS within events decreases when more events have passed.
    package mutating func report(_ use: RadioUse) -> [UInt64: AirUse] {
        settle(use)
        var reports: [UInt64: AirUse] = [:]
        for number in Set(holdings.keys).union(uses.keys) {
            let due = uses[number] ?? AirUse()
            var report = due
            report.advertisingEvents = due.advertisingEvents.rounded()
            report.airtime = max(.zero, due.airtime)
            uses[number] = due - report
            reports[number] = report
        }
        return reports
    }

    private mutating func settle(_ use: RadioUse) {
        for (number, holding) in holdings {
            uses[number, default: AirUse()] = uses[number, default: AirUse()] + part(of: use, for: holding)
        }
        let before = last.links
        last = use
        known = Set(use.links.keys.filter { known.contains($0) || isHeld($0) })
        // A link is on the air before it is reported: its first apps have used it from the beginning.
        for link in use.links.keys where !known.contains(link) { last.links[link] = before[link] }
    }

    private func isHeld(_ link: Peer.ID) -> Bool {
        holdings.values.contains { $0.isWhole || $0.links.contains(link) }
    }

    private func part(of use: RadioUse, for holding: Holding) -> AirUse {
        var part = AirUse()
        if holding.isWhole || holding.advertises { part = part + (use.advertising - last.advertising) }
        // A controller has one receiver, so scanning and listening for a device are not added up.
        var listened = AirUse()
        if holding.isWhole || holding.scans || holding.waits { listened = use.scanning - last.scanning }
        if holding.isWhole || holding.waits {
            let waited = use.initiating - last.initiating
            if waited.scanning > listened.scanning { listened = waited }
        }
        part = part + listened
        if holding.isWhole { return part + (use.allLinks - last.allLinks) }
        for (link, own) in use.links where holding.links.contains(link) {
            part = part + (own - last.links[link, default: AirUse()])
        }
        return part
    }
}
