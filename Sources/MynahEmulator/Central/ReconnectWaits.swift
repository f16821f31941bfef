import MynahSupport

/// The timers of the plans by which an app connects to its devices, at most one for each profile entry.
///
/// An app's timers do not fire while the app does not run. A timer that ends in that time is held until the
/// app runs.
struct ReconnectWaits {
    private var tasks = SortedMap<Int, Task<Void, Never>>()
    private var held = SortedMap<Int, UInt64>()

    /// Whether a timer has ended and is held.
    var isHeld: Bool { !held.isEmpty }

    /// Adds a timer, which replaces the entry's earlier one.
    mutating func begin(_ entry: Int, _ task: Task<Void, Never>) {
        tasks[entry]?.cancel()
        tasks[entry] = task
        held[entry] = nil
    }

    /// Holds a timer that ended while the app did not run.
    mutating func hold(_ entry: Int, _ number: UInt64) {
        held[entry] = number
    }

    /// Removes and returns the held timers.
    mutating func takeHeld() -> [(entry: Int, number: UInt64)] {
        defer { held = SortedMap() }
        return Array(held.pairs)
    }

    mutating func cancel() {
        for task in tasks.values { task.cancel() }
        (tasks, held) = (SortedMap(), SortedMap())
    }
}
