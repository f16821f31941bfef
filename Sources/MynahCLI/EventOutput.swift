import Dispatch
import MynahConsole
import MynahSupport

import Glibc

/// Writes events to standard output, or log lines to standard error, on a separate queue.
///
/// A reader that does not read therefore cannot stop the radio. The buffer is limited: if it is full, writes
/// are dropped, and their number is reported when there is space again.
final class EventOutput: Sendable {
    private struct State {
        var backlog: OutputBacklog
        var isGone = false
        var problem: String?
        /// Returns `true` to end a wait for buffer space; the function is `nil` if writes do not wait for
        /// space.
        var hasLeft: (@Sendable () -> Bool)?
    }

    /// Writes bytes to their target; returns the error number if that fails.
    private let target: @Sendable ([UInt8]) -> Int32?
    /// The queue on which data is written, or `nil` if `write` writes it before it returns.
    private let queue: DispatchQueue?
    private let state: Lock<State>
    private let whenGone: @Sendable () -> Void

    /// Makes an output; `whenGone` is called once, when the reader has closed the descriptor.
    init(to descriptor: Int32 = 1, limit: Int = 8 << 20, whenGone: @escaping @Sendable () -> Void) {
        target = { Descriptor.write($0, to: descriptor) }
        queue = DispatchQueue(label: "mynah.events")
        self.whenGone = whenGone
        state = Lock(State(backlog: OutputBacklog(limit: limit)))
    }

    /// Makes an output that calls `take` with each text before `write` returns.
    init(to take: @escaping @Sendable (String) -> Void) {
        target = { bytes in
            take(String(decoding: bytes, as: UTF8.self))
            return nil
        }
        queue = nil
        whenGone = {}
        state = Lock(State(backlog: OutputBacklog(limit: .max)))
    }

    /// The number of writes that were dropped since the last call.
    ///
    /// The result is 0 while the buffer has no space for a message about them.
    func takeDropped() -> Int { state.withLock { $0.backlog.takeDropped() } }

    /// The error that ended the output, or `nil` if there is none.
    ///
    /// If the reader has closed the output, this is no error.
    var problem: String? { state.withLock { $0.problem } }

    /// Makes later writes wait for buffer space, until `isOver` returns `true`.
    func waitForReader(until isOver: @escaping @Sendable () -> Bool) {
        state.withLock { $0.hasLeft = isOver }
    }

    /// Waits until the buffer has space for `count` bytes, if `waitForReader` was called.
    private func waitForRoom(_ count: Int) {
        guard let isOver = state.withLock({ $0.hasLeft }) else { return }
        while state.withLock({ !$0.isGone && !$0.backlog.hasRoom(count) }), !isOver() { flush() }
    }

    /// Queues a write; an urgent write is queued even if the buffer is full.
    func write(_ bytes: [UInt8], isUrgent: Bool = false) {
        waitForRoom(bytes.count)
        let isTaken = state.withLock { state in
            !state.isGone && state.backlog.reserve(bytes.count, isUrgent: isUrgent)
        }
        guard isTaken else { return }
        guard let queue else { return writeNow(bytes) }
        queue.async { self.writeNow(bytes) }
    }

    private func writeNow(_ bytes: [UInt8]) {
        let code = target(bytes)
        let isNews: Bool = state.withLock { state in
            state.backlog.remove(bytes.count)
            guard let code, !state.isGone else { return false }
            state.isGone = true
            // A reader may close the output when it has read enough.
            if code != EPIPE { state.problem = String(cString: strerror(code)) }
            return true
        }
        if isNews { whenGone() }
    }

    /// Waits until everything is written, or nothing was read for a second.
    func flush() {
        guard let queue else { return }
        let isWritten = DispatchSemaphore(value: 0)
        queue.async { isWritten.signal() }
        var before = Int.max
        while isWritten.wait(timeout: .now() + .seconds(1)) == .timedOut {
            let waiting = state.withLock { $0.backlog.waiting }
            guard waiting < before else { return }
            before = waiting
        }
    }
}
