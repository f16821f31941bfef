import Mynah
import MynahLifecycle
import MynahSupport

/// The values that an app writes periodically, with their timers.
///
/// A write that is due while the app does not run is held until the app runs.
struct RepeatedWrites {
    /// A value that is written periodically on a link.
    struct Repetition: Comparable {
        let device: PeripheralIdentifier
        let entry: Int
        let write: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.entry, left.write, left.device.description)
                < (right.entry, right.write, right.device.description)
        }
    }

    private var timers = SortedMap<Repetition, Task<Void, Never>>()
    /// The writes that became due while the app did not run, in that order.
    private var held: [Repetition] = []

    var isHeld: Bool { !held.isEmpty }

    /// Adds a value with the timer of its next write.
    mutating func wait(for repetition: Repetition, _ timer: Task<Void, Never>) {
        timers[repetition] = timer
    }

    /// Removes a value and cancels its timer.
    mutating func cancel(_ repetition: Repetition) { timers.removeValue(forKey: repetition)?.cancel() }

    /// Removes a value whose timer has fired.
    mutating func end(_ repetition: Repetition) { timers[repetition] = nil }

    /// Holds a write until the app runs again.
    mutating func hold(_ repetition: Repetition) {
        if !held.contains(repetition) { held.append(repetition) }
    }

    /// Removes and returns the held writes.
    mutating func release() -> [Repetition] {
        defer { held = [] }
        return held
    }

    /// Stops the periodic writes to the matching devices; by default to all.
    mutating func stop(to isMeant: (PeripheralIdentifier) -> Bool = { _ in true }) {
        for (repetition, timer) in timers.pairs where isMeant(repetition.device) {
            timer.cancel()
            timers[repetition] = nil
        }
        held.removeAll { isMeant($0.device) }
    }
}
