import MynahEmulator

/// The latest events, at most a fixed number of them (a ring buffer).
struct EventRing {
    private let capacity: Int
    private var events: [DeviceEvent] = []
    /// Where the oldest event is.
    private var oldest = 0
    /// The number of the oldest event, or of the next one if there is none.
    private(set) var first: UInt64 = 1

    init(capacity: Int) {
        precondition(capacity > 0, "a journal keeps at least one event")
        self.capacity = capacity
    }

    /// The number of the next event.
    var next: UInt64 { first + UInt64(events.count) }

    /// Adds an event, in place of the oldest one if there is no room; returns its number.
    mutating func append(_ event: DeviceEvent) -> UInt64 {
        let seq = next
        if events.count < capacity {
            events.append(event)
        } else {
            events[oldest] = event
            oldest = oldest + 1 == capacity ? 0 : oldest + 1
            first += 1
        }
        return seq
    }

    /// Removes all events and returns them in no order, so that a caller can free them outside of its lock.
    mutating func removeAll() -> [DeviceEvent] {
        first = next
        oldest = 0
        defer { events = [] }
        return events
    }

    /// The events from a number on, at most `limit`.
    func slice(from asked: UInt64, limit: Int) -> Journal.Slice {
        // Numbers begin with 1.
        let asked = max(asked, 1)
        let start = max(asked, first)
        var slice = Journal.Slice(entries: [], next: start, lost: start - asked)
        guard start < next, limit > 0 else { return slice }
        let count = min(Int(next - start), limit)
        slice.entries.reserveCapacity(count)
        var index = oldest + Int(start - first)
        for seq in start..<start + UInt64(count) {
            if index >= events.count { index -= events.count }
            slice.entries.append(Journal.Entry(seq: seq, event: events[index]))
            index += 1
        }
        slice.next = start + UInt64(count)
        return slice
    }
}
