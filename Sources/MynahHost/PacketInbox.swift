import MynahHCI
import MynahSupport

/// What a transport's thread hands to the radio, in order, with one wake-up for as many packets as have come.
final class PacketInbox: Sendable {
    private struct State {
        var packets: [H4Packet] = []
        var isAwaited = false
    }

    private let state = Lock(State())

    /// Puts a packet in; true: whoever empties it has to be woken.
    func append(_ packet: H4Packet) -> Bool {
        state.withLock { state in
            state.packets.append(packet)
            defer { state.isAwaited = true }
            return !state.isAwaited
        }
    }

    /// Everything that is in it; empty: it is not awaited any more.
    func takeAll() -> [H4Packet] {
        state.withLock { state in
            let packets = state.packets
            state.packets = []
            if packets.isEmpty { state.isAwaited = false }
            return packets
        }
    }
}
