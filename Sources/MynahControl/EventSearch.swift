import MynahEmulator
import MynahProfiles
import MynahSupport

/// A search for matching events in a journal, slice by slice.
struct EventSearch: Sendable {
    private let match: EventMatch
    private let count: Int
    /// The matching events, in order.
    private(set) var found: [Journal.Entry] = []
    /// The number of the event at which the search continues.
    private(set) var position: UInt64
    /// The number of events that were lost before they could be checked.
    private(set) var lost: UInt64 = 0
    private var seen: [DeviceEvent.Name: Int] = [:]
    private var nearest: NearestEvents

    /// Makes a search for `count` matching events, from a number on.
    init(for match: EventMatch, count: Int, from seq: UInt64) {
        self.match = match
        self.count = count
        position = seq
        nearest = NearestEvents(to: match)
    }

    /// `true` if all `count` events were found.
    var isComplete: Bool { found.count >= count }

    /// Searches a slice of the journal, which must begin at `position`.
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

    /// Searches all events of a journal from `position` on, until the search is complete.
    mutating func takeAll(of journal: Journal) async {
        guard !isComplete else { return }
        await journal.forEachSlice(from: position) { slice in
            search(slice)
            return !isComplete
        }
    }

    /// The members of the response to a failed wait: `nearest`, `seen` and, if events were lost, `lost`.
    var members: [JSON.Member] {
        let counts = seen.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { JSON.Member($0.key.rawValue, .integer($0.value)) }
        return [.init("nearest", nearest.json), .init("seen", .object(counts))] + JSON.lost(lost)
    }
}

extension JSON {
    /// Returns the member `lost`, or an empty list if no events were lost.
    static func lost(_ count: UInt64) -> [Member] {
        count == 0 ? [] : [.init("lost", .integer(Int(clamping: count)))]
    }
}
