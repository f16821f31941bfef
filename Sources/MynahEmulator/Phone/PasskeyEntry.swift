import MynahCore
import MynahSupport

/// The pairing that waits for the device's user to enter a passkey.
///
/// This object may be used on any thread.
final class PasskeyEntry: Sendable {
    private let asked = Lock<(central: Peer.ID, reply: PendingPairingReply)?>(nil)

    /// Whether a pairing waits for a passkey.
    var isAsked: Bool { asked.withLock { $0 != nil } }

    /// Starts to wait for a passkey for this central; an earlier pairing that waits is declined.
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

    /// Passes the passkey to the waiting pairing.
    ///
    /// Returns `false` if no pairing waits, or if `peer` is not `nil` and the pairing is with another peer.
    func enter(_ passkey: UInt32, for peer: Peer.ID? = nil) -> Bool {
        guard let asked = removeAsked(where: { peer == nil || $0 == peer }) else { return false }
        asked.reply.answer(.passkey(passkey))
        return true
    }

    /// Stops waiting if the pairing is with this central.
    func end(for central: Peer.ID) {
        _ = removeAsked { $0 == central }
    }

    /// Stops waiting.
    func end() {
        _ = removeAsked { _ in true }
    }

    /// Removes and returns the waiting pairing, if `isIt` returns `true` for its central.
    ///
    /// The caller releases the reply, which declines the pairing, after the lock has been released.
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
