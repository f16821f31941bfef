import MynahCore
import MynahHCI
import MynahSupport

/// Everything that waits to be sent to peers: packets for the controller, notifications that are sent
/// together, and refused sends.
///
/// This part has no I/O. Flow control is per link: a peer that accepts nothing delays only its own packets
/// (Core Specification, Vol 3, Part F, 3.3.2).
struct Outbound: Sendable {
    /// The kind of PDU that was refused for lack of room.
    enum Refused: Hashable, Sendable {
        /// A notification, because too many packets wait for the link.
        case notification
        /// An indication, because too many wait for the confirmation of another.
        case indication
        /// A write command of the central role.
        case write
    }

    /// The refused senders that have room again.
    struct Ready: Equatable {
        /// Whether there is room for notifications or indications.
        var values = false
        /// The links that have room for write commands.
        var writes: [ConnectionHandle] = []
    }

    private struct Value {
        var handle: AttributeHandle
        var value: [UInt8]
    }

    /// The number of packets that wait on one link above which a value is refused.
    let limit: Int
    private(set) var queue = DataQueue()
    /// Notifications that will be sent in one PDU when the controller has room, by link.
    private var collected = SortedMap<ConnectionHandle, [Value]>()
    private var refused: [(link: ConnectionHandle, Refused)] = []

    init(limit: Int) {
        self.limit = min(max(1, limit), DataQueue.limit)
    }

    mutating func configure(_ buffers: ControllerProfile.Buffers) {
        queue.configure(buffers)
    }

    // MARK: Sending

    /// Queues a PDU, after all notifications that were collected for the link; returns whether there was room
    /// for it.
    @discardableResult
    mutating func send(_ frame: L2CAPFrame, to link: ConnectionHandle) -> Bool {
        flush(link)
        return queue.add(frame, for: link)
    }

    /// Queues a notification.
    ///
    /// While notifications of a link wait for room, several are collected into one PDU, if the client
    /// supports that (Vol 3, Part F, 3.4.7.4).
    mutating func notify(
        _ handle: AttributeHandle, _ value: [UInt8], to link: ConnectionHandle, mtu: Int, takesMultiple: Bool
    ) {
        guard takesMultiple, queue.count(of: link) > 0, 1 + 4 + value.count <= mtu else {
            let pdu = ATTPDU.handleValue(ATTOpcode.handleValueNotification, handle, value)
            send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: link)
            return
        }
        let length = collected[link]?.reduce(1) { $0 + 4 + $1.value.count } ?? 1
        if length + 4 + value.count > mtu { flush(link) }
        collected[link, default: []].append(Value(handle: handle, value: value))
    }

    /// Queues the collected notifications of a link, before anything else is queued on it.
    private mutating func flush(_ link: ConnectionHandle) {
        guard !collected.isEmpty, let values = collected.removeValue(forKey: link) else { return }
        let pdu =
            values.count == 1
            ? ATTPDU.handleValue(ATTOpcode.handleValueNotification, values[0].handle, values[0].value)
            : ATTPDU.multipleHandleValue(values.map { ($0.handle, $0.value) })
        queue.add(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), for: link)
    }

    /// Returns the next packet for the controller, or `nil` if it has no room or nothing waits.
    mutating func takeNext() -> H4Packet? {
        if let packet = queue.takeNext() { return packet }
        guard !collected.isEmpty else { return nil }
        for link in collected.keys where queue.count(of: link) == 0 { flush(link) }
        return queue.takeNext()
    }

    /// Notes that the controller has sent a number of a link's packets.
    mutating func completed(_ link: ConnectionHandle, _ count: Int) {
        queue.completed(link, count)
    }

    /// Drops everything that waits on a link that has ended.
    mutating func linkEnded(_ link: ConnectionHandle) {
        queue.forget(link)
        collected[link] = nil
        refused.removeAll { $0 == (link, .write) }
    }

    /// Drops everything, because the controller is lost.
    mutating func controllerEnded() {
        queue = DataQueue()
        collected = SortedMap()
    }

    // MARK: Room

    /// Whether a send was refused and has no room yet.
    var hasRefused: Bool { !refused.isEmpty }

    /// Whether a link accepts another value.
    func takes(on link: ConnectionHandle) -> Bool { queue.count(of: link) < limit }

    /// Whether so few packets wait on a link that more should be queued.
    func hasRoom(on link: ConnectionHandle) -> Bool { queue.count(of: link) <= limit / 2 }

    /// Notes that a link had no room for a send; `takeReady` returns it when the link has room.
    mutating func refuse(_ what: Refused, on link: ConnectionHandle) {
        if !refused.contains(where: { $0 == (link, what) }) { refused.append((link, what)) }
    }

    /// Returns the sends that have room again, once for each refusal, as soon as the link has room.
    ///
    /// `takesIndications` returns whether a link accepts another indication, or has ended.
    mutating func takeReady(_ takesIndications: (ConnectionHandle) -> Bool) -> Ready {
        var ready = Ready()
        guard !refused.isEmpty else { return ready }
        let asked = refused
        refused = asked.filter { link, what in
            guard hasRoom(on: link), what != .indication || takesIndications(link) else { return true }
            switch what {
            case .notification, .indication: ready.values = true
            case .write: ready.writes.append(link)
            }
            return false
        }
        return ready
    }
}
