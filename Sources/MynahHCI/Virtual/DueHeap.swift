/// Stations by the time of their next event, the earliest first.
struct DueHeap: Sendable {
    struct Entry: Sendable {
        var time: AirTime
        var station: Station

        func isBefore(_ other: Entry) -> Bool {
            time == other.time ? station < other.station : time < other.time
        }
    }

    private var entries: [Entry] = []

    var first: Entry? { entries.first }
    var count: Int { entries.count }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].isBefore(entries[parent]) else { break }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count {
                if entries[child].isBefore(entries[least]) { least = child }
            }
            guard least != index else { return }
            entries.swapAt(index, least)
            index = least
        }
    }
}
