import MynahCore
import Testing

@testable import MynahHost

@Suite struct ConnectionQueueTests {
    @Test func `one that moved is initiated for anew, and nobody else is`() throws {
        let one = try #require(DeviceAddress("C0:00:00:00:00:01", kind: .random))
        let other = try #require(DeviceAddress("C0:00:00:00:00:02", kind: .random))
        var queue = ConnectionQueue()
        #expect(queue.moved(one) == [])
        #expect(queue.want(1, one) == [.initiate([one])])
        #expect(queue.moved(other) == [])
        #expect(queue.moved(one) == [.cancel])
        #expect(queue.moved(one) == [])
        let (failed, actions) = queue.ended()
        #expect(failed == [] && actions == [.initiate([one])])
    }

    private func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(value: number, kind: .random) }

    @Test func `one is initiated for by its address, and nothing follows its link`() {
        var queue = ConnectionQueue()
        #expect(queue.want(1, address(1)) == [.initiate([address(1)])])
        let (number, actions) = queue.connected(to: address(1))
        #expect(number == 1)
        #expect(actions == [])
        #expect(queue.isEmpty)
    }

    @Test func `another one has it begun again for both, and who is left is waited for on`() {
        var queue = ConnectionQueue()
        _ = queue.want(1, address(1))
        #expect(queue.want(2, address(2)) == [.cancel])
        // Meanwhile a third: what is cancelled already is not cancelled twice.
        #expect(queue.want(3, address(3)) == [])
        let cancelled = queue.ended()
        #expect(cancelled.failed == [])
        #expect(cancelled.1 == [.initiate([address(1), address(2), address(3)])])
        let (number, actions) = queue.connected(to: address(2))
        #expect(number == 2)
        #expect(actions == [.initiate([address(1), address(3)])])
    }

    @Test func `a link that came before it was cancelled counts`() {
        var queue = ConnectionQueue()
        _ = queue.want(1, address(1))
        _ = queue.want(2, address(2))
        let (number, actions) = queue.connected(to: address(1))
        #expect(number == 1)
        #expect(actions == [.initiate([address(2)])])
    }

    @Test func `who gives up is not asked for any more, and a link that comes all the same is nobody's`() {
        var queue = ConnectionQueue()
        _ = queue.want(1, address(1))
        #expect(queue.giveUp(1) == [.cancel])
        #expect(queue.giveUp(1) == nil)
        let (number, actions) = queue.connected(to: address(1))
        #expect(number == nil)
        #expect(actions == [])
    }

    @Test func `what the controller refuses fails those whom it was for`() {
        var queue = ConnectionQueue()
        _ = queue.want(1, address(1))
        let (failed, actions) = queue.ended()
        #expect(failed == [1])
        #expect(actions == [])
        #expect(queue.ended().failed == [])
    }

    @Test func `more than a list holds take their turns`() {
        var queue = ConnectionQueue()
        _ = queue.want(1, address(1))
        for number in 2...10 { _ = queue.want(UInt64(number), address(UInt64(number))) }
        #expect(queue.ended().1 == [.initiate((1...8).map { address($0) })])
        #expect(queue.want(11, address(11)) == [])
        #expect(
            queue.connected(to: address(4)).1 == [.initiate([1, 2, 3, 5, 6, 7, 8, 9].map { address($0) })])
    }

    @Test func `a controller that never says that it stopped is asked again`() {
        var queue = ConnectionQueue()
        _ = queue.want(1, address(1))
        let round = queue.round
        _ = queue.want(2, address(2))
        #expect(queue.overdue(round) == [.initiate([address(1), address(2)])])
        #expect(queue.overdue(round) == [])
    }
}
