import MynahSupport

/// The blocks of a capture that wait to be written: a queue of limited size, without I/O.
///
/// When the queue is full, packets are dropped until half of it is free again. The next packet gets a comment
/// with the number of dropped ones.
struct CaptureQueue: Sendable {
    /// Whole blocks, and the number of packets among them.
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
    /// The number of the last section that was begun.
    private(set) var section = 0
    private var isFull = false
    /// The number of packets that were dropped since the last queued one.
    private var missing = 0
    /// The number of dropped packets that were not reported yet.
    private var unreported = 0

    /// Makes an empty queue; the limit is in bytes.
    init(limit: Int) {
        self.limit = limit
    }

    /// Whether nothing waits.
    var isEmpty: Bool { first == blocks.count }

    /// Begins the file, or another section of it, in which interfaces are numbered from 0 again.
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

    /// Adds a packet, or counts it as dropped if there is no room.
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

    /// Removes and returns the blocks that fit into `limit` bytes, or one block if the first is larger.
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

    /// Returns the number of dropped packets that are not reported in the file yet, and marks them as
    /// reported.
    mutating func takeMissing() -> Int {
        defer { unreported = 0 }
        return unreported
    }

    /// Ends the queue, and returns the number of packets that were dropped or still wait.
    mutating func end() -> Int {
        defer { self = CaptureQueue(limit: 0) }
        return unreported + missing + blocks[first...].count { $0.isPacket }
    }
}
