import MynahCore
import MynahSupport

/// The replies to requests that an app has not answered yet.
struct LateReplies {
    private var replies = SortedMap<UInt64, (reply: PendingReply, request: PeripheralEvent)>()
    private var lastNumber: UInt64 = 0

    /// Adds a reply; returns the pending answer for the radio, and the number of the reply.
    mutating func add(for request: PeripheralEvent) -> (PendingAnswer, UInt64) {
        let reply = PendingReply()
        lastNumber += 1
        replies[lastNumber] = (reply, request)
        return (reply.pending, lastNumber)
    }

    /// Removes and returns a reply, or returns `nil` if it was removed before.
    mutating func remove(_ number: UInt64) -> PendingReply? {
        replies.removeValue(forKey: number)?.reply
    }

    /// Removes and returns all replies in the order of their requests, because the app can no longer answer.
    mutating func takeAll() -> [(reply: PendingReply, request: PeripheralEvent)] {
        defer { replies = SortedMap() }
        return replies.values
    }
}
