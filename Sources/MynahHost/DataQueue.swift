import MynahHCI
import MynahSupport

/// Data for the controller, which has room for a number of packets and reports when they are done (Core
/// Specification, Vol 4, Part E, 4.1.1).
///
/// Links take turns, and each has its share of the controller's buffers: a phone that has fallen silent keeps
/// what it was sent until its link is given up, and the others do not wait for that. On one link,
/// confirmations take turns with everything else, so that neither keeps the other waiting.
struct DataQueue: Sendable {
    /// How many packets of one link wait before others are refused, and how many confirmations.
    static let limit = 1024
    /// The number of packets that may wait beyond the limit, so that requests of this side are not dropped:
    /// few of them can be under way at a time, and a dropped request would get no answer.
    static let reserve = 64

    /// The queue of one link.
    private struct LinkQueue {
        /// The packets in order; those before `first` were sent.
        var waiting: [H4Packet] = []
        var first = 0
        /// The number of packets that the controller has.
        var inFlight = 0
        /// How many confirmations of indications wait, all of which are alike.
        var confirmations = 0
        /// Whether the packet before was a confirmation.
        private var hasConfirmed = false

        var count: Int { waiting.count - first }
        var total: Int { count + confirmations }

        /// Whether the next packet begins a PDU.
        private var isBetweenPDUs: Bool {
            count == 0 || !ACLPacket.continues(waiting[first].body)
        }

        mutating func takeNext(for handle: ConnectionHandle) -> H4Packet {
            hasConfirmed = confirmations > 0 && isBetweenPDUs && (count == 0 || !hasConfirmed)
            if hasConfirmed {
                confirmations -= 1
                inFlight += 1
                return L2CAPFrame.confirmation.whole(for: handle)
            }
            let packet = waiting[first]
            first += 1
            if first == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                first = 0
            } else if first == 64 {
                waiting.removeFirst(first)
                first = 0
            }
            inFlight += 1
            return packet
        }
    }

    /// How many bytes of a packet the controller takes.
    private(set) var size = 27
    /// How many packets it has room for altogether.
    private(set) var capacity = 1
    private var links = SortedMap<ConnectionHandle, LinkQueue>()
    /// The place of the link whose turn it is.
    private var turn = 0
    private var inFlight = 0
    /// How many links have nothing in the controller.
    private var idleLinks = 0
    /// How many packets wait here, besides those the controller has.
    private(set) var count = 0

    mutating func configure(_ buffers: ControllerProfile.Buffers) {
        size = max(27, buffers.size)
        capacity = max(1, buffers.count)
    }

    /// How many packets of a link wait here, besides confirmations.
    func count(of handle: ConnectionHandle) -> Int {
        links.index(of: handle).map { links[at: $0].count } ?? 0
    }

    /// Queues a PDU.
    ///
    /// Returns `false` if too many PDUs of its link are waiting already.
    ///
    /// A peer that follows the protocols causes only a few. Without a limit, a peer that sends requests
    /// through a controller that accepts no data would fill the memory with answers. Answers that fill the
    /// queue leave room for this side's requests.
    @discardableResult
    mutating func add(_ frame: L2CAPFrame, for handle: ConnectionHandle) -> Bool {
        if links.index(of: handle) == nil {
            links[handle] = LinkQueue()
            idleLinks += 1
            turn = 0
        }
        guard let index = links.index(of: handle) else { return false }
        if frame == .confirmation {
            guard links[at: index].confirmations < Self.limit else { return false }
            links[at: index].confirmations += 1
            count += 1
            return true
        }
        let limit = frame.isRequest ? Self.limit + Self.reserve : Self.limit
        guard links[at: index].count < limit else { return false }
        guard 4 + frame.payload.count > size else {
            links[at: index].waiting.append(frame.whole(for: handle))
            count += 1
            return true
        }
        let packets = frame.packets(for: handle, of: size)
        for each in packets { links[at: index].waiting.append(each.packet) }
        count += packets.count
        return true
    }

    /// The next packet, where the controller has room for it now.
    mutating func takeNext() -> H4Packet? {
        guard inFlight < capacity, count > 0 else { return nil }
        // A silent peer keeps what it was sent until its link is given up: it may hold its share of the
        // buffers and no more, and never the last ones, which links that have nothing in the controller are
        // owed.
        let share = (capacity + links.count - 1) / links.count
        for step in 0..<links.count {
            let index = (turn + step) % links.count
            guard links[at: index].total > 0 else { continue }
            let own = links[at: index].inFlight
            guard own == 0 || own < share && capacity - inFlight > idleLinks else { continue }
            if own == 0 { idleLinks -= 1 }
            turn = (index + 1) % links.count
            count -= 1
            inFlight += 1
            return links[at: index].takeNext(for: links.keys[index])
        }
        return nil
    }

    /// Notes that a number of a link's packets are done, at most as many as it has.
    mutating func completed(_ handle: ConnectionHandle, _ number: Int) {
        guard let index = links.index(of: handle) else { return }
        let done = min(links[at: index].inFlight, number)
        guard done > 0 else { return }
        links[at: index].inFlight -= done
        inFlight -= done
        if links[at: index].inFlight == 0 { idleLinks += 1 }
    }

    /// Removes a link that has ended; its packets have left the controller with it.
    mutating func forget(_ handle: ConnectionHandle) {
        guard let link = links.removeValue(forKey: handle) else { return }
        count -= link.total
        inFlight -= link.inFlight
        if link.inFlight == 0 { idleLinks -= 1 }
        turn = 0
    }
}
