import MynahCore
import MynahSupport

/// The number that a pairing asks the device's user for; any thread may look whether one does.
final class PasskeyEntry: Sendable {
    private let asked = Lock<(central: Peer.ID, reply: PendingPairingReply)?>(nil)

    /// Whether a pairing waits for a number.
    var isAsked: Bool { asked.withLock { $0 != nil } }

    /// A central's pairing asks; one that asked before is declined.
    func ask(for central: Peer.ID) -> PendingPairingAnswer {
        let reply = PendingPairingReply()
        let former = asked.withLock { asked in
            defer { asked = (central, reply) }
            return asked
        }
        withExtendedLifetime(former) {}
        return reply.pending
    }

    /// The peer whose pairing waits for a number, or `nil` if none does.
    var peer: Peer.ID? { asked.withLock { $0?.central } }

    /// Gives the number; returns `false` if none was asked for, or if it was asked for another peer.
    func enter(_ passkey: UInt32, for peer: Peer.ID? = nil) -> Bool {
        guard let asked = removeAsked(where: { peer == nil || $0 == peer }) else { return false }
        asked.reply.answer(.passkey(passkey))
        return true
    }

    /// The central's pairing is over.
    func end(for central: Peer.ID) {
        _ = removeAsked { $0 == central }
    }

    /// Nothing is asked any more.
    func end() {
        _ = removeAsked { _ in true }
    }

    /// An answer that is dropped declines, which must not happen while the lock is held.
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
