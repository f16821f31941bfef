import MynahHCI
import MynahSupport

/// Data on its way to the controller, which has room for so many packets and says when they are done (Core Specification, Vol 4,
/// Part E, 4.1.1).
struct DataQueue {
    /// How many packets of one link wait before no more are taken.
    static let limit = 1024

    /// How many bytes of a packet the controller takes.
    private(set) var size = 27
    /// How many packets it has room for altogether.
    private(set) var capacity = 1
    /// In order, those before `first` gone already.
    private var waiting: [(handle: UInt16, packet: H4Packet)] = []
    private var first = 0
    /// How many of those each link has.
    private var queued = SortedMap<UInt16, Int>()
    private var inFlight = SortedMap<UInt16, Int>()
    private var inFlightCount = 0

    /// How many packets wait here, besides those the controller has.
    var count: Int { waiting.count - first }

    mutating func configure(size: Int, capacity: Int) {
        self.size = max(27, size)
        self.capacity = max(1, capacity)
    }

    /// Takes a PDU; false: its link has too many waiting already.
    ///
    /// Who keeps to the protocols has a few. Who asks on and on, through a controller that takes nothing, would otherwise
    /// fill the memory with answers.
    @discardableResult
    mutating func add(_ frame: L2CAPFrame, for handle: UInt16) -> Bool {
        guard queued[handle, default: 0] < Self.limit else { return false }
        guard 4 + frame.payload.count > size else {
            waiting.append((handle, frame.whole(for: handle)))
            queued[handle, default: 0] += 1
            return true
        }
        let packets = frame.packets(for: handle, of: size)
        waiting += packets.map { (handle, $0.packet) }
        queued[handle, default: 0] += packets.count
        return true
    }

    /// The next packet, where the controller has room for it now.
    mutating func takeNext() -> H4Packet? {
        guard inFlightCount < capacity, first < waiting.count else { return nil }
        let (handle, packet) = waiting[first]
        first += 1
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        } else if first == 64 {
            waiting.removeFirst(first)
            first = 0
        }
        queued[handle, default: 1] -= 1
        inFlight[handle, default: 0] += 1
        inFlightCount += 1
        return packet
    }

    /// So many of a link's packets are done; more than it has is no more.
    mutating func completed(_ handle: UInt16, _ count: Int) {
        guard let current = inFlight[handle] else { return }
        inFlight[handle] = max(0, current - count)
        inFlightCount -= min(current, count)
    }

    /// The link is gone, and what it had in the controller with it.
    mutating func forget(_ handle: UInt16) {
        waiting.removeFirst(first)
        first = 0
        waiting.removeAll { $0.handle == handle }
        queued[handle] = nil
        inFlightCount -= inFlight.removeValue(forKey: handle) ?? 0
    }
}
