import MynahCore
import Testing

@testable import Mynah

/// Which peripheral a link is to, without a radio.
@Suite struct PeripheralTableTests {
    private final class Target: Sendable {
        let address: DeviceAddress

        init(_ address: DeviceAddress) {
            self.address = address
        }
    }

    private var table = PeripheralTable { Target($0) }
    private let link = Peer.ID(1)

    private func address(_ value: UInt64) -> DeviceAddress { DeviceAddress(value: value, kind: .public) }

    /// A resolvable private address: its two highest bits are 01.
    private func privateAddress(_ value: UInt64) -> DeviceAddress {
        DeviceAddress(value: 0x4000_0000_0000 | value, kind: .random)
    }

    @Test mutating func `an address names one peripheral`() {
        let first = table.peripheral(at: address(1))
        #expect(first.address == address(1))
        #expect(table.peripheral(at: address(1)) === first)
        #expect(table.peripheral(at: address(2)) !== first)
    }

    @Test mutating func `a link is to the peripheral at its address until it ends`() {
        let target = table.peripheral(at: address(1))
        #expect(table.begin(Peer(id: link, address: address(1))) === target)
        #expect(table[link] === target)
        #expect(table.links == [link])
        #expect(table.connected.count == 1)
        let isKept = table.keep(.paired(link), of: link)
        #expect(!isKept)
        table.end(link)
        #expect(table[link] == nil)
        #expect(table.connected.isEmpty)
    }

    @Test mutating func `past the limit only peripherals with a link or a request are still found`() {
        let linked = table.peripheral(at: address(1))
        _ = table.begin(Peer(id: link, address: address(1)))
        table.add(linked, alsoAt: address(2))
        let asked = table.peripheral(at: address(3))
        _ = table.beginRequest(for: asked, at: address(3))
        let idle = table.peripheral(at: address(4))
        for value in 5...UInt64(PeripheralTable<Target>.limit + 5) {
            _ = table.peripheral(at: address(value))
        }
        #expect(table.peripheral(at: address(1)) === linked)
        #expect(table.peripheral(at: address(2)) === linked)
        #expect(table.peripheral(at: address(3)) === asked)
        #expect(table.peripheral(at: address(4)) !== idle)
    }

    @Test mutating func `an identity address is added unless another peripheral has it`() {
        let target = table.peripheral(at: privateAddress(1))
        let other = table.peripheral(at: address(2))
        for identity in [address(1), address(2), nil] { table.add(target, alsoAt: identity) }
        #expect(table.peripheral(at: address(1)) === target)
        #expect(table.peripheral(at: address(2)) === other)
    }

    @Test mutating func `events wait until the request that a link answers has returned`() throws {
        let asked = table.peripheral(at: privateAddress(1))
        let number = table.beginRequest(for: asked, at: privateAddress(1))
        #expect(table.begin(Peer(id: link, address: address(7))) == nil)
        let isKept = table.keep(.mtuChanged(link, 100), of: link)
        #expect(isKept)
        #expect(table[link] == nil)
        guard case .begins(let waiting) = table.claim(link, for: asked) else {
            Issue.record("the link does not begin")
            return
        }
        #expect(waiting.count == 1)
        guard case .mtuChanged(link, 100)? = waiting.first else {
            Issue.record("another event waited: \(waiting)")
            return
        }
        #expect(table[link] === asked)
        let unclaimed = table.endRequest(number)
        #expect(unclaimed == [])
    }

    @Test mutating func `a link that no request claims is to the peripheral at its own address`() throws {
        let asked = table.peripheral(at: privateAddress(1))
        let number = table.beginRequest(for: asked, at: privateAddress(1))
        _ = table.begin(Peer(id: link, address: address(7)))
        let unclaimed = table.endRequest(number)
        #expect(unclaimed == [link])
        let claim = table.unclaimed(link)
        let found = try #require(claim)
        #expect(found.peer.id == link)
        #expect(found.target.address == address(7))
        guard case .begins = table.claim(link, for: found.target) else {
            Issue.record("the link does not begin")
            return
        }
        #expect(table.unclaimed(link) == nil)
    }

    @Test mutating func `a link moves to the peripheral whose request it answers`() {
        let (asked, other) = (table.peripheral(at: address(1)), table.peripheral(at: address(2)))
        #expect(table.begin(Peer(id: link, address: address(2))) === other)
        guard case .moves = table.claim(link, for: asked) else {
            Issue.record("the link does not move")
            return
        }
        #expect(table[link] === asked)
        guard case .isKnown = table.claim(link, for: asked) else {
            Issue.record("the link moves twice")
            return
        }
        // It has ended by the time its request returns.
        guard case .isKnown = table.claim(Peer.ID(2), for: asked) else {
            Issue.record("a link that has ended begins")
            return
        }
        #expect(table[Peer.ID(2)] == nil)
    }

    @Test mutating func `all links end at once, and those that nothing claimed with them`() {
        let target = table.peripheral(at: address(1))
        _ = table.begin(Peer(id: link, address: address(1)))
        _ = table.beginRequest(for: table.peripheral(at: privateAddress(1)), at: privateAddress(1))
        _ = table.begin(Peer(id: Peer.ID(2), address: address(7)))
        let ended = table.endAll()
        #expect(ended.count == 1 && ended[link] === target)
        #expect(table.links.isEmpty)
        let isKept = table.keep(.paired(Peer.ID(2)), of: Peer.ID(2))
        #expect(!isKept)
    }
}
