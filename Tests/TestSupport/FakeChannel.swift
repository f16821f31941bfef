package import MynahCore
import MynahSupport

/// A channel without a link: what is sent is kept, and a test says what comes.
package final class FakeChannel: L2CAPChannel {
    private struct State {
        var sent: [[UInt8]] = []
        var inbox: [[UInt8]] = []
        var isOpen = true
        var reader: Waiter<[UInt8]?>?
    }

    package let psm: UInt16
    package let peer: Peer.ID
    package let maximumLength = 100
    private let state = Lock(State())

    package init(psm: UInt16, peer: Peer.ID) {
        self.psm = psm
        self.peer = peer
    }

    /// The data that was sent, in order.
    package var sent: [[UInt8]] { state.withLock { $0.sent } }
    /// Whether it is open.
    package var isOpen: Bool { state.withLock { $0.isOpen } }
    /// Whether someone waits for what comes.
    package var isAwaited: Bool { state.withLock { $0.reader != nil } }

    /// A piece comes.
    package func take(_ bytes: [UInt8]) {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            if state.reader == nil { state.inbox.append(bytes) }
            return state.reader
        }
        reader?.resume(returning: bytes)
    }

    /// Closes it, for either side.
    package func end() {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            state.isOpen = false
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    package func send(_ bytes: [UInt8]) async throws(RadioError) {
        let isOpen = state.withLock { state in
            if state.isOpen { state.sent.append(bytes) }
            return state.isOpen
        }
        guard isOpen else { throw RadioError(.disconnected, "the channel is closed") }
    }

    package func receive() async -> [UInt8]? {
        // A reader whose task is cancelled reads the end of the channel.
        let received: [UInt8]?? = try? await waiting(for: "a piece on a fake channel") { waiter in
            let next: [UInt8]?? = state.withLock { state in
                if !state.inbox.isEmpty { return .some(state.inbox.removeFirst()) }
                guard state.isOpen else { return .some(nil) }
                state.reader = waiter
                return nil
            }
            if let next { waiter.resume(returning: next) }
        }
        return received ?? nil
    }

    package func close() async { end() }
}
