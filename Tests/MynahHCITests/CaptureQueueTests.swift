@testable import MynahHCI
import MynahSupport
import Testing

@Suite struct CaptureQueueTests {
    private let packetLength = 4 * 8 + 100

    /// A queue that has begun a file with one interface, both written.
    private func queue(limit: Int) -> CaptureQueue {
        var queue = CaptureQueue(limit: limit)
        queue.startSection(application: "Test")
        #expect(queue.addInterface(201, "hci") == 0)
        _ = queue.removeBlocks(atMost: .max)
        return queue
    }

    private func add(_ count: Int, to queue: inout CaptureQueue) {
        for _ in 0..<count {
            queue.addPacket(0, microseconds: 1, [UInt8](repeating: 7, count: 100))
        }
    }

    @Test func `a file begins with its section, then its interfaces in order`() {
        var queue = CaptureQueue(limit: 1000)
        queue.startSection(application: "Test")
        #expect([queue.addInterface(201, "hci"), queue.addInterface(256, "air")] == [0, 1])
        let batch = queue.removeBlocks(atMost: .max)
        #expect(
            batch.bytes == Pcapng.sectionHeader(application: "Test")
                + Pcapng.interface(linkType: 201, name: "hci") + Pcapng.interface(linkType: 256, name: "air"))
        #expect(batch.packets == 0 && queue.isEmpty)
    }

    @Test func `another section has interfaces of its own`() {
        var queue = queue(limit: 1000)
        #expect(queue.section == 1)
        queue.startSection(application: "Test")
        #expect(queue.section == 2)
        #expect([queue.addInterface(201, "hci"), queue.addInterface(256, "air")] == [0, 1])
        #expect(
            queue.removeBlocks(atMost: .max).bytes.starts(with: Pcapng.sectionHeader(application: "Test")))
    }

    @Test func `batches have whole blocks, and at least one`() {
        var queue = queue(limit: 10_000)
        add(5, to: &queue)
        #expect(queue.removeBlocks(atMost: 2 * packetLength + 1).packets == 2)
        #expect(queue.removeBlocks(atMost: 1).bytes.count == packetLength)
        #expect(queue.removeBlocks(atMost: .max).packets == 2)
        #expect(queue.removeBlocks(atMost: .max).bytes.isEmpty)
    }

    @Test func `packets that do not fit are counted, and the next one says how many are missing`() throws {
        var queue = queue(limit: 10 * packetLength)
        add(25, to: &queue)
        #expect(queue.takeMissing() == 0)
        // Room for one is not enough: half of it must be free.
        _ = queue.removeBlocks(atMost: packetLength)
        add(5, to: &queue)
        #expect(queue.removeBlocks(atMost: .max).packets == 9)
        add(1, to: &queue)
        let batch = queue.removeBlocks(atMost: .max)
        #expect(batch.packets == 1)
        #expect(
            String(decoding: batch.bytes, as: UTF8.self).contains("20 packets are missing before this one"))
        #expect(queue.takeMissing() == 20)
        #expect(queue.takeMissing() == 0)
    }

    @Test func `at the end the packets that wait are lost as well`() {
        var queue = queue(limit: 10 * packetLength)
        add(12, to: &queue)
        _ = queue.removeBlocks(atMost: 3 * packetLength)
        #expect(queue.end() == 9)
        #expect(queue.isEmpty)
    }
}
