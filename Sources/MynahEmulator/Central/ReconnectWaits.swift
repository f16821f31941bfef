import MynahSupport

/// The waits of the plans by which an app gets back to its devices, one for each entry of a profile.
///
/// An app's timers stand still while it does not run: a wait that is over by then is held.
struct ReconnectWaits {
    private var tasks = SortedMap<Int, Task<Void, Never>>()
    private var held = SortedMap<Int, UInt64>()

    /// Whether a wait is held.
    var isHeld: Bool { !held.isEmpty }

    /// A wait begins, in place of the one that an entry may have.
    mutating func begin(_ entry: Int, _ task: Task<Void, Never>) {
        tasks[entry]?.cancel()
        tasks[entry] = task
        held[entry] = nil
    }

    /// A wait was over while the app did not run.
    mutating func hold(_ entry: Int, _ number: UInt64) {
        held[entry] = number
    }

    /// The app runs again.
    mutating func takeHeld() -> [(entry: Int, number: UInt64)] {
        defer { held = SortedMap() }
        return Array(held.pairs)
    }

    mutating func cancel() {
        for task in tasks.values { task.cancel() }
        (tasks, held) = (SortedMap(), SortedMap())
    }
}
