import Dispatch
import MynahConsole
import MynahSupport

import Glibc

/// Standard output for events, or standard error for log lines, written on a separate queue, so that a reader
/// that does not read cannot stop the radio.
///
/// The buffer is limited. If it is full, writes are dropped, and their number is reported when there is room
/// again.
final class EventOutput: Sendable {
    private struct State {
        var backlog: OutputBacklog
        var isGone = false
        var problem: String?
        /// Whether a write should stop waiting for room, or `nil` if writes never wait.
        var hasLeft: (@Sendable () -> Bool)?
    }

    /// Writes bytes to their target; returns the error number if that fails.
    private let target: @Sendable ([UInt8]) -> Int32?
    /// The queue for writes, or `nil` if a write is made during its call.
    private let queue: DispatchQueue?
    private let state: Lock<State>
    private let whenGone: @Sendable () -> Void

    /// Makes an output; `whenGone` is called once, when the reader has closed it.
    init(to descriptor: Int32 = 1, limit: Int = 8 << 20, whenGone: @escaping @Sendable () -> Void) {
        target = { Descriptor.write($0, to: descriptor) }
        queue = DispatchQueue(label: "mynah.events")
        self.whenGone = whenGone
        state = Lock(State(backlog: OutputBacklog(limit: limit)))
    }

    /// Makes an output that passes each write to `take`, during the same call.
    init(to take: @escaping @Sendable (String) -> Void) {
        target = { bytes in
            take(String(decoding: bytes, as: UTF8.self))
            return nil
        }
        queue = nil
        whenGone = {}
        state = Lock(State(backlog: OutputBacklog(limit: .max)))
    }

    /// The number of writes that were dropped since the last call; 0 while there is no room to report it.
    func takeDropped() -> Int { state.withLock { $0.backlog.takeDropped() } }

    /// The error that ended the output, or `nil` if there is none or the reader has closed it.
    var problem: String? { state.withLock { $0.problem } }

    /// Makes writes wait for room from now on, until `isOver` returns `true`.
    func waitForReader(until isOver: @escaping @Sendable () -> Bool) {
        state.withLock { $0.hasLeft = isOver }
    }

    /// Waits until there is room, if writes wait for it.
    private func waitForRoom(_ count: Int) {
        guard let isOver = state.withLock({ $0.hasLeft }) else { return }
        while state.withLock({ !$0.isGone && !$0.backlog.hasRoom(count) }), !isOver() { flush() }
    }

    /// Writes soon; an urgent write has room even if other writes have none.
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

    /// Returns when everything is written, or when nothing was read for a second.
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
