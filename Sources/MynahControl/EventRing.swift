import MynahEmulator

/// A ring buffer of the latest events, limited in the number of events and in bytes.
struct EventRing {
    /// An event, with the name of its device, which the event itself may lack.
    struct Element {
        let event: DeviceEvent
        let device: String?
        /// The estimated memory of the element, in bytes.
        let memory: Int

        init(event: DeviceEvent, device: String?) {
            self.event = event
            self.device = device
            memory = event.memory
        }
    }

    /// A sequence of consecutive events.
    struct Part {
        var elements: [Element]
        /// The number of the first event in the part.
        let start: UInt64
        /// The number of requested events that are no longer in the ring.
        var lost: UInt64

        /// The number of the event that follows the part.
        var next: UInt64 { start + UInt64(elements.count) }
    }

    private let capacity: Int
    private let byteLimit: Int
    /// The slots for events; the oldest event is at the index `oldest`.
    ///
    /// The array grows as needed.
    private var places: [Element?] = []
    private var oldest = 0
    private var count = 0
    /// The number of the oldest event, or of the next one if there is none.
    private(set) var first: UInt64 = 1
    /// The estimated memory of the events, in bytes.
    private(set) var byteCount = 0

    init(capacity: Int, byteLimit: Int) {
        precondition(capacity > 0, "a journal keeps at least one event")
        self.capacity = capacity
        self.byteLimit = byteLimit
    }

    /// The number that the next event will have.
    var next: UInt64 { first + UInt64(count) }

    /// Adds an event, and returns its number; the oldest events are removed if the limits are exceeded.
    ///
    /// The latest event is always kept, even if it alone exceeds the limit.
    mutating func append(_ event: Element) -> UInt64 {
        let seq = next
        byteCount += event.memory
        if count == capacity { dropOldest() }
        while count > 0, byteCount > byteLimit { dropOldest() }
        if count == places.count { grow() }
        places[(oldest + count) % places.count] = event
        count += 1
        return seq
    }

    private mutating func dropOldest() {
        byteCount -= places[oldest]?.memory ?? 0
        places[oldest] = nil
        oldest = (oldest + 1) % places.count
        count -= 1
        first += 1
    }

    private mutating func grow() {
        if oldest > 0 {
            places = Array(places[oldest...] + places[..<oldest])
            oldest = 0
        }
        // Grown in place, so that the events are moved and not copied.
        places.append(contentsOf: repeatElement(nil, count: min(capacity, max(16, 2 * count)) - count))
    }

    /// Removes and returns all events in any order, so that the caller can free them without holding its
    /// lock.
    mutating func removeAll() -> [Element?] {
        first = next
        (oldest, count, byteCount) = (0, 0, 0)
        defer { places = [] }
        return places
    }

    /// Returns at most `limit` events, from a number on.
    func part(from asked: UInt64, limit: Int) -> Part {
        // The first event has the number 1.
        let asked = max(asked, 1)
        let start = max(asked, first)
        var part = Part(elements: [], start: start, lost: start - asked)
        guard start < next, limit > 0 else { return part }
        let count = min(Int(next - start), limit)
        part.elements.reserveCapacity(count)
        for index in Int(start - first)..<Int(start - first) + count {
            guard let element = places[(oldest + index) % places.count] else { break }
            part.elements.append(element)
        }
        return part
    }
}

extension Journal.Slice {
    /// Makes a slice of the journal from a part of the ring.
    init(_ part: EventRing.Part) {
        let entries = part.elements.enumerated().map { index, element in
            Journal.Entry(
                seq: part.start + UInt64(index), event: element.event.named(element.device))
        }
        self.init(entries: entries, next: part.next, lost: part.lost)
    }
}
