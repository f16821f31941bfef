/// Finds the name that someone probably meant.
public enum NearestName {
    /// The candidate with the fewest edits (insert, delete, replace, swap neighbours), if they are few; case is ignored.
    ///
    /// Few means one for every three letters, and at least one. The first of equally near candidates wins.
    public static func of(_ word: String, among candidates: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased().utf8.prefix(64))
        let limit = max(1, letters.count / 3)
        var best: (name: String, edits: Int)?
        for candidate in candidates {
            let other = Array(candidate.lowercased().utf8.prefix(64))
            guard abs(other.count - letters.count) <= limit else { continue }
            let edits = distance(letters, other)
            if edits <= limit, edits < best?.edits ?? .max { best = (candidate, edits) }
        }
        return best?.name
    }

    /// The optimal string alignment distance.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard !left.isEmpty, !right.isEmpty else { return left.count + right.count }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, a) in left.enumerated() {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for (column, b) in right.enumerated() {
                var edits = min(last[column + 1] + 1, current[column] + 1, last[column] + (a == b ? 0 : 1))
                if row > 0, column > 0, a == right[column - 1], left[row - 1] == b {
                    edits = min(edits, beforeLast[column - 1] + 1)
                }
                current.append(edits)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
