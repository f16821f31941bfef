import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct ControllerAddressTests {
    private let identity = "00 0200000000C0"
    private let key = String(repeating: "11", count: 16)
    private let none = String(repeating: "00", count: 16)

    /// A list with device 2, whose keys are these, that resolves.
    private func list(peer: String, local: String, isOn: Bool = true) -> ResolvingList {
        var list = ResolvingList(capacity: 2, cipher: AirRig.cipher)
        _ = CommandAnswer.of("\(identity) \(peer) \(local)") { list.add(&$0, isBusy: false) }
        if isOn { _ = CommandAnswer.of("01") { list.enable(&$0, isBusy: false) } }
        return list
    }

    @Test func `an address that the peer's key made is resolved, and remembered as last seen`() {
        var random = SeededRandom(seed: 1)
        var list = list(peer: key, local: none)
        #expect(
            CommandAnswer.of(identity) { list.readPeerAddress(&$0) }
                == .complete(
                    .unknownConnectionIdentifier, [0, 0, 0, 0, 0, 0]))
        guard let made = list.targetAddress(of: AirRig.address(2), at: .zero, &random) else {
            Issue.record("no address")
            return
        }
        #expect(made.isResolvable)
        for _ in 0..<2 {
            #expect(list.resolve(made) == Identity(address: AirRig.address(2), onAir: made))
        }
        #expect(CommandAnswer.of(identity) { list.readPeerAddress(&$0) } == .values { $0.write(made) })
        let other = Part.random(5, 0b01)
        #expect(list.resolve(other) == Identity(address: other))
        // Without address resolution it is only an address.
        _ = CommandAnswer.of("00") { list.enable(&$0, isBusy: false) }
        #expect(list.resolve(made) == Identity(address: made))
    }

    @Test(arguments: [(0, true, false), (1, true, true), (0, false, true), (1, false, true)], [true, false])
    func `the identity address of a peer with a key is accepted in device privacy mode`(
        of peer: (mode: UInt8, hasKey: Bool, isAllowed: Bool), isOn: Bool
    ) {
        let (mode, hasKey, isAllowed) = peer
        var list = list(peer: hasKey ? key : none, local: none, isOn: isOn)
        #expect(
            CommandAnswer.of("\(identity) 0\(mode)") { list.setPrivacyMode(&$0, isBusy: false) } == .success)
        #expect(list.resolve(AirRig.address(2)).isAllowed == isAllowed)
        #expect(list.resolve(AirRig.address(3)).isAllowed)
    }

    @Test func `a local address is used until its timeout`() {
        var random = SeededRandom(seed: 1)
        var list = list(peer: none, local: key)
        #expect(CommandAnswer.of("0A00") { list.setTimeout(&$0) } == .success)
        let peer = AirRig.address(2)
        let first = list.localAddress(for: peer, at: .zero, &random)
        #expect(list.localAddress(for: peer, at: .milliseconds(9999), &random) == first)
        let second = list.localAddress(for: peer, at: .milliseconds(10_000), &random)
        #expect(first != nil && second != nil && first != second)
        #expect(list.localAddress(for: AirRig.address(3), at: .zero, &random) == nil)
        #expect(list.targetAddress(of: peer, at: .zero, &random) == nil)
        guard let first, let second else { return }
        // The controller knows itself by both, and still uses only the second.
        #expect(list.isLocal(first, own: AirRig.address(1)) && list.isLocal(second, own: AirRig.address(1)))
        #expect(list.hasMade(second) && !list.hasMade(first))
        #expect(!list.isLocal(Part.random(5, 0b01), own: AirRig.address(1)))
    }

    @Test func `the list does not change while it is in use, and holds no device twice`() {
        var list = list(peer: key, local: none)
        let other = "00 0300000000C0 \(key) \(key)"
        #expect(CommandAnswer.of(other) { list.add(&$0, isBusy: true) } == .disallowed)
        #expect(CommandAnswer.of(identity) { list.remove(&$0, isBusy: true) } == .disallowed)
        #expect(list.clear(isBusy: true) == .disallowed)
        #expect(CommandAnswer.of("\(identity) 01") { list.setPrivacyMode(&$0, isBusy: true) } == .disallowed)
        #expect(CommandAnswer.of("00") { list.enable(&$0, isBusy: true) } == .disallowed)
        #expect(CommandAnswer.of("\(identity) \(key) \(key)") { list.add(&$0, isBusy: false) } == nil)
        #expect(CommandAnswer.of(other) { list.add(&$0, isBusy: false) } == .success)
        let third = "00 0400000000C0 \(key) \(key)"
        #expect(
            CommandAnswer.of(third) { list.add(&$0, isBusy: false) } == .complete(.memoryCapacityExceeded))
        #expect(CommandAnswer.of(identity) { list.remove(&$0, isBusy: false) } == .success)
        #expect(
            CommandAnswer.of(identity) { list.remove(&$0, isBusy: false) }
                == .complete(.unknownConnectionIdentifier))
        #expect(list.firstPeer == AirRig.address(3))
    }

    @Test(arguments: [
        // Type, has a random address, has an entry with a local key: which address it is.
        (0, true, true, "public"), (1, true, true, "random"), (1, false, true, "none"),
        (2, true, true, "made"), (3, true, true, "made"), (2, true, false, "public"),
        (3, true, false, "random"), (3, false, false, "none"),
    ])
    func `an own address type gives an address`(type: UInt8, hasRandom: Bool, hasKey: Bool, kind: String) {
        var addresses = ControllerAddresses(Part.configuration())
        if hasRandom {
            #expect(
                CommandAnswer.of("0102030405C6") { addresses.setRandomAddress(&$0, isInUse: true) }
                    == .disallowed)
            #expect(
                CommandAnswer.of("0102030405C6") { addresses.setRandomAddress(&$0, isInUse: false) }
                    == .success)
        }
        if hasKey { addresses.resolving = list(peer: none, local: key) }
        var random = SeededRandom(seed: 1)
        let found = addresses.own(
            type, peer: AirRig.address(2), randomAddress: addresses.randomAddress, at: .zero, &random)
        let expected: Bool =
            switch kind {
            case "public": found == AirRig.address(1)
            case "random": found != nil && found == addresses.randomAddress
            case "made": found.map { addresses.resolving.hasMade($0) } ?? false
            default: found == nil
            }
        #expect(expected)
    }

    @Test func `the filter accept list holds so many devices, and does not change while it is in use`() {
        var list = FilterAcceptList(capacity: 1)
        let device = Identity(address: AirRig.address(2))
        #expect(CommandAnswer.of(identity) { list.add(&$0, isInUse: true) } == .disallowed)
        #expect(!list.contains(device))
        for _ in 0..<2 { #expect(CommandAnswer.of(identity) { list.add(&$0, isInUse: false) } == .success) }
        #expect(list.contains(device))
        #expect(
            CommandAnswer.of("00 0300000000C0") { list.add(&$0, isInUse: false) }
                == .complete(.memoryCapacityExceeded))
        // Anonymous advertisers take no room.
        #expect(CommandAnswer.of("FF 000000000000") { list.add(&$0, isInUse: false) } == .success)
        #expect(CommandAnswer.of("02 0300000000C0") { list.add(&$0, isInUse: false) } == nil)
        #expect(CommandAnswer.of(identity) { list.remove(&$0, isInUse: true) } == .disallowed)
        #expect(list.clear(isInUse: true) == .disallowed && list.contains(device))
        #expect(CommandAnswer.of(identity) { list.remove(&$0, isInUse: false) } == .success)
        #expect(!list.contains(device))
        #expect(list.clear(isInUse: false) == .success)
    }
}
