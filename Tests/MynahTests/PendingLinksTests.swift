import MynahCore
import Testing

@testable import Mynah

/// Which request a link answers, without a radio.
@Suite struct PendingLinksTests {
    private var pending = PendingLinks<String>()

    private func address(_ value: UInt64, isPrivate: Bool = false) -> DeviceAddress {
        // The two highest bits of a resolvable private address are 01.
        isPrivate
            ? DeviceAddress(value: 0x4000_0000_0000 | value, kind: .random)
            : DeviceAddress(value: value, kind: .public)
    }

    private func match(_ address: DeviceAddress?) -> String {
        switch pending.match(Peer(id: .init(1), address: address)) {
        case .asked(let name): name
        case .address(let address): "\(address)"
        case .unknown: "unknown"
        }
    }

    @Test mutating func `a link is matched by its address`() {
        _ = pending.begin(address(1), "one")
        _ = pending.begin(address(2), "two")
        #expect(match(address(2)) == "two")
        #expect(match(address(3)) == "00:00:00:00:00:03")
        #expect(match(nil) == "unknown")
        #expect(pending.addresses == [address(1), address(2)])
    }

    @Test mutating func `a link without an address answers the only request`() {
        _ = pending.begin(address(1), "one")
        #expect(match(nil) == "one")
    }

    @Test mutating func `an identity waits while a private address is asked for, and a private one does not`()
    {
        let number = pending.begin(address(1, isPrivate: true), "private")
        #expect(match(address(7)) == "unknown")
        #expect(match(address(1, isPrivate: true)) == "private")
        #expect(match(address(2, isPrivate: true)) == "40:00:00:00:00:02")
        let unclaimed = pending.end(number)
        #expect(unclaimed == [])
        #expect(match(address(7)) == "00:00:00:00:00:07")
    }

    @Test mutating func `events wait in order until a request claims their link or none can`() {
        let numbers = [
            pending.begin(address(1, isPrivate: true), "one"),
            pending.begin(address(2, isPrivate: true), "two"),
        ]
        let (first, second) = (Peer.ID(1), Peer.ID(2))
        for id in [first, second] { pending.park(.connected(Peer(id: id, address: address(7))), of: id) }
        pending.add(.mtuChanged(first, 185), of: first)
        #expect(pending.isParked(first))
        let claimed = pending.take(first)
        #expect(claimed?.count == 2)
        let stillPending = pending.end(numbers[0])
        #expect(stillPending == [])
        let unclaimed = pending.end(numbers[1])
        #expect(unclaimed == [second])
        let again = pending.take(first)
        #expect(again?.count == nil)
    }
}
