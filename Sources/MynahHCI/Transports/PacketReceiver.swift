import Glibc
import MynahCore
import MynahSupport

/// The receiver of a transport's packets.
///
/// After `close` has returned, it receives none.
final class PacketReceiver: Sendable {
    private struct State {
        var isOpen = true
        /// The thread that is in a call of the receiver.
        var caller: pthread_t?
    }

    private let state = Lock(State())
    /// Held while something is told, so that who closes can wait for it.
    private let turn = Lock(())
    private let receive: @Sendable (H4Packet) -> Void
    private let ended: @Sendable (RadioError?) -> Void

    init(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) {
        self.receive = receive
        self.ended = ended
    }

    /// Tells a packet.
    func tell(_ packet: H4Packet) {
        turn.withLock { _ in
            guard begin() else { return }
            receive(packet)
            finish()
        }
    }

    /// Tells that it is over, once; not to be called where something is being told.
    func end(_ error: RadioError?) {
        turn.withLock { _ in
            guard begin() else { return }
            state.withLock { $0.isOpen = false }
            ended(error)
            finish()
        }
    }

    /// Tells nothing more; waits for what is being told on another thread.
    func close() {
        let isInside = state.withLock { state in
            state.isOpen = false
            return state.caller.map { pthread_equal($0, pthread_self()) != 0 } ?? false
        }
        if !isInside { turn.withLock { _ in } }
    }

    private func begin() -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.caller = pthread_self()
            return true
        }
    }

    private func finish() {
        state.withLock { $0.caller = nil }
    }
}
