/// The waiting time of a peer after failed pairings (Core Specification, Vol 3, Part H, 2.3.6).
///
/// The time doubles with each failure, from 1 s up to 64 s. It halves after every 64 s without a failure.
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

    /// Records a failed pairing.
    mutating func failed(at now: Duration) {
        let current = decayed(at: now)
        wait = current < Self.shortest ? Self.shortest : min(current * 2, Self.longest)
        last = now
    }

    /// Resets the waiting time after a successful pairing.
    mutating func succeeded() { self = PairingAttempts() }

    private func decayed(at now: Duration) -> Duration {
        guard let last, now > last else { return wait }
        // After seven halvings, nothing is left.
        let halvings = min((now - last).components.seconds / Self.longest.components.seconds, 7)
        return wait / (1 << Int(halvings))
    }
}
