import MynahHCI
import MynahSupport

/// The queue of ACL data to the controller, which accepts a limited number of packets and reports completed
/// ones (Core Specification, Vol 4, Part E, 4.1.1).
///
/// Links take turns, and each has a share of the controller's buffers. A phone that no longer responds keeps
/// its share until its link ends, and the other links go on. Within a link, confirmations and other PDUs take
/// turns, so that neither delays the other.
struct DataQueue: Sendable {
    /// The maximum number of queued packets of a link, and also of its queued confirmations.
    ///
    /// Further PDUs are refused.
    static let limit = 1024
    /// The number of packets beyond `limit` that are accepted if they belong to this side's requests.
    ///
    /// Few requests wait at a time, and a request that is dropped would never be answered.
    static let reserve = 64

    /// The queued data of one link.
    private struct LinkQueue {
        /// The packets in order; those before the index `first` were sent.
        var waiting: [H4Packet] = []
        var first = 0
        /// The number of this link's packets in the controller.
        var inFlight = 0
        /// The number of queued confirmations of indications, which are all the same.
        var confirmations = 0
        /// Whether the last packet was a confirmation.
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

    /// The controller's limit for the size of a packet, in bytes.
    private(set) var size = 27
    /// The number of packets that fit into the controller.
    private(set) var capacity = 1
    private var links = SortedMap<ConnectionHandle, LinkQueue>()
    /// The index of the link whose turn is next.
    private var turn = 0
    private var inFlight = 0
    /// The number of links that have no packets in the controller.
    private var idleLinks = 0
    /// The number of packets and confirmations in this queue, without those in the controller.
    private(set) var count = 0

    mutating func configure(_ buffers: ControllerProfile.Buffers) {
        size = max(27, buffers.size)
        capacity = max(1, buffers.count)
    }

    /// The number of a link's packets in this queue, without confirmations.
    func count(of handle: ConnectionHandle) -> Int {
        links.index(of: handle).map { links[at: $0].count } ?? 0
    }

    /// Queues a PDU; returns `false` if too many PDUs wait on its link.
    ///
    /// A peer that follows the protocols causes only a few PDUs. Without a limit, a peer that sends requests
    /// while the controller accepts no data would fill the memory with responses. Room for this side's
    /// requests is reserved.
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

    /// Removes and returns the next packet; returns `nil` if none may be sent now.
    mutating func takeNext() -> H4Packet? {
        guard inFlight < capacity, count > 0 else { return nil }
        // A silent peer's packets stay in the controller until its link is lost. So a link gets at most its
        // share of the buffers, and none of the last buffers, which are kept for links without packets in the
        // controller.
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

    /// Handles the controller's report that `number` packets of a link were completed.
    ///
    /// If the controller has fewer packets of the link, all of them count as completed.
    mutating func completed(_ handle: ConnectionHandle, _ number: Int) {
        guard let index = links.index(of: handle) else { return }
        let done = min(links[at: index].inFlight, number)
        guard done > 0 else { return }
        links[at: index].inFlight -= done
        inFlight -= done
        if links[at: index].inFlight == 0 { idleLinks += 1 }
    }

    /// Removes a link that has ended; the controller has dropped its packets.
    mutating func forget(_ handle: ConnectionHandle) {
        guard let link = links.removeValue(forKey: handle) else { return }
        count -= link.total
        inFlight -= link.inFlight
        if link.inFlight == 0 { idleLinks -= 1 }
        turn = 0
    }
}
