/// The time for which a peer that failed to pair must wait before its next attempt (Core Specification, Vol
/// 3, Part H, 2.3.6).
///
/// The time doubles with each failure, up to a limit, and halves after each period of that length without a
/// failure.
struct PairingAttempts: Hashable, Sendable {
    static let shortest = Duration.seconds(1)
    static let longest = Duration.seconds(64)

    private var wait = Duration.zero
    private var last: Duration?

    /// Whether a pairing may begin.
    func isAllowed(at now: Duration) -> Bool {
        guard let last else { return true }
        return now >= last + wait
    }

    /// Notes a pairing that failed.
    mutating func failed(at now: Duration) {
        let current = decayed(at: now)
        wait = current < Self.shortest ? Self.shortest : min(current * 2, Self.longest)
        last = now
    }

    /// Notes a pairing that succeeded.
    mutating func succeeded() { self = PairingAttempts() }

    private func decayed(at now: Duration) -> Duration {
        guard let last, now > last else { return wait }
        // Longer than six halvings nothing is left.
        let halvings = min((now - last).components.seconds / Self.longest.components.seconds, 7)
        return wait / (1 << Int(halvings))
    }
}
