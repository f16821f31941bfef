import MynahHCI
import Testing

@testable import MynahHost

/// A queue, and numbers to send.
private final class Rig {
    private(set) var queue = DataQueue()

    init(capacity: Int, _ handles: ConnectionHandle...) {
        queue.configure(.init(size: 27, count: capacity))
        for handle in handles { add(0, for: handle) }
    }

    func add(_ number: UInt8, for handle: ConnectionHandle) {
        queue.add(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: [0x0B, number]), for: handle)
    }

    /// The links whose packets go to the controller, and the numbers in them.
    func drain() -> [String] {
        var taken: [String] = []
        while let packet = queue.takeNext() {
            taken.append("\(packet.body[0]):\(packet.body.last ?? 0)")
        }
        return taken
    }

    /// Queues a PDU; returns whether there was room for it.
    func offer(_ payload: [UInt8], for handle: ConnectionHandle) -> Bool {
        queue.add(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: payload), for: handle)
    }

    func completed(_ handle: ConnectionHandle, _ number: Int) { queue.completed(handle, number) }
    func forget(_ handle: ConnectionHandle) { queue.forget(handle) }
}

@Suite struct DataQueueTests {
    @Test func `one link alone has all the room, in its order`() {
        let rig = Rig(capacity: 3, 1)
        for number in 1...4 as ClosedRange<UInt8> { rig.add(number, for: 1) }
        #expect(rig.drain() == ["1:0", "1:1", "1:2"])
        #expect(rig.queue.count == 2)
        rig.completed(1, 1)
        #expect(rig.drain() == ["1:3"])
        rig.completed(1, 200)
        #expect(rig.drain() == ["1:4"])
        #expect(rig.queue.count == 0)
    }

    @Test func `confirmations take turns with other PDUs, and do not cut them`() {
        let rig = Rig(capacity: 9, 1)
        for _ in 0..<3 { #expect(rig.offer([0x1E], for: 1)) }
        // Two packets, of which the second ends with 2.
        #expect(rig.offer([UInt8](repeating: 2, count: 40), for: 1))
        #expect(rig.queue.count(of: 1) == 3 && rig.queue.count == 6)
        #expect(rig.drain() == ["1:30", "1:0", "1:30", "1:2", "1:2", "1:30"])
        #expect(rig.queue.count == 0)
        #expect(rig.offer([0x1E], for: 1))
        rig.forget(1)
        #expect(rig.queue.count == 0)
    }

    @Test func `neither confirmations nor answers take the room of requests`() {
        let rig = Rig(capacity: 1, 1)
        for _ in 0..<2 * DataQueue.limit { _ = rig.offer([0x1E], for: 1) }
        #expect(!rig.offer([0x1E], for: 1) && rig.queue.count(of: 1) == 1)
        while rig.offer([0x0B, 1], for: 1) {}
        #expect(rig.queue.count(of: 1) == DataQueue.limit)
        #expect(rig.offer([0x10, 1, 0], for: 1))
        var requests = 1
        while rig.offer([0x10, 1, 0], for: 1) { requests += 1 }
        #expect(requests == DataQueue.reserve)
    }

    @Test(arguments: [
        (L2CAPFrame.Channel.attribute, [0x02, 0x04, 0x08, 0x0A, 0x10, 0x12, 0x16, 0x18, 0x20], true),
        (L2CAPFrame.Channel.attribute, [0x01, 0x03, 0x0B, 0x13, 0x1B, 0x1D, 0x1E, 0x23, 0x52, 0xD2], false),
        (L2CAPFrame.Channel.signalling, [0x06, 0x12, 0x14, 0x16], true),
        (L2CAPFrame.Channel.signalling, [0x01, 0x07, 0x13, 0x15], false),
        (L2CAPFrame.Channel.securityManager, [0x01, 0x0B], true),
        (L2CAPFrame.Channel.securityManager, [0x02, 0x03, 0x05, 0x06], false), (0x0040, [0x02, 0x10], false),
    ])
    func `requests of this side are told from answers`(channel: UInt16, codes: [UInt8], begins: Bool) {
        for code in codes {
            #expect(L2CAPFrame(channel: channel, payload: [code]).isRequest == begins, "\(code)")
        }
        #expect(!L2CAPFrame(channel: channel, payload: []).isRequest)
    }

    @Test func `links take turns`() {
        let rig = Rig(capacity: 8, 1, 2)
        for number in 1...2 as ClosedRange<UInt8> { rig.add(number, for: 1) }
        rig.add(1, for: 2)
        #expect(rig.drain() == ["1:0", "2:0", "1:1", "2:1", "1:2"])
    }

    @Test func `a link whose packets are never done has its share and no more`() {
        let rig = Rig(capacity: 4, 1, 2)
        for number in 1...9 as ClosedRange<UInt8> { rig.add(number, for: 1) }
        #expect(rig.drain() == ["1:0", "2:0", "1:1"])
        rig.completed(2, 1)
        rig.add(7, for: 2)
        rig.add(8, for: 2)
        #expect(rig.drain() == ["2:7", "2:8"])
        rig.completed(2, 2)
        #expect(rig.drain() == [])
        #expect(rig.queue.count(of: 1) == 8)
        #expect(rig.queue.count(of: 2) == 0)
    }

    @Test(arguments: [3, 4, 8, 16, 64])
    func `two links whose packets are never done leave a third its share`(capacity: Int) {
        let rig = Rig(capacity: capacity, 1, 2, 3)
        for number in 1...200 as ClosedRange<UInt8> {
            rig.add(number, for: 1)
            rig.add(number, for: 2)
        }
        _ = rig.drain()
        for number in 1...200 as ClosedRange<UInt8> { rig.add(number, for: 3) }
        rig.completed(3, 1)
        var (rounds, taken) = (0, 0)
        while taken < 200, rounds < 300 {
            let numbers = rig.drain()
            #expect(numbers.allSatisfy { $0.hasPrefix("3:") })
            rig.completed(3, numbers.count)
            taken += numbers.count
            rounds += 1
        }
        #expect(taken == 200)
        // The two hold a third each, rounded up.
        #expect(rounds <= 200 / max(1, capacity - 2 * ((capacity + 2) / 3)) + 1)
    }

    @Test func `more links than the controller has room for have a packet each`() {
        let rig = Rig(capacity: 2, 1, 2, 3)
        #expect(rig.drain() == ["1:0", "2:0"])
        rig.completed(1, 1)
        #expect(rig.drain() == ["3:0"])
    }

    @Test func `buffers of a link that ended are free`() {
        let rig = Rig(capacity: 3, 1, 2)
        for number in 1...9 as ClosedRange<UInt8> { rig.add(number, for: 1) }
        #expect(rig.drain() == ["1:0", "2:0", "1:1"])
        rig.forget(1)
        #expect(rig.queue.count == 0)
        for number in 1...3 as ClosedRange<UInt8> { rig.add(number, for: 2) }
        #expect(rig.drain() == ["2:1", "2:2"])
        rig.completed(1, 2)
        #expect(rig.drain() == [])
    }

    @Test func `a long run of packets goes in order`() {
        let rig = Rig(capacity: 1, 1)
        var taken = rig.drain()
        for number in 1...200 as ClosedRange<UInt8> { rig.add(number, for: 1) }
        for _ in 1...200 {
            rig.completed(1, 1)
            taken += rig.drain()
        }
        #expect(taken == (0...200).map { "1:\($0)" })
    }
}
