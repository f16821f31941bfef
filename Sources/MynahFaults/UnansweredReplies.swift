import MynahCore

/// Replies that are not given while the links of their centrals exist.
struct UnansweredReplies: Sendable {
    private var replies: [Peer.ID: [PendingReply]] = [:]

    /// The answer to a request of a central that gets none.
    mutating func add(_ central: Peer.ID) -> RadioAnswer {
        let reply = PendingReply()
        replies[central, default: []].append(reply)
        return .later(reply.pending)
    }

    /// The link of a central has ended.
    mutating func forget(_ central: Peer.ID) { replies[central] = nil }
}
