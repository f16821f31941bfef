/// Finds the name that a user probably meant by a misspelled word.
public enum NearestName {
    // Bounds the work for a long word from a file.
    private static let longest = 96

    /// The candidate that needs the fewest edits, or `nil` if all need too many.
    ///
    /// An edit inserts, deletes or replaces a letter, or swaps two neighbours; case is ignored. One edit is
    /// allowed for every three letters of the word, and at least one. Of equally near candidates, the first
    /// is returned. For a word of more than 96 bytes, the result is `nil`. The word itself is never the
    /// result.
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

    /// The optimal string alignment distance of two texts: the number of edits between them.
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
