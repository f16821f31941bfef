import MynahSupport

/// The queue of a capture's blocks that are to be written: limited in size, and without I/O.
///
/// When the queue is full, packets are dropped until half of it is free again. The next packet then gets a
/// comment with the number of dropped packets.
struct CaptureQueue: Sendable {
    /// Whole blocks, with the number of packets among them.
    struct Batch: Sendable {
        var bytes: [UInt8] = []
        var packets = 0
    }

    private struct Block: Sendable {
        var bytes: [UInt8]
        var isPacket: Bool
    }

    private let limit: Int
    private var blocks: [Block] = []
    /// The index of the first block in the queue.
    private var first = 0
    private var size = 0
    private var interfaces: UInt32 = 0
    /// The number of the current section.
    private(set) var section = 0
    private var isFull = false
    /// The number of packets that were dropped since a packet was last queued.
    private var missing = 0
    /// The number of dropped packets that were not reported yet.
    private var unreported = 0

    /// Makes an empty queue; `limit` is in bytes.
    init(limit: Int) {
        self.limit = limit
    }

    /// `true` if the queue has no blocks.
    var isEmpty: Bool { first == blocks.count }

    /// Begins the file, or another section of the file, in which interfaces are again numbered from 0.
    mutating func startSection(application: String) {
        add(Pcapng.sectionHeader(application: application), isPacket: false)
        interfaces = 0
        section += 1
    }

    /// Adds an interface, and returns its number.
    mutating func addInterface(_ linkType: UInt16, _ name: String) -> UInt32 {
        add(Pcapng.interface(linkType: linkType, name: name), isPacket: false)
        defer { interfaces += 1 }
        return interfaces
    }

    /// Adds a packet, or drops and counts it if the queue is full.
    mutating func addPacket(_ interface: UInt32, microseconds: UInt64, _ data: [UInt8]) {
        if isFull, size <= limit / 2 { isFull = false }
        guard !isFull, size + data.count <= limit else {
            isFull = true
            missing += 1
            return
        }
        var comment: String?
        if missing > 0 {
            comment =
                missing.counting("packet is", "packets are")
                + " missing before this one: the capture was not read"
            unreported += missing
            missing = 0
        }
        add(
            Pcapng.packet(interface: interface, microseconds: microseconds, data: data, comment: comment),
            isPacket: true)
    }

    private mutating func add(_ bytes: [UInt8], isPacket: Bool) {
        blocks.append(Block(bytes: bytes, isPacket: isPacket))
        size += bytes.count
    }

    /// Removes and returns the first blocks, up to `limit` bytes; the first block may be larger.
    mutating func removeBlocks(atMost limit: Int) -> Batch {
        var batch = Batch()
        while first < blocks.count,
            batch.bytes.isEmpty || batch.bytes.count + blocks[first].bytes.count <= limit
        {
            batch.bytes += blocks[first].bytes
            if blocks[first].isPacket { batch.packets += 1 }
            first += 1
        }
        size -= batch.bytes.count
        if first == blocks.count {
            blocks.removeAll(keepingCapacity: true)
            first = 0
        } else if first > 1024 {
            blocks.removeFirst(first)
            first = 0
        }
        return batch
    }

    /// Returns the number of dropped packets that were not reported in the file, and sets it to 0.
    mutating func takeMissing() -> Int {
        defer { unreported = 0 }
        return unreported
    }

    /// Ends the queue, and returns the number of packets that were dropped or not written.
    mutating func end() -> Int {
        defer { self = CaptureQueue(limit: 0) }
        return unreported + missing + blocks[first...].count { $0.isPacket }
    }
}
