import MynahConsole
import MynahSupport

import Glibc

/// Writes messages and log lines to standard error.
///
/// A command that ends by itself writes them at once. A command with a radio queues them, so that a reader
/// that does not read cannot stop the radio.
enum StandardError {
    private struct State {
        var queue: EventOutput?
        var screen: (@Sendable (String) -> Void)?
    }

    private static let state = Lock(State())

    /// Queues all later text, which another thread then writes.
    static func beginQueue() {
        state.withLock { state in
            if state.queue == nil { state.queue = EventOutput(to: 2, limit: 1 << 20) {} }
        }
    }

    /// Passes messages and log lines to `screen`, a live screen or a prompt, which they would otherwise
    /// overwrite.
    ///
    /// If `screen` is `nil`, they are written to standard error again. If standard error is not a terminal,
    /// they are always written to it.
    static func divert(to screen: (@Sendable (String) -> Void)?) {
        let isTerminal = isatty(2) == 1
        state.withLock { $0.screen = isTerminal ? screen : nil }
    }

    /// Writes a message for the user.
    static func print(_ text: String) { write(text, isUrgent: true) }

    /// Writes a log line, or drops it if the queue is full.
    static func log(_ line: String) { write(line, isUrgent: false) }

    private static func write(_ text: String, isUrgent: Bool) {
        let (queue, screen) = state.withLock { ($0.queue, $0.screen) }
        if let screen { return screen(text) }
        let bytes = Array((text + "\n").utf8)
        guard let queue else {
            Descriptor.write(bytes, to: 2)
            return
        }
        reportDropped(by: queue)
        queue.write(bytes, isUrgent: isUrgent)
    }

    private static func reportDropped(by queue: EventOutput) {
        let dropped = queue.takeDropped()
        guard dropped > 0 else { return }
        let text = "warning: \(dropped) log lines were dropped because standard error was not read\n"
        queue.write(Array(text.utf8), isUrgent: true)
    }

    /// Waits until everything is written, or nothing was read for a second.
    static func flush() {
        guard let queue = state.withLock({ $0.queue }) else { return }
        queue.flush()
        reportDropped(by: queue)
        queue.flush()
    }
}
