/// Limits the rate of notifications, because bluetoothd queues any number of them.
///
/// The limit is a token bucket, in which a burst has at most the notifications of a tenth of a second. The
/// caller passes the time.
struct NotificationPacer {
    /// The allowed notifications a second, or `nil` for no limit.
    let rate: Int?
    /// The largest number of notifications in a burst.
    private let burst: Double
    private var tokens: Double
    private var last: Duration = .zero

    init(rate: Int?) {
        self.rate = rate
        burst = max(1, Double(rate ?? 0) / 10)
        tokens = rate == 0 ? 0 : burst
    }

    /// Counts a notification and returns `true` if it may be sent now; otherwise returns `false`.
    mutating func spend(at now: Duration) -> Bool {
        guard let rate else { return true }
        tokens = min(burst, tokens + Double(rate) * Self.seconds(now - last))
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// The time to wait until the next group of notifications may be sent.
    ///
    /// A group has all notifications for about 10 ms, so that the sender does not wake up for each one.
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
