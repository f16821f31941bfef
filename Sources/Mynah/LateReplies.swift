import MynahCore
import MynahSupport

/// The answers that an app still owes.
struct LateReplies {
    private var replies = SortedMap<UInt64, (reply: PendingReply, request: PeripheralEvent)>()
    private var lastNumber: UInt64 = 0

    /// Returns the radio's end of a new reply, and the reply's number.
    mutating func add(for request: PeripheralEvent) -> (PendingAnswer, UInt64) {
        let reply = PendingReply()
        lastNumber += 1
        replies[lastNumber] = (reply, request)
        return (reply.pending, lastNumber)
    }

    /// Returns a reply that is to be given now, or `nil` if it is too late.
    mutating func remove(_ number: UInt64) -> PendingReply? {
        replies.removeValue(forKey: number)?.reply
    }

    /// Returns all replies in the order of their requests: the app cannot give them any more.
    mutating func takeAll() -> [(reply: PendingReply, request: PeripheralEvent)] {
        defer { replies = SortedMap() }
        return replies.values
    }
}
