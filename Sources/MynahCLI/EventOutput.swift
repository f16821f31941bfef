import Dispatch
import MynahConsole
import MynahSupport

import Glibc

/// Standard output for events, or standard error for log lines, written on a queue of its own: a reader that
/// reads nothing must not stop the radio.
///
/// The buffer is bounded. Beyond that, writes are dropped, and their number is reported when there is
/// room again.
final class EventOutput: Sendable {
    private struct State {
        var backlog: OutputBacklog
        var isGone = false
        var problem: String?
        /// Whether a write no longer waits for room, or `nil` if it never does.
        var hasLeft: (@Sendable () -> Bool)?
    }

    /// Where the bytes go; returns the error number if that fails.
    private let target: @Sendable ([UInt8]) -> Int32?
    /// The queue for writes, or `nil` if a write is done in its call.
    private let queue: DispatchQueue?
    private let state: Lock<State>
    private let whenGone: @Sendable () -> Void

    /// `whenGone` is called once, when no reader is left.
    init(to descriptor: Int32 = 1, limit: Int = 8 << 20, whenGone: @escaping @Sendable () -> Void) {
        target = { Descriptor.write($0, to: descriptor) }
        queue = DispatchQueue(label: "mynah.events")
        self.whenGone = whenGone
        state = Lock(State(backlog: OutputBacklog(limit: limit)))
    }

    /// Hands each write to `take`, in the same call.
    init(to take: @escaping @Sendable (String) -> Void) {
        target = { bytes in
            take(String(decoding: bytes, as: UTF8.self))
            return nil
        }
        queue = nil
        whenGone = {}
        state = Lock(State(backlog: OutputBacklog(limit: .max)))
    }

    /// How many writes were dropped since the last call; 0 while there is no room to report it.
    func takeDropped() -> Int { state.withLock { $0.backlog.takeDropped() } }

    /// The error that ended the output, or `nil` if there is none or the reader has left.
    var problem: String? { state.withLock { $0.problem } }

    /// Has writes wait for room from now on, until `isOver` returns `true`.
    func waitForReader(until isOver: @escaping @Sendable () -> Bool) {
        state.withLock { $0.hasLeft = isOver }
    }

    /// Waits until there is room, if writes wait for it.
    private func waitForRoom(_ count: Int) {
        guard let isOver = state.withLock({ $0.hasLeft }) else { return }
        while state.withLock({ !$0.isGone && !$0.backlog.hasRoom(count) }), !isOver() { flush() }
    }

    /// Writes soon; an urgent write has room when others have none.
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
            // A reader may leave when it has seen enough.
            if code != EPIPE { state.problem = String(cString: strerror(code)) }
            return true
        }
        if isNews { whenGone() }
    }

    /// Returns when everything is written, or when none of it was read for a second.
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
