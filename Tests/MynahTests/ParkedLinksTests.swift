import MynahCore
import Testing

@testable import Mynah

/// Which device a link is to, without a radio.
@Suite struct ParkedLinksTests {
    private static func address(_ value: UInt64, isPrivate: Bool = false) -> DeviceAddress {
        // The two highest bits of a resolvable private address are 01.
        isPrivate
            ? DeviceAddress(value: 0x4000_0000_0000 | value, kind: .random)
            : DeviceAddress(value: value, kind: .public)
    }

    /// The link's address, what is asked for, and what the link is to.
    private static let cases: [(DeviceAddress?, [DeviceAddress], ParkedLinks.Device)] = [
        (address(2), [address(1), address(2)], ParkedLinks.Device.known(address(2))),
        (address(3), [address(1), address(2)], .known(address(3))),
        (address(3), [], .known(address(3))),
        (nil, [address(1)], .unknown),
        (nil, [], .nobody),
        (address(7), [address(1, isPrivate: true)], .unknown),
        (address(1, isPrivate: true), [address(1, isPrivate: true)], .known(address(1, isPrivate: true))),
        (address(2, isPrivate: true), [address(1, isPrivate: true)], .known(address(2, isPrivate: true))),
        (address(7), [address(1, isPrivate: true), address(7)], .known(address(7))),
    ]

    @Test(arguments: cases)
    func `a link's device is known by its address, or when a request returns`(
        own: DeviceAddress?, asked: [DeviceAddress], device: ParkedLinks.Device
    ) {
        let peer = Peer(id: .init(1), address: own)
        #expect(ParkedLinks().device(of: peer, asked: asked) == device)
    }

    @Test func `events wait in order until their link is taken`() {
        var parked = ParkedLinks()
        let (first, second) = (Peer.ID(1), Peer.ID(2))
        parked.park(Peer(id: first, address: Self.address(7)))
        let isKept = parked.keep(.mtuChanged(first, 185), of: first)
        let isOthersKept = parked.keep(.mtuChanged(second, 185), of: second)
        #expect(isKept && !isOthersKept)
        let waited = parked.take(first)
        guard waited.count == 2, case .connected = waited[0], case .mtuChanged(first, 185) = waited[1] else {
            Issue.record("other events waited: \(waited)")
            return
        }
        #expect(parked.take(first).isEmpty)
    }

    @Test func `links that no request can claim are to the devices at their own addresses`() {
        var parked = ParkedLinks()
        for number in 1...2 { parked.park(Peer(id: .init(UInt32(number)), address: Self.address(7))) }
        #expect(parked.unclaimed(asked: [Self.address(1, isPrivate: true)]) == [])
        #expect(parked.unclaimed(asked: [Self.address(1)]) == [.init(1), .init(2)])
        parked.removeAll()
        #expect(parked.unclaimed(asked: []) == [])
    }
}
