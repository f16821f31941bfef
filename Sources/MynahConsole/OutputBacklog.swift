/// The bytes that wait for a slow reader.
///
/// Their number is limited: writes for which there is no room are dropped and counted.
package struct OutputBacklog: Sendable {
    private let limit: Int
    /// The number of bytes that wait.
    package private(set) var waiting = 0
    private var dropped = 0

    package init(limit: Int) { self.limit = limit }

    /// Reserves room for a number of bytes.
    ///
    /// If there is none, counts a dropped write and returns `false`.
    ///
    /// Urgent bytes have twice the room, so that log lines cannot displace the error that ends the program.
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

    /// Notes that a number of bytes were written.
    package mutating func remove(_ count: Int) { waiting -= count }

    /// The number of writes that were dropped since the last call; 0 while there is no room to report it.
    package mutating func takeDropped() -> Int {
        guard waiting < limit / 2 else { return 0 }
        defer { dropped = 0 }
        return dropped
    }
}
