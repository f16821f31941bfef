import MynahCore

/// Replies that are never given.
///
/// They are kept until their link ends: if a reply were dropped, its request would be answered with an error.
struct UnansweredReplies: Sendable {
    private var replies: [Peer.ID: [PendingReply]] = [:]

    /// Returns a pending answer that is never given, for a request of a central.
    mutating func add(_ central: Peer.ID) -> RadioAnswer {
        let reply = PendingReply()
        replies[central, default: []].append(reply)
        return .later(reply.pending)
    }

    /// Drops the replies of a central whose link has ended.
    mutating func forget(_ central: Peer.ID) { replies[central] = nil }
}
