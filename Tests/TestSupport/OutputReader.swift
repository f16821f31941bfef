import Dispatch
import Glibc
import MynahSupport

/// A wait for output that failed, with the output that there was.
struct OutputMissing: Error, CustomStringConvertible {
    let description: String
}

/// Reads what processes write into a pipe, and wakes tests that wait for a line of it.
public final class OutputReader: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// Those that have ended.
        var lines: [String] = []
        /// Where the line begins that has not ended.
        var rest = 0
        var isAtEnd = false
        var waiters: [(condition: @Sendable (String) -> Bool, waiter: Waiter<String?>)] = []

        /// Returns the lines that end with more bytes.
        mutating func add(_ more: ArraySlice<UInt8>) -> ArraySlice<String> {
            let before = lines.endIndex
            for byte in more {
                if byte == UInt8(ascii: "\n") {
                    lines.append(String(decoding: bytes[rest...], as: UTF8.self))
                    rest = bytes.endIndex + 1
                }
                bytes.append(byte)
            }
            return lines[before...]
        }
    }

    /// How long a process that a line is awaited of may print nothing.
    private static let silence = Duration.seconds(30)

    /// The end that is passed to a process.
    public let writer: Int32
    private let reader: Int32
    private let state = Lock(State())

    /// A pipe; nil when there are none left.
    public init?() {
        guard let ends = Spawn.pipe() else { return nil }
        (reader, writer) = ends
    }

    /// Reads what is written to another descriptor, which it closes at the end, such as a terminal's.
    public init(reading descriptor: Int32) {
        reader = descriptor
        writer = -1
    }

    /// Something else for a process to write to, of which nothing is read; nil when it cannot be opened.
    public init?(writingTo path: String) {
        reader = -1
        writer = open(path, O_WRONLY | O_CLOEXEC)
        if writer < 0 { return nil }
    }

    /// The process has its end: closes ours and reads until it has closed its own.
    public func start() {
        if writer >= 0 { close(writer) }
        DispatchQueue(label: "mynah.output").async { [self] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(reader, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                take(buffer[..<count])
            }
            close(reader)
            take(nil)
        }
    }

    /// Closes both ends without a byte read: a writer gets an error because nobody reads.
    public func abandon() {
        close(writer)
        close(reader)
        take(nil)
    }

    /// The first line, from the beginning, for which `condition` holds, which is asked once for each line.
    ///
    /// Returns `nil` if the output ends without one. Fails after 30 s without any output.
    public func line(
        _ awaited: String, where condition: @escaping @Sendable (String) -> Bool
    ) async throws -> String? {
        do {
            return try await waiting(for: awaited, limit: Self.silence, progress: { self.size }) { waiter in
                let found: String?? = state.withLock { state in
                    if let line = state.lines.first(where: condition) { return .some(line) }
                    if state.isAtEnd { return .some(nil) }
                    state.waiters.append((condition, waiter))
                    return nil
                }
                if let found { waiter.resume(returning: found) }
            }
        } catch {
            let end = state.withLock { String(decoding: $0.bytes.suffix(2000), as: UTF8.self) }
            throw OutputMissing(description: "\(error); the output so far ends with:\n\(end)")
        }
    }

    /// The first line that contains `text`.
    ///
    /// Returns `nil` if the output ends without one.
    public func line(containing text: String) async throws -> String? {
        try await line("a line of output that contains \"\(text)\"") { $0.contains(text) }
    }

    /// The lines so far, without one that has not ended.
    public var lines: [String] { state.withLock { $0.lines } }
    /// How many bytes there were so far.
    public var size: Int { state.withLock { $0.bytes.count } }

    /// The whole output, when it has ended.
    public func text() async throws -> String {
        _ = try await line("the end of the output") { _ in false }
        return state.withLock { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func take(_ bytes: ArraySlice<UInt8>?) {
        let ready: [(Waiter<String?>, String?)] = state.withLock { state in
            let lines = bytes.map { state.add($0) } ?? []
            if bytes == nil { state.isAtEnd = true }
            var ready: [(Waiter<String?>, String?)] = []
            state.waiters.removeAll { waiter in
                let line = lines.first(where: waiter.condition)
                guard line != nil || state.isAtEnd else { return false }
                ready.append((waiter.waiter, line))
                return true
            }
            return ready
        }
        for (waiter, line) in ready { waiter.resume(returning: line) }
    }
}
