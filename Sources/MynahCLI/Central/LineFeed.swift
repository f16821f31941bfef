import MynahConsole
import MynahRun
import MynahSupport

/// Splits input into lines for one reader, and requests more input only if no line is left.
final class LineFeed: Sendable {
    private enum Outcome: Sendable {
        case line(LineSplitter.Line)
        case failed(String)
        case ended
    }

    private struct State {
        var splitter = LineSplitter()
        var failure: String?
        var isAtEnd = false
        var isClosed = false
        var onEmpty: (@Sendable () -> Void)?
        var taker: CheckedContinuation<Outcome, Never>?

        mutating func outcome() -> Outcome? {
            if isClosed { return .ended }
            if let line = splitter.next() { return .line(line) }
            if let failure { return .failed(failure) }
            return isAtEnd ? .ended : nil
        }
    }

    /// The largest number of unread bytes.
    private static let limit = 1 << 20
    private let state = Lock(State())

    /// Sets a function to call each time the reader waits because no line is left.
    func onEmpty(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEmpty = handler }
    }

    /// Whether the reader waits for a line.
    var isAwaited: Bool { state.withLock { $0.taker != nil } }

    /// Adds bytes, or drops them if too many are unread.
    func add(_ bytes: [UInt8]) {
        change { if $0.splitter.count < Self.limit { $0.splitter.add(bytes) } }
    }

    /// Ends the input.
    func finish() {
        change { state in
            state.isAtEnd = true
            state.splitter.finish()
        }
    }

    /// Ends the input because of a read error.
    func fail(_ reason: String) { change { $0.failure = reason } }

    /// Drops all lines, because none are needed any longer.
    func close() { change { $0.isClosed = true } }

    private func change(_ change: @Sendable (inout State) -> Void) {
        let resumption: (taker: CheckedContinuation<Outcome, Never>, outcome: Outcome)? = state.withLock {
            state in
            change(&state)
            guard let taker = state.taker, let outcome = state.outcome() else { return nil }
            state.taker = nil
            return (taker, outcome)
        }
        if let resumption { resumption.taker.resume(returning: resumption.outcome) }
    }

    /// Returns the next line, or `nil` at the end of the input.
    func next() async throws(ConnectRequest.Problem) -> String? {
        let outcome = await withCheckedContinuation { continuation in
            let (outcome, onEmpty): (Outcome?, (@Sendable () -> Void)?) = state.withLock { state in
                if let outcome = state.outcome() { return (outcome, nil) }
                state.taker = continuation
                return (nil, state.onEmpty)
            }
            if let outcome { continuation.resume(returning: outcome) }
            onEmpty?()
        }
        switch outcome {
        case .line(.text(let line)): return line
        case .line(.overlong(let number)):
            throw ConnectRequest.Problem(
                message: "line \(number) of standard input is longer than \(LineSplitter.limit) bytes; "
                    + "write each command on its own line")
        case .failed(let reason):
            throw ConnectRequest.Problem(message: "standard input cannot be read: \(reason)")
        case .ended: return nil
        }
    }
}
