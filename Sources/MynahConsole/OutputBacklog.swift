/// Counts the bytes that wait for a slow reader, and limits their number.
///
/// A write that exceeds the limit is dropped and counted.
package struct OutputBacklog: Sendable {
    private let limit: Int
    /// The number of waiting bytes.
    package private(set) var waiting = 0
    private var dropped = 0

    package init(limit: Int) { self.limit = limit }

    /// Reserves room for a write; returns `false` and counts the write as dropped if there is none.
    ///
    /// Urgent bytes have twice the limit, so that log lines cannot displace the error that ends the program.
    package mutating func reserve(_ count: Int, isUrgent: Bool = false) -> Bool {
        guard waiting + count <= (isUrgent ? 2 * limit : limit) else {
            dropped += 1
            return false
        }
        waiting += count
        return true
    }

    /// Whether there is room for a number of bytes.
    ///
    /// If no bytes wait, there is room for any number.
    package func hasRoom(_ count: Int) -> Bool { waiting == 0 || waiting + count <= limit }

    /// Frees the room of bytes that were written.
    package mutating func remove(_ count: Int) { waiting -= count }

    /// The number of writes dropped since the last call.
    ///
    /// The result is 0 while there is no room for a message about them.
    package mutating func takeDropped() -> Int {
        guard waiting < limit / 2 else { return 0 }
        defer { dropped = 0 }
        return dropped
    }
}
