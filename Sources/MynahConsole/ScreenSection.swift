import MynahSupport

/// A part of a screen: items of one kind, of which a low terminal shows only some.
struct ScreenSection {
    /// The noun for its items.
    var noun: (one: String, many: String)
    /// The lines of each item.
    var items: [[String]]
    /// How many more items there are, for which no screen of this height has rows.
    var hidden = 0

    /// The rows that all items need, at least.
    var height: Int { items.reduce(hidden) { $0 + $1.count } }

    /// The items that fit in these rows; if some do not, the last line says how many are hidden.
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

    /// Divides rows between sections: each gets the same number, and rows that one does not need go to the
    /// others.
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
