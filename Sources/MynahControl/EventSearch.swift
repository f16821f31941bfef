import MynahEmulator
import MynahProfiles
import MynahSupport

/// Looks for events that match, part by part of a journal.
struct EventSearch: Sendable {
    private let match: EventMatch
    private let count: Int
    /// The events that match, in order.
    private(set) var found: [Journal.Entry] = []
    /// The number to go on from.
    private(set) var position: UInt64
    /// How many events were not kept long enough to be looked at.
    private(set) var lost: UInt64 = 0
    private var seen: [DeviceEvent.Name: Int] = [:]
    private var nearest: NearestEvents

    /// A search for `count` events from a number on.
    init(for match: EventMatch, count: Int, from seq: UInt64) {
        self.match = match
        self.count = count
        position = seq
        nearest = NearestEvents(to: match)
    }

    /// Whether all events were found.
    var isComplete: Bool { found.count >= count }

    /// Searches the part of the journal that begins with `position`.
    mutating func search(_ slice: Journal.Slice) {
        lost += slice.lost
        position = slice.next
        for entry in slice.entries {
            guard !isComplete else { return }
            seen[entry.event.name, default: 0] += 1
            if match.matches(entry.event) {
                found.append(entry)
            } else {
                nearest.add(entry)
            }
        }
    }

    /// Searches everything that a journal has from `position` on, until the search is complete.
    mutating func takeAll(of journal: Journal) async {
        guard !isComplete else { return }
        await journal.forEachSlice(from: position) { slice in
            search(slice)
            return !isComplete
        }
    }

    /// The members of the answer to a wait that failed: `nearest`, `seen` and, if events were lost, `lost`.
    var members: [JSON.Member] {
        let counts = seen.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { JSON.Member($0.key.rawValue, .integer($0.value)) }
        return [.init("nearest", nearest.json), .init("seen", .object(counts))] + JSON.lost(lost)
    }
}

extension JSON {
    /// The member `lost`, if events were lost.
    static func lost(_ count: UInt64) -> [Member] {
        count == 0 ? [] : [.init("lost", .integer(Int(clamping: count)))]
    }
}
