import MynahCore
import MynahHCI

/// Measures the radio's use of air time, over all its controllers.
///
/// The radio's drivers share the meter. It is confined to the radio's executor.
final class AirMeter {
    private var meter = RadioMeter()

    /// Records the current advertising, scanning and initiating of a controller.
    func note(_ session: ControllerSession, at now: Duration) {
        meter.setActivity(session.activity, at: now)
    }

    /// Adds the use of a link that has ended to the totals.
    func ended(_ link: Link, at now: Duration) {
        meter.ended(link.peer.id, link.meter.use(at: now))
    }

    /// The totals, including links that have not ended.
    func use(of links: LinkTable, isEstimated: Bool, at now: Duration) -> RadioUse {
        var use = meter.use(of: links.values.map { ($0.peer.id, $0.meter.use(at: now)) }, at: now)
        use.isEstimated = isEstimated
        return use
    }
}

extension ControllerSession {
    /// The controller's current advertising, scanning and initiating.
    fileprivate var activity: RadioMeter.Activity {
        var activity = RadioMeter.Activity()
        activity.advertising = advertiser.sent
        if let scan = scanner.scanning {
            activity.scanning = scan.interval > .zero ? scan.window / scan.interval : 1
        }
        // While initiating, the controller scans all the time: 60 ms of every 60 ms.
        if connector.isInitiating { activity.initiating = 1 }
        return activity
    }
}

extension LEConnection.Parameters {
    /// The time between two connection events in which the side with this role listens.
    ///
    /// A peripheral may skip as many events as its latency allows (Vol 6, Part B, 4.5.1).
    func attendedInterval(_ role: LEConnection.Role) -> Duration {
        .microseconds(1250 * Int(interval)) * (role == .peripheral ? 1 + Int(latency) : 1)
    }
}
