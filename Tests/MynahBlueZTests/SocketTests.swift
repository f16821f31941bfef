import MynahBlueZStandIn
import MynahCore
import Testing

@testable import MynahBlueZ

@Suite struct SocketSubscriptionTests {
    private let key = AttributeKey()
    private let first = Peer.ID(1)
    private let second = Peer.ID(2)

    private func two() -> SocketSubscriptions {
        var table = SocketSubscriptions()
        #expect(table.acquired(key, first) == true)
        #expect(table.acquired(key, second) == true)
        return table
    }

    @Test func `with a socket each they are sent to through them`() {
        let table = two()
        #expect(table.route(key, to: nil, hasUnnamed: false) == .sockets([first, second]))
        #expect(table.route(key, to: [second], hasUnnamed: false) == .sockets([second]))
        #expect(table.route(key, to: [Peer.ID(3)], hasUnnamed: false) == .nobody)
        #expect(table.route(AttributeKey(), to: nil, hasUnnamed: false) == .nobody)
    }

    @Test func `somebody without a name is reached by the property`() {
        #expect(two().route(key, to: nil, hasUnnamed: true) == .property)
        #expect(SocketSubscriptions().route(key, to: nil, hasUnnamed: true) == .property)
    }

    @Test func `a socket that closes alone is the end of a subscription, after a doubt`() {
        var table = two()
        #expect(table.hungUp(key, first, at: .zero) == true)
        #expect(table.route(key, to: nil, hasUnnamed: false) == .property)
        #expect(table.route(key, to: [first], hasUnnamed: false) == .impossible)
        #expect(table.doubtsOver(at: .milliseconds(400)).isEmpty)
        #expect(table.hasDoubts)
        #expect(table.doubtsOver(at: .milliseconds(500)).map(\.peer) == [first])
        #expect(!table.hasDoubts)
        #expect(table.route(key, to: nil, hasUnnamed: false) == .sockets([second]))
    }

    @Test func `a socket that closes as another central leaves was the wrong one`() {
        for leavesFirst in [true, false] {
            var table = two()
            if leavesFirst { table.disconnected(first, isBonded: false, at: .zero) }
            #expect(table.hungUp(key, second, at: .milliseconds(1)) == !leavesFirst)
            if !leavesFirst { table.disconnected(first, isBonded: false, at: .milliseconds(2)) }
            #expect(table.standing(of: second, for: key) == .withoutSocket)
            #expect(table.doubtsOver(at: .seconds(9)).isEmpty)
            #expect(table.route(key, to: nil, hasUnnamed: false) == .property)
            #expect(table.route(key, to: [second], hasUnnamed: false) == .property)
            // A new socket mends it.
            #expect(table.acquired(key, second) == false)
            #expect(table.route(key, to: nil, hasUnnamed: false) == .sockets([second]))
        }
    }

    @Test func `a bonded central that returns is subscribed without a socket`() {
        var table = two()
        _ = table.hungUp(key, first, at: .zero)
        table.disconnected(first, isBonded: true, at: .milliseconds(1))
        #expect(table.route(key, to: nil, hasUnnamed: false) == .sockets([second]))
        #expect(table.connected(first) == [key])
        #expect(table.connected(first) == [])
        #expect(table.route(key, to: nil, hasUnnamed: false) == .property)
        #expect(table.route(key, to: [first], hasUnnamed: false) == .impossible)
    }

    @Test func `an unbonded central that returns has to subscribe again`() {
        var table = two()
        table.disconnected(first, isBonded: false, at: .zero)
        #expect(table.connected(first) == [])
    }
}

@Suite(.timeLimit(.minutes(15))) struct SocketTests {
    private func connected(
        _ version: MynahBlueZStandIn.BlueZVersion = .trixie
    ) async throws -> (Rig, VirtualCentral, AttributeKey) {
        let rig = try await Rig(StandInConfiguration(version)) { $0.acquiresNotify = true }
        let definitions = Definitions()
        try await rig.radio.publish([definitions.service])
        try await rig.radio.advertise(.named("Mynah"))
        let phone = await rig.standIn.central()
        try await phone.connect(mtu: 50)
        try await rig.sink.wait(for: "connected")
        try await rig.standIn.wait("the device advertises") { !$0.advertisements().isEmpty }
        return (rig, phone, definitions.rate.key)
    }

    private func peer(_ rig: Rig, _ number: Int) -> Peer.ID? {
        let ids = rig.sink.events.compactMap { event -> Peer.ID? in
            if case .subscribed(_, let id, _) = event { id } else { nil }
        }
        return ids.indices.contains(number) ? ids[number] : nil
    }

    @Test func `subscribers have names, and each is sent to alone`() async throws {
        let (rig, first, key) = try await connected()
        let second = await rig.standIn.central("F0:F1:F2:F3:F4:F6")
        try await second.connect()
        try await first.subscribe("2a37")
        try await second.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed named", count: 2)
        let id = try #require(peer(rig, 1))
        #expect(try await rig.radio.send([2], of: key, as: .asSubscribed, to: [id]) == .sent(1))
        #expect(try await second.notifications().map(\.value) == [[2]])
        #expect(try await rig.radio.send([3], of: key, as: .asSubscribed, to: nil) == .sent(2))
        #expect(try await second.notifications().map(\.value) == [[3]])
        #expect(try await first.notifications().map(\.value) == [[3]])
        #expect(await rig.violations() == [])
    }

    @Test func `a confirmation has a name`() async throws {
        let (rig, phone, key) = try await connected()
        try await phone.subscribeToIndications("2a37")
        try await rig.sink.wait(for: "subscribed named")
        _ = try await rig.radio.send([1], of: key, as: .asSubscribed, to: nil)
        try await rig.sink.wait(for: "confirmed named")
        #expect(try await phone.notifications().map(\.isIndication) == [true])
        #expect(await rig.violations() == [])
    }

    @Test func `the MTU comes with the subscription, and holds`() async throws {
        let (rig, phone, key) = try await connected()
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed named")
        #expect(rig.sink.words("mtu") == ["mtu 50"])
        _ = try await rig.radio.send(
            [UInt8](repeating: 0, count: 48), of: key, as: .asSubscribed, to: nil)
        #expect(try await phone.notifications().map(\.value.count) == [47])
        #expect(rig.sink.words("warning") == ["warning valueTooLong"])
        #expect(await rig.violations() == [])
    }

    @Test func `an end of a subscription has a name`() async throws {
        let (rig, phone, key) = try await connected()
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed named")
        try await phone.unsubscribe("2a37")
        try await rig.sink.wait(for: "unsubscribed named")
        #expect(try await rig.radio.send([1], of: key, as: .asSubscribed, to: nil) == .sent(0))
        #expect(await rig.violations() == [])
    }

    @Test func `a thousand values pass in order, full or not`() async throws {
        let (rig, phone, key) = try await connected()
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed named")
        var full = 0
        for number in 0..<1000 {
            let value = [UInt8(number >> 8), UInt8(number & 0xFF)]
            while try await rig.radio.send(value, of: key, as: .asSubscribed, to: nil) == .full {
                full += 1
                try await rig.sink.wait(for: "readyToSend", count: full)
            }
        }
        let values = try await phone.notifications(1000).map(\.value)
        let sent = (0..<1000).map { (number: Int) -> [UInt8] in [UInt8(number >> 8), UInt8(number & 0xFF)] }
        #expect(values == sent)
        #expect(await rig.violations() == [])
    }

    @Test func `a bonded central that returns is sent to by the property`() async throws {
        let (rig, phone, key) = try await connected()
        try await phone.pair()
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed named")
        await phone.disconnect()
        try await rig.sink.wait(for: "disconnected")
        try await rig.standIn.wait("the device advertises") { !$0.advertisements().isEmpty }
        try await phone.connect()
        try await rig.sink.wait(for: "subscribed named", count: 2)
        #expect(try await rig.radio.send([7], of: key, as: .asSubscribed, to: nil) == .sent(nil))
        #expect(try await phone.notifications().map(\.value) == [[7]])
        #expect(await rig.violations() == [])
    }

    @Test func `before 5.80 sockets are not offered, and it says so`() async throws {
        let (rig, phone, key) = try await connected(MynahBlueZStandIn.BlueZVersion(79))
        #expect(rig.sink.words("warning") == ["warning socketsNotOffered"])
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed ?")
        #expect(try await rig.radio.send([1], of: key, as: .asSubscribed, to: nil) == .sent(nil))
        #expect(try await phone.notifications().map(\.value) == [[1]])
        #expect(await rig.violations() == [])
    }
}
