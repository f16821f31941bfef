package import MynahEmulator
import MynahProfiles
package import MynahSupport

/// The events of a run in the order in which they happened, each with a sequence number (`seq`).
///
/// The journal keeps events as values; JSON is made when they are read. Its length and its memory are
/// bounded: the oldest events are dropped, and a reader that has not read them gets their number. Sequence
/// numbers go on when the journal is emptied.
///
/// Appending costs a lock and, if readers wait, one wake-up for each of them: matching is their work.
package final class Journal: Sendable {
    /// One event of a device.
    package struct Entry: Hashable, Sendable {
        /// The event's number: the first event of a run has 1.
        package let seq: UInt64
        /// The event, which has `device`.
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
        /// The number to go on from.
        package var next: UInt64
        /// How many events from the asked number on are not kept any more.
        package var lost: UInt64

        package init(entries: [Entry], next: UInt64, lost: UInt64) {
            self.entries = entries
            self.next = next
            self.lost = lost
        }
    }

    /// A place in the journal that a client has named.
    package struct Mark: Hashable, Sendable {
        /// The client's name for it.
        package let name: String
        /// The number of the next event when the mark was set: `since` with this number selects the events
        /// after the mark.
        package let seq: UInt64
    }

    /// How many marks are kept; the oldest are dropped.
    package static let markLimit = 10_000

    private struct Waiter {
        let key: UInt64
        /// The number that it waits for.
        let seq: UInt64
        /// `true` if changes that are no events wake the waiter too.
        let noticesChanges: Bool
        /// Called with whether there is an event with this number or a higher one.
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var events: EventRing
        var epoch: String
        /// How many events there were before this epoch.
        var before: UInt64 = 0
        /// The epoch before this one, whose events are kept for readers that are not at its end.
        var former: (epoch: String, events: EventRing, before: UInt64)?
        /// The number of the first event since the run started or the journal was emptied.
        var start: UInt64 = 1
        var marks: [Mark] = []
        /// How often something changed that is no event.
        var changes: UInt64 = 0
        var isEnded = false
        var waiters: [Waiter] = []
        var lastKey: UInt64 = 0
        /// How many events of each name there were since the run started.
        var counts: [DeviceEvent.Name: Int] = [:]

        /// Removes and returns the waiters that wait for this number or a lower one.
        mutating func takeWaiters(upTo seq: UInt64) -> [Waiter] { takeWaiters { $0.seq <= seq } }

        /// Counts a change that is no event; removes and returns the waiters that notice it.
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

    /// An empty journal with limits for the number of events and for their estimated size in bytes.
    package init(capacity: Int = 100_000, byteLimit: Int = 64 << 20, epoch: String? = nil) {
        self.capacity = capacity
        self.byteLimit = byteLimit
        state = Lock(
            State(
                events: EventRing(capacity: capacity, byteLimit: byteLimit),
                epoch: epoch ?? Self.newEpoch()))
    }

    /// Two runs with the same seed differ in it, too: a client that knows one is not told about the other.
    private static func newEpoch() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// Distinguishes this journal from those of other runs and histories, in the identifiers of server-sent
    /// events.
    package var epoch: String { state.withLock { $0.epoch } }

    // MARK: Writing

    /// Adds an event of a device; returns its number.
    ///
    /// An event that does not name a device itself gets this one when it is read.
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

    /// Names the place after the last event; returns the number of the next event.
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

    /// Forgets all events and marks; numbers go on.
    package func clear() {
        // Freeing the events of a long run takes milliseconds, in which nobody should wait for the lock.
        let (_, woken) = state.withLock { state in
            state.marks = []
            state.former = nil
            defer { state.start = state.events.next }
            return (state.events.removeAll(), state.change())
        }
        for waiter in woken { waiter.continuation.resume(returning: false) }
    }

    /// Begins anew with another epoch: there are no events and no marks, and the next event has the number 1.
    ///
    /// Readers first get the rest of the epoch that has ended.
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

    /// Notes a change of the run that is no event, such as another time.
    package func noteChange() {
        for waiter in state.withLock({ $0.change() }) { waiter.continuation.resume(returning: false) }
    }

    /// Wakes all waiters at the end of the run.
    ///
    /// Events that are appended later are kept, but readers do not wait for them.
    package func end() {
        let woken: [Waiter] = state.withLock { state in
            state.isEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in woken { waiter.continuation.resume(returning: false) }
    }

    // MARK: Reading

    /// The events from a number on, at most `limit`.
    package func read(from seq: UInt64, limit: Int = 1000) -> Slice {
        // Events get their devices after the lock is released: a device may wait for it to append.
        Slice(state.withLock { $0.events.part(from: seq, limit: limit) })
    }

    /// A position at which a reader continues, also after the journal has begun anew.
    struct Place: Hashable, Sendable {
        /// The epoch of the number.
        var epoch: String
        /// How many events there were before that epoch.
        var before: UInt64
        /// The number of an event.
        var seq: UInt64
    }

    /// The place of a number in an epoch; in an unknown epoch, the place of the first event.
    func place(of seq: UInt64, in epoch: String? = nil) -> Place {
        state.withLock { state in
            if let former = state.former, former.epoch == epoch {
                return Place(epoch: former.epoch, before: former.before, seq: seq)
            }
            let isKnown = epoch == nil || epoch == state.epoch
            return Place(epoch: state.epoch, before: state.before, seq: isKnown ? seq : 1)
        }
    }

    /// The events from a place on, at most `limit`, all of one epoch, and the place to go on from.
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

    /// The numbers of the events that are kept.
    ///
    /// The upper bound is the number of the next event.
    package var kept: Range<UInt64> { state.withLock { $0.events.first..<$0.events.next } }

    /// How many events of each name there were since the run started, in the order of their names.
    package var counts: [(name: DeviceEvent.Name, count: Int)] {
        state.withLock { $0.counts }.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) }
    }

    /// The marks, in the order in which they were set.
    package var marks: [Mark] { state.withLock { $0.marks } }

    /// How often a mark was set, the journal was emptied or another change was noted.
    package var changes: UInt64 { state.withLock { $0.changes } }

    /// Whether the run is over.
    package var isEnded: Bool { state.withLock { $0.isEnded } }

    /// How many readers wait for an event.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// The number from which a request looks: its `since`, else the last mark, else the first event since the
    /// run started or the journal was emptied.
    ///
    /// Throws a problem of status 400 if `since` is after the next event.
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

    /// A key for a reader that `wake` shall find.
    func newKey() -> UInt64 {
        state.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
    }

    /// Lets the reader of this key go on without an event, if it waits.
    func wake(_ key: UInt64) {
        let waiter: Waiter? = state.withLock { state in
            state.waiters.firstIndex { $0.key == key }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }

    /// Returns when there is an event with this number or a higher one, when the journal has ended, when the
    /// reader of this key is woken, or when the task is cancelled.
    ///
    /// With `changes`, it also returns after a change that is no event, and at once if the count of these
    /// differs from `changes`. It returns at once if there is another epoch than `epoch`, too.
    ///
    /// Returns whether there is such an event, or another epoch.
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
                    // A task has its cancelled state before its handlers run: if ours has run already, and
                    // found no waiter, it is seen here.
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
    /// Gives `body` the events that there are now from a number on, in parts, until it returns false.
    ///
    /// Events that happen meanwhile are not among them, so it ends however fast they come. A full journal
    /// takes long to look through: other tasks run between two parts.
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
