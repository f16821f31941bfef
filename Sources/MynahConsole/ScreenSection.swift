import MynahSupport

/// A section of a screen with items of one kind; a terminal with few rows shows only some of them.
struct ScreenSection {
    /// The noun for the items, in singular and plural.
    var noun: (one: String, many: String)
    /// The lines of each item.
    var items: [[String]]
    /// The number of further items, which are not in `items` because a screen of this height has no room for
    /// them.
    var hidden = 0

    /// The number of rows for all items; hidden items count one row each.
    var height: Int { items.reduce(hidden) { $0 + $1.count } }

    /// The lines of the items that fit into these rows; if some do not fit, the last line says how many.
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

    /// Divides rows between sections; `wanted` are the numbers of rows that they need.
    ///
    /// Each section gets the same number, and rows that it does not need go to the others.
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
