import MynahCore
import MynahHCI
import MynahSupport

/// Everything that waits to be sent to peers, and the sends that were refused for lack of room.
///
/// This state machine has no I/O. Flow control is per link: a peer that accepts nothing delays only its own
/// packets (Core Specification, Vol 3, Part F, 3.3.2).
struct Outbound: Sendable {
    /// The kind of a send that was refused for lack of room.
    enum Refused: Hashable, Sendable {
        /// A notification: too many packets wait for the link.
        case notification
        /// An indication: too many indications or packets wait for the link.
        case indication
        /// A write command of the central role.
        case write
    }

    /// The kinds of sends for which there is room again.
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

    /// The number of waiting packets on a link at which further values are refused.
    let limit: Int
    private(set) var queue = DataQueue()
    /// Notifications that will be sent together in one PDU, by link.
    private var collected = SortedMap<ConnectionHandle, [Value]>()
    private var refused: [(link: ConnectionHandle, Refused)] = []

    init(limit: Int) {
        self.limit = min(max(1, limit), DataQueue.limit)
    }

    mutating func configure(_ buffers: ControllerProfile.Buffers) {
        queue.configure(buffers)
    }

    // MARK: Sending

    /// Queues a PDU, after all collected notifications of its link; returns `false` if the queue is full.
    @discardableResult
    mutating func send(_ frame: L2CAPFrame, to link: ConnectionHandle) -> Bool {
        flush(link)
        return queue.add(frame, for: link)
    }

    /// Queues a notification.
    ///
    /// While packets of the link are waiting, notifications are collected to be sent in one PDU, if the
    /// client supports that (Vol 3, Part F, 3.4.7.4).
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

    /// Queues the collected notifications of a link as one PDU.
    private mutating func flush(_ link: ConnectionHandle) {
        guard !collected.isEmpty, let values = collected.removeValue(forKey: link) else { return }
        let pdu =
            values.count == 1
            ? ATTPDU.handleValue(ATTOpcode.handleValueNotification, values[0].handle, values[0].value)
            : ATTPDU.multipleHandleValue(values.map { ($0.handle, $0.value) })
        queue.add(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), for: link)
    }

    /// Removes and returns the next packet; returns `nil` if nothing waits or the controller has no room.
    mutating func takeNext() -> H4Packet? {
        if let packet = queue.takeNext() { return packet }
        guard !collected.isEmpty else { return nil }
        for link in collected.keys where queue.count(of: link) == 0 { flush(link) }
        return queue.takeNext()
    }

    /// Handles the controller's report that some of a link's packets were completed.
    mutating func completed(_ link: ConnectionHandle, _ count: Int) {
        queue.completed(link, count)
    }

    /// Removes everything that waits for a link that has ended.
    mutating func linkEnded(_ link: ConnectionHandle) {
        queue.forget(link)
        collected[link] = nil
        refused.removeAll { $0 == (link, .write) }
    }

    /// Removes all packets and notifications after the loss of the controller.
    mutating func controllerEnded() {
        queue = DataQueue()
        collected = SortedMap()
    }

    // MARK: Room

    /// Whether any refused send was not returned by `takeReady` yet.
    var hasRefused: Bool { !refused.isEmpty }

    /// Whether a link has room for another notification, indication or write command.
    func takes(on link: ConnectionHandle) -> Bool { queue.count(of: link) < limit }

    /// Whether at most half of the room on a link is used.
    func hasRoom(on link: ConnectionHandle) -> Bool { queue.count(of: link) <= limit / 2 }

    /// Records that a send was refused, so that `takeReady` reports when the link has room again.
    mutating func refuse(_ what: Refused, on link: ConnectionHandle) {
        if !refused.contains(where: { $0 == (link, what) }) { refused.append((link, what)) }
    }

    /// Removes the refused sends for which there is room again, and returns their kinds and links.
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
