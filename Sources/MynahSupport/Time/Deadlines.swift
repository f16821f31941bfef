/// Deadlines by key, of which the earliest can be found quickly.
///
/// The deadlines are in a heap that has at most one entry for each key. When a deadline moves to a later
/// time, its entry stays, and is only moved when its old time has come. So a deadline that moves with every
/// request costs no work in the heap.
@usableFromInline package struct Deadlines<Key: Hashable & Sendable>: Sendable {
    @usableFromInline struct Entry: Comparable, Sendable {
        @usableFromInline var key: Key
        @usableFromInline var time: Duration

        @inlinable init(key: Key, time: Duration) {
            self.key = key
            self.time = time
        }

        @inlinable static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
    }

    @usableFromInline struct Record: Sendable {
        /// The time of the deadline, or `nil` if the deadline was removed.
        @usableFromInline var due: Duration?
        /// The time of the deadline's entry in the heap, which may be earlier.
        @usableFromInline var queued: Duration

        @inlinable init(due: Duration?, queued: Duration) {
            self.due = due
            self.queued = queued
        }
    }

    @usableFromInline var heap = MinHeap<Entry>()
    @usableFromInline var records: [Key: Record] = [:]
    /// The number of deadlines.
    @inlinable package var count: Int { setCount }
    @usableFromInline var setCount = 0

    /// Makes a table without deadlines.
    @inlinable package init() {}

    /// The time at which to call `takeDue` next, which may be earlier than the earliest deadline; `nil` if no
    /// deadline is set.
    @inlinable package var wakeTime: Duration? { count == 0 ? nil : heap.first?.time }

    /// The deadline of a key, or `nil` if none is set.
    @inlinable package subscript(key: Key) -> Duration? {
        get { records[key]?.due }
        set { set(key, newValue) }
    }

    @inlinable mutating func set(_ key: Key, _ due: Duration?) {
        let record = records[key]
        setCount += (due == nil ? 0 : 1) - (record?.due == nil ? 0 : 1)
        guard let due else {
            records[key]?.due = nil
            return
        }
        if let record, record.queued <= due {
            records[key]?.due = due
            return
        }
        records[key] = Record(due: due, queued: due)
        heap.insert(Entry(key: key, time: due))
    }

    /// Removes and returns a key whose deadline has passed; returns `nil` if there is none.
    @inlinable package mutating func takeDue(at now: Duration) -> Key? {
        while let first = heap.first, first.time <= now {
            heap.removeFirst()
            guard let record = records[first.key], record.queued == first.time else { continue }
            guard let due = record.due else {
                records[first.key] = nil
                continue
            }
            guard due <= now else {
                records[first.key] = Record(due: due, queued: due)
                heap.insert(Entry(key: first.key, time: due))
                continue
            }
            records[first.key] = nil
            setCount -= 1
            return first.key
        }
        return nil
    }

    /// Removes all.
    @inlinable package mutating func removeAll() {
        self = Deadlines()
    }
}

/// One task that sleeps until the earliest of several deadlines.
package struct DeadlineTimer: Sendable {
    private let clock: RunClock
    private var task: Task<Void, Never>?
    private var wakeTime = Duration.zero
    private var number: UInt64 = 0

    /// Makes a timer without a deadline.
    package init(_ clock: RunClock) {
        self.clock = clock
    }

    /// Sleeps until a time, and then calls `wake` with a number to pass to `woke`.
    ///
    /// A task that wakes at an earlier time is kept.
    ///
    /// With `nil` nothing changes, because a task that wakes for nothing costs less than a new task for each
    /// deadline.
    package mutating func arm(_ time: Duration?, wake: @escaping @Sendable (UInt64) async -> Void) {
        guard let time, needs(time) else { return }
        task?.cancel()
        number += 1
        wakeTime = time
        task = Task(executorPreference: clock.taskExecutor) { [clock, number] in
            guard (try? await clock.sleep(until: .init(offset: time))) != nil else { return }
            await wake(number)
        }
    }

    /// Whether `arm` with this time would start a task; asking first saves a closure for each request.
    package func needs(_ time: Duration?) -> Bool {
        guard let time else { return false }
        return task == nil || wakeTime > time
    }

    /// Stops waking.
    package mutating func stop() {
        task?.cancel()
        task = nil
    }

    /// Notes that a task woke up; returns whether it is the task that was started last.
    package mutating func woke(_ number: UInt64) -> Bool {
        guard number == self.number else { return false }
        task = nil
        return true
    }
}
