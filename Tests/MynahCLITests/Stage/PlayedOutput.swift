import MynahSupport
import MynahTestSupport

/// A text that a command prints line by line, and waits for its lines.
final class PlayedOutput: Sendable {
    private struct Reader {
        var condition: @Sendable (String) -> Bool
        var waiter: Waiter<String?>
    }

    private struct State {
        var text = ""
        var lines: [String] = []
        /// The beginning of a line that has not ended.
        var rest = ""
        var isAtEnd = false
        var readers: [Reader] = []
    }

    private let state = Lock(State())

    /// The text so far.
    var text: String { state.withLock { $0.text } }
    /// The lines so far, without one that has not ended.
    var lines: [String] { state.withLock { $0.lines } }

    /// Whether the command has ended.
    var hasEnded: Bool { state.withLock { $0.isAtEnd } }

    /// The command prints more.
    func add(_ text: String) {
        let woken: [(Waiter<String?>, String)] = state.withLock { state in
            state.text += text
            var pieces = (state.rest + text).split(separator: "\n", omittingEmptySubsequences: false)
            state.rest = String(pieces.removeLast())
            var woken: [(Waiter<String?>, String)] = []
            for line in pieces.map(String.init) {
                state.lines.append(line)
                state.readers.removeAll { reader in
                    guard reader.condition(line) else { return false }
                    woken.append((reader.waiter, line))
                    return true
                }
            }
            return woken
        }
        for (waiter, line) in woken { waiter.resume(returning: line) }
    }

    /// The command has ended.
    func finish() {
        let readers = state.withLock { state in
            state.isAtEnd = true
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.waiter.resume(returning: nil) }
    }

    /// The first line, from the beginning, for which `condition` holds, which is asked once for each line.
    ///
    /// Returns `nil` if the command ends without one.
    func line(
        _ awaited: String, where condition: @escaping @Sendable (String) -> Bool
    ) async throws -> String? {
        try await waiting(for: awaited) { waiter in
            let found: String?? = state.withLock { state in
                if let line = state.lines.first(where: condition) { return .some(line) }
                if state.isAtEnd { return .some(nil) }
                state.readers.append(Reader(condition: condition, waiter: waiter))
                return nil
            }
            if let found { waiter.resume(returning: found) }
        }
    }

    /// The first line that contains `text`; `nil` if the command ends without one.
    func line(containing text: String) async throws -> String? {
        try await line("a line with \(text)") { $0.contains(text) }
    }

    /// Whether so many lines contain `text`, or come with it.
    func has(_ count: Int, linesContaining text: String) async throws -> Bool {
        let seen = Lock(0)
        return try await line("\(count) lines with \(text)") { line in
            seen.withLock { seen in
                if line.contains(text) { seen += 1 }
                return seen == count
            }
        } != nil
    }

    /// Whether events come in this order, with any others between them.
    func has(_ names: [String]) async throws -> Bool {
        let seen = Lock(0)
        return try await line("\(names), in this order") { line in
            seen.withLock { seen in
                if line.contains("\"event\":\"\(names[seen])\"") { seen += 1 }
                return seen == names.count
            }
        } != nil
    }
}
