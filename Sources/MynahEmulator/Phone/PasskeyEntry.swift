import MynahCore
import MynahSupport

/// The pairing that waits for the device's user to enter a passkey; may be used on any thread.
final class PasskeyEntry: Sendable {
    private let asked = Lock<(central: Peer.ID, reply: PendingPairingReply)?>(nil)

    /// Whether a pairing waits for a passkey.
    var isAsked: Bool { asked.withLock { $0 != nil } }

    /// Begins to wait for a central's pairing; an earlier one is declined.
    func ask(for central: Peer.ID) -> PendingPairingAnswer {
        let reply = PendingPairingReply()
        let former = asked.withLock { asked in
            defer { asked = (central, reply) }
            return asked
        }
        withExtendedLifetime(former) {}
        return reply.pending
    }

    /// The peer whose pairing waits for a passkey, or `nil` if there is none.
    var peer: Peer.ID? { asked.withLock { $0?.central } }

    /// Gives the passkey to the pairing that waits; returns `false` if there is none, or if it is with
    /// another peer than `peer`.
    func enter(_ passkey: UInt32, for peer: Peer.ID? = nil) -> Bool {
        guard let asked = removeAsked(where: { peer == nil || $0 == peer }) else { return false }
        asked.reply.answer(.passkey(passkey))
        return true
    }

    /// Stops waiting for a central's pairing, which has ended.
    func end(for central: Peer.ID) {
        _ = removeAsked { $0 == central }
    }

    /// Stops waiting for any pairing.
    func end() {
        _ = removeAsked { _ in true }
    }

    /// Removes and returns the waiting pairing; the caller drops its answer, which declines, after the lock
    /// was released.
    private func removeAsked(
        where isIt: @Sendable (Peer.ID) -> Bool
    ) -> (central: Peer.ID, reply: PendingPairingReply)? {
        asked.withLock { asked in
            guard let current = asked, isIt(current.central) else { return nil }
            asked = nil
            return current
        }
    }
}
