import MynahCore
import MynahHCI
import MynahSupport
import Testing

@testable import MynahHost

/// The server on links whose controller sends everything at once.
@Suite struct GATTServerTests {
    private struct Scene {
        var server = GATTServer(timeout: .seconds(30))
        var outbound = Outbound(limit: 4)
        var actions: [GATTServer.Action] = []
        var now = Duration.zero
        let rate = CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify, .indicate])
        var published: PublishedServices?

        /// A server with one service and these links, of which each has subscribed with these bits.
        init(_ links: [UInt16: UInt8]) throws {
            outbound.configure(.init(size: 251, count: 100))
            server.begin(as: DeviceIdentity(name: "Mynah"))
            published = try server.publish(
                [ServiceDefinition(uuid: "180D", characteristics: [rate])], at: now, &outbound, &actions)
            for (link, bits) in links {
                let address = DeviceAddress(value: UInt64(link), kind: .public)
                server.begin(link, to: Peer(id: Peer.ID(UInt32(link)), address: address))
                let handle = try #require(published?.handles[rate.key]) + 1
                configure(handle, bits, link)
            }
        }

        /// A client writes a Client Characteristic Configuration.
        mutating func configure(_ handle: UInt16, _ bits: UInt8, _ link: UInt16) {
            let place = [UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8)]
            let answer = server.receive([0x12] + place + [bits, 0], link, LinkSecurity())
            #expect(answer.contains(.send([0x13])))
        }

        mutating func send(_ value: [UInt8], to links: [UInt16]? = nil) throws -> SendResult {
            try server.send(
                value, of: rate.key, as: .asSubscribed, to: links?.map { Peer.ID(UInt32($0)) }, at: now,
                &outbound, &actions)
        }

        /// A client confirms an indication.
        mutating func confirm(_ link: UInt16) {
            for case .confirmed(let handle) in server.receive([0x1E], link, LinkSecurity()) {
                server.confirmed(handle, link, at: now, &outbound, &actions)
            }
        }

        /// The PDUs that have gone out since the last call, with their links.
        mutating func sent() -> [String] {
            var all: [String] = []
            while let packet = outbound.takeNext() {
                outbound.completed(UInt16(packet.body[0]), 1)
                all.append("\(packet.body[0]):" + Hex.encode(packet.body.dropFirst(8)))
            }
            return all
        }

        /// What was asked for since the last call.
        mutating func asked() -> [String] {
            defer { actions = [] }
            return actions.map { action in
                switch action {
                case .event(.warning(let warning)): warning.code
                case .event(.confirmed(_, let peer)): "confirmed \(peer?.rawValue ?? 0)"
                case .event(.subscribed(_, let peer, _)): "subscribed \(peer?.rawValue ?? 0)"
                case .event(let event): "\(event)"
                case .watchConfirmation(let link, let due): "watch \(link) until \(due.components.seconds)"
                case .remember(let link): "remember \(link)"
                }
            }
        }
    }

    @Test func `a value goes to each subscriber as it subscribed`() throws {
        var scene = try Scene([1: 1, 2: 2, 3: 0])
        #expect(try scene.send([7]) == .sent(2))
        #expect(scene.sent() == ["1:1B120007", "2:1D120007"])
        #expect(scene.asked() == ["watch 2 until 30"])
        #expect(try scene.send([8], to: [1, 3]) == .sent(1))
        #expect(scene.sent() == ["1:1B120008"])
    }

    @Test func `indications of one link wait for one another, and its confirmation is watched once`() throws {
        var scene = try Scene([1: 2])
        for value: UInt8 in 1...3 { #expect(try scene.send([value]) == .sent(1)) }
        #expect(scene.sent() == ["1:1D120001"])
        #expect(scene.asked() == ["watch 1 until 30"])
        scene.now = .seconds(20)
        scene.confirm(1)
        #expect(scene.sent() == ["1:1D120002"] && scene.asked() == ["confirmed 1"])
        // The time of the first has come, and the second has until 50.
        scene.server.confirmationDue(1, at: .seconds(30), &scene.actions)
        #expect(scene.asked() == ["watch 1 until 50"])
        scene.server.confirmationDue(1, at: .seconds(50), &scene.actions)
        #expect(scene.asked() == ["confirmationOverdue"])
        #expect(try scene.send([4]) == .sent(0))
        #expect(scene.server.receive([0x0A, 18, 0], 1, LinkSecurity()) == [])
    }

    @Test func `a link that is full has nothing sent to any that the value is for`() throws {
        var scene = try Scene([1: 2, 2: 1])
        for value in 0...UInt8(GATTServer.indicationLimit) {
            #expect(try scene.send([value], to: [1]) == .sent(1))
        }
        _ = scene.sent()
        #expect(try scene.send([0xFF]) == .full)
        #expect(scene.sent() == [])
        #expect(try scene.send([0xFF], to: [2]) == .sent(1))
        #expect(scene.sent() == ["2:1B1200FF"])
        #expect(!scene.server.takesIndications(1) && scene.server.takesIndications(2))
    }

    @Test func `a value that one link does not carry is a warning once, and an error if no link does`() throws
    {
        var scene = try Scene([1: 1, 2: 1])
        _ = scene.server.receive([0x02, 0, 1], 2, LinkSecurity())
        let long = [UInt8](repeating: 1, count: 21)
        for _ in 0..<2 { #expect(try scene.send(long) == .sent(1)) }
        #expect(scene.asked() == ["valueTooLong"])
        let error = #expect(throws: RadioError.self) { try scene.send(long, to: [1]) }
        #expect(error?.code == .valueTooLong)
    }

    @Test func `changed services are indicated, and ranges that wait become one`() throws {
        var scene = try Scene([1: 0])
        // The Client Characteristic Configuration of Service Changed.
        scene.configure(9, 2, 1)
        var added: [PublishedServices] = []
        for uuid in ["180A", "180F", "1812"] as [BluetoothUUID] {
            added.append(
                try scene.server.publish(
                    [ServiceDefinition(uuid: uuid)], at: .zero, &scene.outbound, &scene.actions))
        }
        #expect(scene.sent() == ["1:1D080014001400"])
        scene.confirm(1)
        #expect(scene.sent() == ["1:1D080015001600"])
        scene.confirm(1)
        _ = scene.asked()
        scene.server.withdraw(added[1].id, at: .zero, &scene.outbound, &scene.actions)
        #expect(scene.sent() == ["1:1D080015001500"])
        #expect(scene.asked() == ["remember 1"])
    }

    @Test func `a bonded client has its subscriptions back, and is told if the services are others`() throws {
        var scene = try Scene([1: 1])
        scene.configure(9, 2, 1)
        var bond = Bond(identity: DeviceAddress(value: 1, kind: .public))
        scene.server.remember(1, in: &bond)
        #expect(bond.configurations == [9: 2, 19: 1] && bond.databaseHash == scene.server.database.hash)
        #expect(scene.server.end(1) == [scene.rate.key])
        scene.server.begin(1, to: Peer(id: Peer.ID(9)))
        scene.server.restore(bond, 1, at: .zero, &scene.outbound, &scene.actions)
        #expect(scene.asked().contains("subscribed 9") && scene.sent() == [])
        // Another service in its place.
        _ = scene.server.end(1)
        _ = try scene.server.publish(
            [ServiceDefinition(uuid: "180A")], at: .zero, &scene.outbound, &scene.actions)
        scene.server.begin(1, to: Peer(id: Peer.ID(10)))
        _ = scene.asked()
        scene.server.restore(bond, 1, at: .zero, &scene.outbound, &scene.actions)
        #expect(scene.sent() == ["1:1D08000100FFFF"])
        #expect(scene.asked() == ["watch 1 until 30", "remember 1"])
        scene.server.remember(1, in: &bond)
        #expect(bond.databaseHash != scene.server.database.hash)
    }
}
