/// Limits notifications to a rate, with bursts of up to a tenth of a second's worth.
///
/// bluetoothd queues without limit, so the radio has to limit. This is a token bucket on a time that the
/// caller gives.
struct NotificationPacer {
    /// Notifications a second, or `nil` for no limit.
    let rate: Int?
    /// The longest burst.
    private let burst: Double
    private var tokens: Double
    private var last: Duration = .zero

    init(rate: Int?) {
        self.rate = rate
        burst = max(1, Double(rate ?? 0) / 10)
        tokens = rate == 0 ? 0 : burst
    }

    /// Returns whether one more may be sent now, and counts it.
    mutating func spend(at now: Duration) -> Bool {
        guard let rate else { return true }
        tokens = min(burst, tokens + Double(rate) * Self.seconds(now - last))
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// The pause after which all notifications of 10 ms may be sent, so that the sender does not wake up for
    /// each one.
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
