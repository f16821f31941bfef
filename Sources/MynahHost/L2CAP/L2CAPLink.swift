import MynahCore
import MynahHCI

/// The state of one link in an `L2CAPManager`: its signalling channel and its LE credit-based channels (Core
/// Specification, Vol 3, Part A, 3.4 and 10.1).
struct L2CAPLink: Sendable {
    typealias Action = L2CAPManager.Action

    /// The largest number of channels on one link.
    static let channelLimit = 16

    let handle: ConnectionHandle
    let peer: Peer.ID
    /// This side's role on the link.
    let role: LEConnection.Role
    var signalling = Signalling()
    private(set) var channels: [OpenChannel] = []

    init(_ handle: ConnectionHandle, to peer: Peer.ID, as role: LEConnection.Role) {
        self.handle = handle
        self.peer = peer
        self.role = role
    }

    /// The index of the channel with this identifier on this side, or `nil` if there is none.
    func place(own: UInt16) -> Int? { channels.firstIndex { $0.key.channel == own } }

    /// The index of the channel with this identifier on the peer's side, or `nil` if there is none.
    func place(peer: UInt16) -> Int? { channels.firstIndex { $0.peer == peer } }

    /// The index of the channel with a key, or `nil` if there is none.
    func place(of key: ChannelKey) -> Int? { channels.firstIndex { $0.key == key } }

    /// Returns a free channel identifier, or `nil` if the link has its largest number of channels.
    func freeChannel() -> UInt16? {
        guard channels.count < Self.channelLimit else { return nil }
        return L2CAPFrame.Channel.dynamic.first { place(own: $0) == nil && !signalling.isAsking(for: $0) }
    }

    mutating func add(_ channel: OpenChannel) {
        channels.append(channel)
    }

    mutating func remove(at place: Int) -> OpenChannel {
        channels.remove(at: place)
    }

    /// Sends a signal that has no response.
    mutating func send(_ signal: L2CAPSignal, _ outbound: inout Outbound) {
        outbound.send(signal.frame(identifier: signalling.nextIdentifier()), to: handle)
    }

    // MARK: Sending

    /// Sends an SDU on a channel; returns whether all of it was sent.
    ///
    /// If not, the action `sent` follows later. Throws `valueTooLong` if the SDU is longer than the peer
    /// accepts.
    mutating func send(
        _ bytes: [UInt8], at place: Int, _ outbound: inout Outbound, _ actions: inout [Action]
    ) throws(RadioError) -> Bool {
        guard channels[place].machine.add(bytes) else {
            let limit = channels[place].machine.peer.mtu
            throw RadioError(
                .valueTooLong, "the SDU has \(bytes.count) bytes, and the peer accepts \(limit)")
        }
        pump(place, &outbound, &actions)
        channels[place].isSendAwaited = !channels[place].machine.isDrained
        return !channels[place].isSendAwaited
    }

    /// Continues to send on all channels, while the link has room; returns whether anything was sent.
    mutating func fill(_ outbound: inout Outbound, _ actions: inout [Action]) -> Bool {
        var isAny = false
        for place in channels.indices
        where channels[place].machine.isReady && outbound.hasRoom(on: handle) {
            pump(place, &outbound, &actions)
            isAny = true
        }
        return isAny
    }

    /// Adds credits from the peer to a channel, and sends what they allow.
    mutating func credited(
        _ count: UInt16, at place: Int, _ outbound: inout Outbound, _ actions: inout [Action]
    ) throws(CreditChannel.Violation) {
        try channels[place].machine.credited(count)
        pump(place, &outbound, &actions)
    }

    /// Sends frames of a channel while there are credits and the link has room.
    private mutating func pump(_ place: Int, _ outbound: inout Outbound, _ actions: inout [Action]) {
        while outbound.takes(on: handle), let frame = channels[place].machine.nextFrame() {
            outbound.send(L2CAPFrame(channel: channels[place].peer, payload: frame), to: handle)
        }
        guard channels[place].isSendAwaited, channels[place].machine.isDrained else { return }
        channels[place].isSendAwaited = false
        actions.append(.sent(channels[place].key, .success(())))
    }

    // MARK: Receiving

    /// Handles a frame of a channel.
    mutating func receive(
        _ payload: [UInt8], at place: Int, _ outbound: inout Outbound, _ actions: inout [Action]
    ) throws(CreditChannel.Violation) {
        let sdu = try channels[place].machine.receive(payload)
        if let sdu {
            if channels[place].isAwaited {
                channels[place].isAwaited = false
                channels[place].machine.wasRead()
                actions.append(.received(channels[place].key, sdu))
            } else {
                channels[place].inbox.append(sdu)
            }
        }
        giveCredits(place, &outbound)
    }

    /// Removes and returns a received SDU of a channel; returns `nil` if there is none.
    mutating func takeReceived(at place: Int, _ outbound: inout Outbound) -> [UInt8]? {
        guard !channels[place].inbox.isEmpty else { return nil }
        let sdu = channels[place].inbox.removeFirst()
        channels[place].machine.wasRead()
        giveCredits(place, &outbound)
        return sdu
    }

    /// Requests the action `received` for a channel's next SDU; returns `false` if it is already requested.
    mutating func awaitNext(at place: Int) -> Bool {
        guard !channels[place].isAwaited else { return false }
        channels[place].isAwaited = true
        return true
    }

    private mutating func giveCredits(_ place: Int, _ outbound: inout Outbound) {
        let count = channels[place].machine.takeCredits()
        guard count > 0 else { return }
        send(.credits(channel: channels[place].key.channel, count: count), &outbound)
    }
}
