package import MynahCore
import MynahSupport

/// A transport to a controller of an Android emulator's radio, with H4 over TCP.
///
/// The first `open` waits for the emulator to start. After a connection has succeeded once, later calls of
/// `open` do not wait: they connect or fail.
package final class NetsimTransport: HCITransport {
    private struct State {
        var wasReached = false
        var waiting: Task<Bool, Never>?
        /// The number of calls of `open` and `close` so far.
        var run = 0
    }

    /// The longest wait for an emulator to start.
    static let patience = Duration.seconds(30)
    /// The time between two attempts to connect while an emulator starts.
    ///
    /// The attempts are necessary because the system does not report that a port was opened.
    static let pause = Duration.milliseconds(500)

    private let place: NetsimPlace
    private let listens: @Sendable (UInt16) -> Bool
    private let whenWaiting: @Sendable (_ message: String) -> Void
    private let sleep: @Sendable (Duration) async throws -> Void
    private let socket: SocketTransport
    private let state = Lock(State())

    /// Makes a transport that is not open.
    ///
    /// While `open` waits, it calls `whenWaiting` with a message about the reason.
    package convenience init(
        _ place: NetsimPlace, whenWaiting: @escaping @Sendable (_ message: String) -> Void = { _ in }
    ) {
        // There is no notification when another program begins to listen on a port, so the search is
        // repeated after a pause.
        self.init(
            place, listens: NetsimSearch.Probes.system.listens, whenWaiting: whenWaiting,
            sleep: { try await Task.sleep(for: $0) })
    }

    init(
        _ place: NetsimPlace, listens: @escaping @Sendable (UInt16) -> Bool,
        whenWaiting: @escaping @Sendable (_ message: String) -> Void,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.place = place
        self.listens = listens
        self.whenWaiting = whenWaiting
        self.sleep = sleep
        socket = SocketTransport(place.address)
    }

    /// Connects to the emulator's radio, and waits for the emulator if that is necessary.
    package func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        let (run, wasReached) = state.withLock { state in
            state.run += 1
            return (state.run, state.wasReached)
        }
        if !wasReached { try await waitForEmulator(run) }
        try await socket.open(receive: receive, ended: ended)
        let isWanted = state.withLock { state in
            state.wasReached = true
            return state.run == run
        }
        guard isWanted else {
            socket.close()
            throw Self.closed
        }
    }

    /// Sends a packet, or queues the packet while the connection is busy.
    package func send(_ packet: H4Packet) { socket.send(packet) }

    /// Closes the transport, or stops waiting for an emulator.
    package func close() {
        let waiting = state.withLock { state in
            state.run += 1
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.cancel()
        socket.close()
    }

    private static let closed = RadioError(.lost, "the transport was closed before a controller connected")

    private func waitForEmulator(_ run: Int) async throws(RadioError) {
        guard !listens(place.port) else { return }
        whenWaiting(
            """
            waiting up to \(Self.patience.components.seconds) s for an Android emulator (\(place)); \
            looked for \(place.searched)
            """
        )
        let (listens, sleep, port) = (listens, sleep, place.port)
        let waiting = Task {
            for _ in 0..<Int(Self.patience / Self.pause) {
                guard (try? await sleep(Self.pause)) != nil else { return false }
                if listens(port) { return true }
            }
            return false
        }
        let isWanted = state.withLock { state in
            if state.run == run { state.waiting = waiting }
            return state.run == run
        }
        if !isWanted { waiting.cancel() }
        let isThere = await waiting.value
        let isOpening = state.withLock { state in
            if state.run == run { state.waiting = nil }
            return state.run == run
        }
        guard isOpening else { throw Self.closed }
        guard isThere else {
            throw RadioError(
                .unreachable,
                """
                no Android emulator was found within \(Self.patience.components.seconds) s: nothing \
                listens on \(HCITransportAddress.loopback):\(place.port) (looked for \(place.searched))
                """,
                remedy:
                    """
                    start an Android emulator, version 33.1.4 or later; if its radio has another port, \
                    set NETSIM_HCI_PORT
                    """
            )
        }
    }
}
