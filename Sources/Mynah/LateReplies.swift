import MynahCore

/// The answers that an app still owes.
struct LateReplies {
    private var replies: [UInt64: PendingReply] = [:]
    private var lastNumber: UInt64 = 0

    /// Returns the radio's end of a new reply, and the reply's number.
    mutating func add() -> (PendingAnswer, UInt64) {
        let reply = PendingReply()
        lastNumber += 1
        replies[lastNumber] = reply
        return (reply.pending, lastNumber)
    }

    /// Returns a reply that is to be given now, or `nil` if it is too late.
    mutating func take(_ number: UInt64) -> PendingReply? {
        replies.removeValue(forKey: number)
    }

    /// Returns all replies: the app cannot give them any more.
    mutating func takeAll() -> [PendingReply] {
        defer { replies = [:] }
        return Array(replies.values)
    }
}
