import MynahHCI
import Testing

@testable import MynahHost

/// A queue, and numbers to send.
private final class Rig {
    private(set) var queue = DataQueue()

    init(capacity: Int, _ handles: UInt16...) {
        queue.configure(size: 27, capacity: capacity)
        for handle in handles { add(0, for: handle) }
    }

    func add(_ number: UInt8, for handle: UInt16) {
        queue.add(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: [number]), for: handle)
    }

    /// The links whose packets go to the controller, and the numbers in them.
    func drain() -> [String] {
        var taken: [String] = []
        while let packet = queue.takeNext() {
            taken.append("\(packet.body[0]):\(packet.body.last ?? 0)")
        }
        return taken
    }

    func completed(_ handle: UInt16, _ number: Int) { queue.completed(handle, number) }
    func forget(_ handle: UInt16) { queue.forget(handle) }
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

    @Test func `links take turns`() {
        let rig = Rig(capacity: 8, 1, 2)
        for number in 1...2 as ClosedRange<UInt8> { rig.add(number, for: 1) }
        rig.add(1, for: 2)
        #expect(rig.drain() == ["1:0", "2:0", "1:1", "2:1", "1:2"])
    }

    @Test func `a link whose packets are never done leaves a place for each other`() {
        let rig = Rig(capacity: 4, 1, 2)
        for number in 1...9 as ClosedRange<UInt8> { rig.add(number, for: 1) }
        #expect(rig.drain() == ["1:0", "2:0", "1:1", "1:2"])
        rig.completed(2, 1)
        rig.add(7, for: 2)
        rig.add(8, for: 2)
        #expect(rig.drain() == ["2:7"])
        rig.completed(2, 1)
        #expect(rig.drain() == ["2:8"])
        #expect(rig.queue.count(of: 1) == 7)
        #expect(rig.queue.count(of: 2) == 0)
    }

    @Test func `more links than the controller has room for have a packet each`() {
        let rig = Rig(capacity: 2, 1, 2, 3)
        #expect(rig.drain() == ["1:0", "2:0"])
        rig.completed(1, 1)
        #expect(rig.drain() == ["3:0"])
    }

    @Test func `what a link that is gone had in the controller is free`() {
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

    @Test func `who was refused has room when each link that refused has`() {
        var refusals = Refusals()
        var ended = [refusals.end { _ in true }]
        refusals.add(1)
        refusals.add(2)
        ended.append(refusals.end { $0 == 1 })
        ended.append(refusals.end { _ in true })
        ended.append(refusals.end { _ in true })
        #expect(ended == [false, false, true, false])
        refusals.add(1)
        ended = [refusals.endAll(), refusals.endAll()]
        #expect(ended == [true, false])
    }
}
