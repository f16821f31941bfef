import MynahSupport

/// The timers of the plans by which an app connects its devices, one for each entry of a profile.
///
/// An app's timers do not fire while it does not run: a wait that ends in that time is held until the app
/// runs.
struct ReconnectWaits {
    private var tasks = SortedMap<Int, Task<Void, Never>>()
    private var held = SortedMap<Int, UInt64>()

    /// Whether a wait has ended and is held.
    var isHeld: Bool { !held.isEmpty }

    /// Begins a wait, in place of the entry's earlier one.
    mutating func begin(_ entry: Int, _ task: Task<Void, Never>) {
        tasks[entry]?.cancel()
        tasks[entry] = task
        held[entry] = nil
    }

    /// Holds a wait that ended while the app did not run.
    mutating func hold(_ entry: Int, _ number: UInt64) {
        held[entry] = number
    }

    /// Removes and returns the held waits, because the app runs again.
    mutating func takeHeld() -> [(entry: Int, number: UInt64)] {
        defer { held = SortedMap() }
        return Array(held.pairs)
    }

    mutating func cancel() {
        for task in tasks.values { task.cancel() }
        (tasks, held) = (SortedMap(), SortedMap())
    }
}
