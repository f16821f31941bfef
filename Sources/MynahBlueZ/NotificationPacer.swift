/// Lets a number of notifications through a second, and up to a tenth of a second's worth at once.
///
/// bluetoothd queues what it is given without limit, so the limit is ours. A token bucket on a time that the caller gives.
struct NotificationPacer {
    /// Notifications a second; nil: any number.
    let rate: Int?
    /// How many may go at once.
    private let burst: Double
    private var tokens: Double
    private var last: Duration = .zero

    init(rate: Int?) {
        self.rate = rate
        burst = max(1, Double(rate ?? 0) / 10)
        tokens = rate == 0 ? 0 : burst
    }

    /// Whether one more may go now; it then counts as gone.
    mutating func take(at now: Duration) -> Bool {
        guard let rate else { return true }
        tokens = min(burst, tokens + Double(rate) * Self.seconds(now - last))
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// How long until several may go: a hundredth of a second's worth, so that a slow rate does not wake us for each.
    var pause: Duration {
        guard let rate, rate > 0 else { return .zero }
        let wanted = max(1, min(burst, Double(rate) / 100))
        return .nanoseconds(Int64(max(0, wanted - tokens) / Double(rate) * 1e9) + 1)
    }

    private static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return max(0, Double(seconds) + Double(attoseconds) / 1e18)
    }
}
