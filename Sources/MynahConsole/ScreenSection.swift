import MynahSupport

/// A part of a screen: items of one kind, only some of which are shown on a terminal with few rows.
struct ScreenSection {
    /// The noun for the items, in singular and plural.
    var noun: (one: String, many: String)
    /// The lines of each item.
    var items: [[String]]
    /// The number of further items, for which no screen of this height has room.
    var hidden = 0

    /// The smallest number of rows for all items.
    var height: Int { items.reduce(hidden) { $0 + $1.count } }

    /// The items that fit in these rows; if some do not, the last line shows how many are hidden.
    func lines(rows: Int) -> [String] {
        guard rows > 0 else { return [] }
        guard height > rows else { return items.flatMap { $0 } }
        var lines: [String] = []
        var hidden = hidden + items.count
        for item in items {
            guard lines.count + item.count < rows else { break }
            lines += item
            hidden -= 1
        }
        return lines + ["and " + hidden.counting("more " + noun.one, "more " + noun.many)]
    }

    /// Divides rows between sections: each gets the same number, and rows that a section does not need go to
    /// the others.
    static func divide(_ rows: Int, among wanted: [Int]) -> [Int] {
        var given = wanted.map { _ in 0 }
        var left = rows
        while left > 0 {
            let open = wanted.indices.filter { given[$0] < wanted[$0] }
            guard !open.isEmpty else { break }
            let part = max(1, left / open.count)
            for index in open {
                let more = min(part, wanted[index] - given[index], left)
                given[index] += more
                left -= more
            }
        }
        return given
    }
}
