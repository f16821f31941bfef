/// Limits notifications to a rate; bursts may have as many as a tenth of a second allows.
///
/// The radio limits them because bluetoothd queues any number. The limit is a token bucket; the caller passes
/// the time.
struct NotificationPacer {
    /// The allowed notifications a second, or `nil` for no limit.
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

    /// Counts one more notification if it may be sent now; returns whether it may.
    mutating func spend(at now: Duration) -> Bool {
        guard let rate else { return true }
        tokens = min(burst, tokens + Double(rate) * Self.seconds(now - last))
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// The pause until the notifications of 10 ms may be sent, so that the sender does not wake up for each
    /// one.
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
