/// Finds the name that a user probably meant.
public enum NearestName {
    // Bounds the work that a word from a file can ask for.
    private static let longest = 96

    /// The candidate with the fewest edits (insert, delete, replace, swap neighbours), if they are few; case
    /// is ignored.
    ///
    /// Few means one for every three letters, or one if the word has more letters than that. The first of
    /// equally near candidates wins. A word longer than any name is near none. The word itself is no
    /// candidate: a caller that refuses it does not mean it.
    public static func of(_ word: String, among candidates: some Sequence<String>) -> String? {
        guard word.utf8.count <= longest else { return nil }
        let letters = Array(word.lowercased().unicodeScalars)
        let limit = min(max(1, letters.count / 3), letters.count - 1)
        guard limit > 0 else { return nil }
        var best: (name: String, edits: Int)?
        for candidate in candidates where candidate != word {
            let other = Array(candidate.lowercased().unicodeScalars)
            guard abs(other.count - letters.count) <= limit else { continue }
            let edits = distance(letters, other)
            if edits <= limit, edits < best?.edits ?? .max { best = (candidate, edits) }
        }
        return best?.name
    }

    /// The optimal string alignment distance.
    static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
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
