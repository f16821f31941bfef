/// Deadlines by key, the earliest first.
///
/// A binary heap with at most one entry for each key. A deadline that moves to a later time leaves its entry
/// where it is, and the entry is put back when it comes up: a deadline that moves with every request costs no
/// work in the heap.
struct Deadlines<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        var key: Key
        var time: Duration
    }

    private struct Record {
        /// When it is due, or `nil` if it was removed.
        var due: Duration?
        /// The time of its entry in the heap.
        var queued: Duration
    }

    private var heap: [Entry] = []
    private var records: [Key: Record] = [:]
    /// How many are set.
    private(set) var count = 0

    /// The time to look at next, which may be earlier than the earliest deadline; `nil` if none is set.
    var wakeTime: Duration? { count == 0 ? nil : heap.first?.time }

    /// The deadline of a key, or `nil` if none is set.
    subscript(key: Key) -> Duration? {
        get { records[key]?.due }
        set { set(key, newValue) }
    }

    private mutating func set(_ key: Key, _ due: Duration?) {
        let record = records[key]
        count += (due == nil ? 0 : 1) - (record?.due == nil ? 0 : 1)
        guard let due else {
            records[key]?.due = nil
            return
        }
        if let record, record.queued <= due {
            records[key]?.due = due
            return
        }
        records[key] = Record(due: due, queued: due)
        push(Entry(key: key, time: due))
    }

    /// Removes and returns a key that is due, or returns `nil` if none is.
    mutating func takeDue(at now: Duration) -> Key? {
        while let first = heap.first, first.time <= now {
            pop()
            guard let record = records[first.key], record.queued == first.time else { continue }
            guard let due = record.due else {
                records[first.key] = nil
                continue
            }
            guard due <= now else {
                records[first.key] = Record(due: due, queued: due)
                push(Entry(key: first.key, time: due))
                continue
            }
            records[first.key] = nil
            count -= 1
            return first.key
        }
        return nil
    }

    /// Removes all.
    mutating func removeAll() {
        self = Deadlines()
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0, heap[child].time < heap[(child - 1) / 2].time {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < heap.count }
            guard let least = children.min(by: { heap[$0].time < heap[$1].time }),
                heap[least].time < heap[parent].time
            else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

/// One task that sleeps until the earliest of a radio's deadlines.
struct DeadlineTimer {
    private var task: Task<Void, Never>?
    private var wakeTime = Duration.zero
    private var number: UInt64 = 0

    /// Sleeps until a time and then calls `wake` with a number for `woke`; a task that wakes earlier than
    /// that goes on.
    ///
    /// With `nil` nothing changes: a task that finds nothing due costs less than one for each deadline.
    mutating func arm(
        _ time: Duration?, now: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        wake: @escaping @Sendable (UInt64) async -> Void
    ) {
        guard let time, needs(time) else { return }
        task?.cancel()
        number += 1
        wakeTime = time
        task = Task { [number] in
            guard (try? await sleep(max(.zero, time - now()))) != nil else { return }
            await wake(number)
        }
    }

    /// Whether `arm` would do anything, so that a request that moves a deadline costs no closure.
    func needs(_ time: Duration?) -> Bool {
        guard let time else { return false }
        return task == nil || wakeTime > time
    }

    /// Wakes no more.
    mutating func stop() {
        task?.cancel()
        task = nil
    }

    /// Notes that a task has woken, and returns whether it is the one that was armed last.
    mutating func woke(_ number: UInt64) -> Bool {
        guard number == self.number else { return false }
        task = nil
        return true
    }
}
