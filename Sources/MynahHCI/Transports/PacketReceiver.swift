import Glibc
import MynahCore
import MynahSupport

/// Passes the packets of a transport to its receiver.
///
/// After `close` has returned, the receiver is no longer called.
final class PacketReceiver: Sendable {
    private struct State {
        var isOpen = true
        /// The thread that is currently calling the receiver, or `nil` if there is none.
        var caller: pthread_t?
    }

    private let state = Lock(State())
    /// The lock that is held during a call, so that `close` can wait for the end of the call.
    private let turn = Lock(())
    private let receive: @Sendable (H4Packet) -> Void
    private let ended: @Sendable (RadioError?) -> Void

    init(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) {
        self.receive = receive
        self.ended = ended
    }

    /// Passes a packet to the receiver.
    func tell(_ packet: H4Packet) {
        turn.withLock { _ in
            guard begin() else { return }
            receive(packet)
            finish()
        }
    }

    /// Reports the end of the transport, once; must not be called within a call of the receiver.
    func end(_ error: RadioError?) {
        turn.withLock { _ in
            guard begin() else { return }
            state.withLock { $0.isOpen = false }
            ended(error)
            finish()
        }
    }

    /// Stops the calls, and waits until a call on another thread has returned.
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
