package import MynahEmulator
import MynahProfiles
package import MynahSupport

/// The events of a run in the order in which they happened, each with a sequence number (`seq`).
///
/// The journal stores events as values; JSON is made when they are read. The number of events and their
/// memory are limited: the oldest events are dropped, and a reader that has not read them gets the number of
/// missed events. Sequence numbers continue after the journal was cleared. A restart of the run begins a new
/// epoch, in which they begin with 1 again.
///
/// Adding an event takes a lock, and wakes the readers that wait for it. The readers themselves compare
/// events with matches.
package final class Journal: Sendable {
    /// An event of a device, with its number.
    package struct Entry: Hashable, Sendable {
        /// The event's number: the first event of a run has 1.
        package let seq: UInt64
        /// The event, including its device's name.
        package let event: DeviceEvent

        package init(seq: UInt64, event: DeviceEvent) {
            self.seq = seq
            self.event = event
        }

        /// The event as one JSON object, beginning with `seq`.
        package var json: JSON {
            guard case .object(let members) = event.json else { return event.json }
            return .object([.init("seq", .integer(Int(clamping: seq)))] + members)
        }
    }

    /// A part of the journal.
    package struct Slice: Hashable, Sendable {
        /// The events, in order.
        package var entries: [Entry]
        /// The number of the event that follows the slice.
        package var next: UInt64
        /// The number of requested events that are no longer in the journal.
        package var lost: UInt64

        package init(entries: [Entry], next: UInt64, lost: UInt64) {
            self.entries = entries
            self.next = next
            self.lost = lost
        }
    }

    /// A named position in the journal, set by a client.
    package struct Mark: Hashable, Sendable {
        /// The name that the client chose.
        package let name: String
        /// The number of the next event when the mark was set.
        ///
        /// `since` with this number selects the events after the mark.
        package let seq: UInt64
    }

    /// The maximum number of marks; if there are more, the oldest ones are dropped.
    package static let markLimit = 10_000

    private struct Waiter {
        let key: UInt64
        /// The number of the event that the waiter waits for.
        let seq: UInt64
        /// `true` if changes without an event also wake the waiter.
        let noticesChanges: Bool
        /// The continuation, which is resumed with `true` if there is an event with the number `seq` or a
        /// higher one.
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var events: EventRing
        var epoch: String
        /// The number of events in all earlier epochs.
        var before: UInt64 = 0
        /// The previous epoch with its events, for readers that have not read all of them, or `nil`.
        var former: (epoch: String, events: EventRing, before: UInt64)?
        /// The number of the first event since the run started or the journal was emptied.
        var start: UInt64 = 1
        var marks: [Mark] = []
        /// The number of changes without an event so far.
        var changes: UInt64 = 0
        var isEnded = false
        var waiters: [Waiter] = []
        var lastKey: UInt64 = 0
        /// The number of events since the run started, by name.
        var counts: [DeviceEvent.Name: Int] = [:]

        /// Removes and returns the readers that wait for the event with this number or for an earlier one.
        mutating func takeWaiters(upTo seq: UInt64) -> [Waiter] { takeWaiters { $0.seq <= seq } }

        /// Counts a change of the journal or the run for which there is no event.
        ///
        /// Removes and returns the readers that wait for such a change.
        mutating func change() -> [Waiter] {
            changes += 1
            return takeWaiters(where: \.noticesChanges)
        }

        private mutating func takeWaiters(where isTaken: (Waiter) -> Bool) -> [Waiter] {
            let reached = waiters.partition(by: isTaken)
            defer { waiters.removeSubrange(reached...) }
            return Array(waiters[reached...])
        }
    }

    private let state: Lock<State>
    private let capacity: Int
    private let byteLimit: Int

    /// Makes an empty journal, which limits the number of events and their estimated memory in bytes.
    package init(capacity: Int = 100_000, byteLimit: Int = 64 << 20, epoch: String? = nil) {
        self.capacity = capacity
        self.byteLimit = byteLimit
        state = Lock(
            State(
                events: EventRing(capacity: capacity, byteLimit: byteLimit),
                epoch: epoch ?? Self.newEpoch()))
    }

    /// Returns a new random epoch.
    ///
    /// Two runs with the same seed have different epochs, because clients must notice that another run has
    /// started.
    private static func newEpoch() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// The random text that identifies this journal since its last restart.
    ///
    /// The epoch is part of the identifiers of server-sent events.
    package var epoch: String { state.withLock { $0.epoch } }

    // MARK: Writing

    /// Adds an event, and returns its number.
    ///
    /// `device` is the name of the event's device, for an event that does not contain it. Readers get the
    /// event with this name.
    @discardableResult
    package func append(_ event: DeviceEvent, of device: String? = nil) -> UInt64 {
        let element = EventRing.Element(event: event, device: device)
        let (seq, woken): (UInt64, [Waiter]) = state.withLock { state in
            let seq = state.events.append(element)
            state.counts[event.name, default: 0] += 1
            return (seq, state.waiters.isEmpty ? [] : state.takeWaiters(upTo: seq))
        }
        for waiter in woken { waiter.continuation.resume(returning: true) }
        return seq
    }

    /// Sets a mark after the last event, and returns the number of the next event.
    @discardableResult
    package func mark(_ name: String) -> UInt64 {
        let (seq, woken): (UInt64, [Waiter]) = state.withLock { state in
            if state.marks.count == Self.markLimit { state.marks.removeFirst() }
            let seq = state.events.next
            state.marks.append(Mark(name: name, seq: seq))
            return (seq, state.change())
        }
        for waiter in woken { waiter.continuation.resume(returning: false) }
        return seq
    }

    /// Removes all events and marks; sequence numbers continue.
    package func clear() {
        // Freeing the events of a long run takes milliseconds, so this is done after the lock is released.
        let (_, woken) = state.withLock { state in
            state.marks = []
            state.former = nil
            defer { state.start = state.events.next }
            return (state.events.removeAll(), state.change())
        }
        for waiter in woken { waiter.continuation.resume(returning: false) }
    }

    /// Starts a new epoch without events and marks, in which the first event has the number 1.
    ///
    /// Readers first receive the rest of the previous epoch.
    package func restart() {
        let fresh = EventRing(capacity: capacity, byteLimit: byteLimit)
        let (_, woken): (EventRing?, [Waiter]) = state.withLock { state in
            let forgotten = state.former?.events
            state.former = (state.epoch, state.events, state.before)
            state.before += state.events.next - 1
            state.events = fresh
            state.epoch = Self.newEpoch()
            state.start = 1
            state.marks = []
            state.changes += 1
            defer { state.waiters = [] }
            return (forgotten, state.waiters)
        }
        for waiter in woken { waiter.continuation.resume(returning: false) }
    }

    /// Counts a change of the run without an event, such as a new time.
    package func noteChange() {
        for waiter in state.withLock({ $0.change() }) { waiter.continuation.resume(returning: false) }
    }

    /// Wakes all waiters at the end of the run.
    ///
    /// Events that are appended later are stored, but readers do not wait for them.
    package func end() {
        let woken: [Waiter] = state.withLock { state in
            state.isEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in woken { waiter.continuation.resume(returning: false) }
    }

    // MARK: Reading

    /// Returns at most `limit` events, beginning with the event that has the number `seq`.
    package func read(from seq: UInt64, limit: Int = 1000) -> Slice {
        // Events get their devices' names after the lock is released, so that devices do not wait to append.
        Slice(state.withLock { $0.events.part(from: seq, limit: limit) })
    }

    /// A position at which a reader continues, even after the journal was restarted.
    struct Place: Hashable, Sendable {
        /// The epoch to which `seq` belongs.
        var epoch: String
        /// The number of events before that epoch.
        var before: UInt64
        /// The number of the next event to read.
        var seq: UInt64
    }

    /// Returns the position of the event with the number `seq` in an epoch, by default in the current one.
    ///
    /// If the epoch is not known, the position is that of the first event in the current epoch.
    func place(of seq: UInt64, in epoch: String? = nil) -> Place {
        state.withLock { state in
            if let former = state.former, former.epoch == epoch {
                return Place(epoch: former.epoch, before: former.before, seq: seq)
            }
            let isKnown = epoch == nil || epoch == state.epoch
            return Place(epoch: state.epoch, before: state.before, seq: isKnown ? seq : 1)
        }
    }

    /// Returns at most `limit` events of one epoch, and the position at which to continue.
    func read(from place: Place, limit: Int) -> (slice: Slice, next: Place) {
        var next = place
        let part = state.withLock { state in
            if let former = state.former, former.epoch == place.epoch, place.seq < former.events.next {
                let part = former.events.part(from: place.seq, limit: limit)
                next.seq = part.next
                return part
            }
            guard state.epoch != place.epoch else {
                let part = state.events.part(from: place.seq, limit: limit)
                next.seq = part.next
                return part
            }
            var part = state.events.part(from: 1, limit: limit)
            next = Place(epoch: state.epoch, before: state.before, seq: part.next)
            part.lost += state.before - min(place.before + place.seq - 1, state.before)
            return part
        }
        return (Slice(part), next)
    }

    /// The range of the numbers of the events in the journal.
    ///
    /// The upper bound is the number of the next event.
    package var kept: Range<UInt64> { state.withLock { $0.events.first..<$0.events.next } }

    /// The number of events since the run started, by name, sorted by name.
    package var counts: [(name: DeviceEvent.Name, count: Int)] {
        state.withLock { $0.counts }.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) }
    }

    /// The marks, in the order in which they were set.
    package var marks: [Mark] { state.withLock { $0.marks } }

    /// The number of changes without an event so far: marks, removals of all events, and changes of the run's
    /// time.
    package var changes: UInt64 { state.withLock { $0.changes } }

    /// Whether the run is over.
    package var isEnded: Bool { state.withLock { $0.isEnded } }

    /// The number of readers that wait for an event.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Returns the number of the first event to which a request applies.
    ///
    /// This is `since`, or else the last mark, or else the first event since the run started or the journal
    /// was cleared. Throws a problem with status 400 if `since` is after the next event.
    package func start(since: UInt64?) throws(ControlProblem) -> UInt64 {
        let (start, next) = state.withLock { state in
            (since ?? state.marks.last?.seq ?? state.start, state.events.next)
        }
        guard start <= next else {
            throw ControlProblem(
                400,
                """
                there is no event \(start) yet, the next event is \(next); each run has its own numbers, \
                which its marks and events have
                """
            )
        }
        return max(start, 1)
    }

    /// Makes a key that identifies a reader in calls of `wake`.
    func newKey() -> UInt64 {
        state.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
    }

    /// Wakes the reader with this key, if it waits.
    func wake(_ key: UInt64) {
        let waiter: Waiter? = state.withLock { state in
            state.waiters.firstIndex { $0.key == key }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }

    /// Waits until there is an event with this number or a higher one.
    ///
    /// The call also returns when the journal has ended, when the reader with this key is woken, and when
    /// the task is cancelled. With `changes`, it also returns after a change without an event, and at once
    /// if the number of such changes differs from `changes`. It also returns at once if the epoch differs
    /// from `epoch`.
    ///
    /// Returns `true` if there is such an event, or if the epoch differs.
    @discardableResult
    package func changed(
        from seq: UInt64, key: UInt64? = nil, changes: UInt64? = nil, epoch: String? = nil
    ) async -> Bool {
        let key = key ?? newKey()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere: Bool? = state.withLock { state in
                    if let epoch, epoch != state.epoch { return true }
                    if seq < state.events.next { return true }
                    // A task is marked as cancelled before its handlers run. If our handler has already run
                    // without finding a waiter, the mark is seen here.
                    if state.isEnded || Task.isCancelled { return false }
                    if let changes, changes != state.changes { return false }
                    state.waiters.append(
                        Waiter(
                            key: key, seq: seq, noticesChanges: changes != nil, continuation: continuation))
                    return nil
                }
                if let isThere { continuation.resume(returning: isThere) }
            }
        } onCancel: {
            wake(key)
        }
    }
}

extension Journal {
    /// Calls `body` with slices of the events that have the number `seq` or a higher one, until it returns
    /// `false`.
    ///
    /// Events that happen during the calls are not included, so the function ends even if events come fast.
    /// Other tasks can run between two slices, because searching a full journal takes long.
    package func forEachSlice(from seq: UInt64, _ body: (Slice) -> Bool) async {
        let end = kept.upperBound
        var position = seq
        while position < end {
            let slice = read(from: position, limit: Int(clamping: min(end - position, 1000)))
            position = slice.next
            guard body(slice) else { return }
            if position < end { await Task.yield() }
        }
    }
}
