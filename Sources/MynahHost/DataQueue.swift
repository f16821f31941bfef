import MynahHCI

/// Data on its way to the controller, which has room for so many packets and says when they are done (Core Specification, Vol 4,
/// Part E, 4.1.1).
struct DataQueue {
    /// How many packets of one link wait before no more are taken.
    static let limit = 1024

    /// How many bytes of a packet the controller takes.
    private(set) var size = 27
    /// How many packets it has room for altogether.
    private(set) var capacity = 1
    private var waiting: [ACLPacket] = []
    /// How many of those each link has.
    private var queued: [UInt16: Int] = [:]
    private var inFlight: [UInt16: Int] = [:]

    /// How many packets wait here, besides those the controller has.
    var count: Int { waiting.count }

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
        let packets = frame.packets(for: handle, of: size)
        waiting += packets
        queued[handle, default: 0] += packets.count
        return true
    }

    /// What the controller has room for now, in order.
    mutating func takeReady() -> [ACLPacket] {
        let room = capacity - inFlight.values.reduce(0, +)
        guard room > 0, !waiting.isEmpty else { return [] }
        let ready = Array(waiting.prefix(room))
        waiting.removeFirst(ready.count)
        for packet in ready {
            inFlight[packet.handle, default: 0] += 1
            let left = queued[packet.handle, default: 1] - 1
            queued[packet.handle] = left > 0 ? left : nil
        }
        return ready
    }

    /// So many of a link's packets are done; more than it has is no more.
    mutating func completed(_ handle: UInt16, _ count: Int) {
        guard let current = inFlight[handle] else { return }
        inFlight[handle] = current > count ? current - count : nil
    }

    /// The link is gone, and what it had in the controller with it.
    mutating func forget(_ handle: UInt16) {
        waiting.removeAll { $0.handle == handle }
        queued[handle] = nil
        inFlight[handle] = nil
    }
}
