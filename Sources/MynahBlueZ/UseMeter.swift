import MynahCore

/// Estimates the airtime that a radio on bluetoothd has used.
///
/// bluetoothd does not report the packets of links. This part has no I/O.
struct UseMeter {
    private var meter = RadioMeter()
    private var links: [Peer.ID: LinkMeter] = [:]

    /// The airtime that the radio has used until now.
    func use(at now: Duration) -> RadioUse {
        var use = meter.use(of: links.map { ($0.key, $0.value.use(at: now)) }, at: now)
        (use.isEstimated, use.knowsPackets) = (true, false)
        return use
    }

    /// Updates the estimate after an event of the radio.
    mutating func note(_ event: RadioEvent, at now: Duration) {
        switch event {
        case .connected(let peer): links[peer.id] = LinkMeter(at: now)
        case .disconnected(let id):
            if let link = links.removeValue(forKey: id) { meter.ended(id, link.use(at: now)) }
        case .advertisingChanged(let report): note(report, at: now)
        case .stateChanged(let state): if state != .poweredOn { note(.silent, at: now) }
        default: break
        }
    }

    /// Records the advertising data that is sent from now on, and returns the report unchanged.
    ///
    /// Without a reported interval, no airtime is counted.
    @discardableResult
    mutating func note(_ report: AdvertisingReport, at now: Duration) -> AdvertisingReport {
        var activity = RadioMeter.Activity()
        activity.advertising = ([report] + report.otherSets).filter(\.isOn).compactMap { set in
            set.interval.map {
                var sent = RadioMeter.Activity.Advertising(
                    interval: $0.lowerBound, dataLength: set.data.count)
                sent.extended = set.extended
                sent.isAnswered = set.isConnectable || set.isScannable
                return sent
            }
        }
        meter.setActivity(activity, at: now)
        return report
    }

    /// Handles the radio's stop, after which nothing is sent.
    mutating func stop(at now: Duration) {
        note(.silent, at: now)
        for id in links.keys { note(.disconnected(id), at: now) }
    }
}
