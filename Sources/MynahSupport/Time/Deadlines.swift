/// Deadlines by key, with fast access to the earliest.
///
/// The deadlines are in a heap with at most one entry per key. When a deadline moves to a later time, its
/// entry stays in the heap, and is moved only when its old time has come. So a deadline that moves with every
/// request causes no work in the heap.
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
        /// The time of the deadline's heap entry, which may be earlier than the deadline.
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

    /// The next time to call `takeDue`, or `nil` if no deadline is set.
    ///
    /// The time may be earlier than the earliest deadline.
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

    /// Removes all deadlines.
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

    /// Starts a task that sleeps until a time, and then calls `wake` with a number to pass to `woke`.
    ///
    /// If a task already sleeps until an earlier time or the same time, nothing changes. With `nil`, nothing
    /// changes either: one needless wake-up costs less than a new task for each deadline.
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

    /// Whether `arm` would start a task for this time.
    ///
    /// Callers ask first, so that they need not make a closure for each request.
    package func needs(_ time: Duration?) -> Bool {
        guard let time else { return false }
        return task == nil || wakeTime > time
    }

    /// Cancels the sleeping task.
    package mutating func stop() {
        task?.cancel()
        task = nil
    }

    /// Handles the wake-up of the task with this number.
    ///
    /// Returns `false` if the number is not that of the task started last; the caller must then do nothing.
    package mutating func woke(_ number: UInt64) -> Bool {
        guard number == self.number else { return false }
        task = nil
        return true
    }
}
