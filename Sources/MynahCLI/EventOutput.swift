import Dispatch
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Standard output for events, written on a queue of its own: a reader that stands still must not stop the radio.
///
/// What it may hold is bounded; past that events are dropped, and how many is said when there is room again.
final class EventOutput: Sendable {
    private struct State {
        var waiting = 0
        var dropped = 0
        var isGone = false
        var problem: String?
    }

    private static let limit = 8 << 20
    private let queue = DispatchQueue(label: "mynah.events")
    private let state = Lock(State())
    private let whenGone: @Sendable () -> Void

    /// `whenGone` is called once, when nobody reads any more.
    init(whenGone: @escaping @Sendable () -> Void) {
        self.whenGone = whenGone
    }

    /// How many events were dropped since the last time it was asked, if there is room to say so.
    func takeDropped() -> Int {
        state.withLock { state in
            guard state.waiting < Self.limit / 2 else { return 0 }
            defer { state.dropped = 0 }
            return state.dropped
        }
    }

    /// Why nothing can be written any more; nil: it can, or the reader has left.
    var problem: String? { state.withLock { $0.problem } }

    func write(_ bytes: [UInt8]) {
        let isTaken: Bool = state.withLock { state in
            guard !state.isGone else { return false }
            guard state.waiting + bytes.count <= Self.limit else {
                state.dropped += 1
                return false
            }
            state.waiting += bytes.count
            return true
        }
        guard isTaken else { return }
        queue.async { [self] in
            let isWritten = Descriptor.write(bytes, to: 1)
            let code = isWritten ? 0 : errno
            let isNews: Bool = state.withLock { state in
                state.waiting -= bytes.count
                guard !isWritten, !state.isGone else { return false }
                state.isGone = true
                // A reader may leave when it has seen enough.
                if code != EPIPE { state.problem = String(cString: strerror(code)) }
                return true
            }
            if isNews { whenGone() }
        }
    }

    /// Returns when everything is written, or when nobody has read any of it for a second.
    func flush() {
        let isWritten = DispatchSemaphore(value: 0)
        queue.async { isWritten.signal() }
        var before = Int.max
        while isWritten.wait(timeout: .now() + .seconds(1)) == .timedOut {
            let waiting = state.withLock { $0.waiting }
            guard waiting < before else { return }
            before = waiting
        }
    }
}
