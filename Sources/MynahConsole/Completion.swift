/// The result of the Tab key on a line.
package enum Completion: Hashable, Sendable {
    /// No candidate matches.
    case none
    /// A text to insert at the cursor.
    case insert(String)
    /// Several candidates match, and must be listed, because they have no further text in common.
    case list([String])

    /// Completes the last word of the text before the cursor with one of the candidates.
    package static func of(_ before: String, by candidates: [String]) -> Completion {
        guard let first = candidates.first, let typed = typed(before, candidates) else { return .none }
        var common = first[...]
        for candidate in candidates {
            common = common.prefix(zip(common, candidate).prefix { $0 == $1 }.count)
        }
        let rest = String(common.dropFirst(typed.count)) + (candidates.count == 1 ? " " : "")
        if !rest.isEmpty { return .insert(rest) }
        return candidates.count > 1 ? .list(candidates) : .none
    }

    /// The part of the typed text, from the start of a word to the cursor, with which every candidate begins.
    ///
    /// The result is `nil` if there is no such part. It may contain spaces, because a candidate may.
    private static func typed(_ before: String, _ candidates: [String]) -> Substring? {
        let starts =
            [before.startIndex] + before.indices.filter { before[$0] == " " }.map(before.index(after:))
        return starts.lazy.map { before[$0...] }.first { typed in
            candidates.allSatisfy { $0.lowercased().hasPrefix(typed.lowercased()) }
        }
    }

    /// The candidates in columns, ordered downwards.
    ///
    /// Candidates are not cut: one that is wider than the terminal is on a line of its own.
    package static func columns(_ candidates: [String], width: Int) -> [String] {
        let widest = candidates.map { DisplayWidth.of($0) }.max() ?? 0
        // The last column of the terminal stays free: some terminals wrap after it.
        let count = max(1, (width - 1 + gap) / (widest + gap))
        let rows = (candidates.count + count - 1) / count
        return (0..<rows).map { row in
            let line = stride(from: row, to: candidates.count, by: rows).map { candidates[$0] }
            return line.dropLast().map { ScreenLine.pad($0, widest + gap) }.joined() + (line.last ?? "")
        }
    }

    private static let gap = 2
}
