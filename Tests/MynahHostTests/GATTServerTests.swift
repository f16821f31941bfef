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
        let rate: CharacteristicDefinition
        var published: PublishedServices?

        /// A server with one service and these links, of which each has subscribed with these bits.
        init(
            _ links: [ConnectionHandle: UInt8],
            properties: CharacteristicProperties = [.read, .notify, .indicate],
            hasServiceChanged: Bool = true
        )
            throws
        {
            rate = CharacteristicDefinition(uuid: "2A37", properties: properties)
            outbound.configure(.init(size: 251, count: 100))
            var identity = DeviceIdentity(name: "Mynah")
            identity.hasServiceChanged = hasServiceChanged
            server.begin(as: identity)
            published = try server.publish(
                [ServiceDefinition(uuid: "180D", characteristics: [rate])], at: now, &outbound, &actions)
            // In order: the link that sent last waits for its next turn.
            for (link, bits) in links.sorted(by: { $0.key < $1.key }) {
                let address = DeviceAddress(value: UInt64(link.rawValue), kind: .public)
                server.addLink(link, to: Peer(id: Peer.ID(UInt32(link.rawValue)), address: address))
                let handle = try #require(published?.handles[rate.key]) + 1
                configure(handle, bits, link)
            }
        }

        /// A client writes a Client Characteristic Configuration.
        mutating func configure(_ handle: AttributeHandle, _ bits: UInt8, _ link: ConnectionHandle) {
            let place = [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(handle.rawValue >> 8)]
            #expect(receive([0x12] + place + [bits, 0], link) == ["\(link.rawValue):13"])
            actions = []
        }

        /// Takes a PDU of a client; returns what goes out for it.
        mutating func receive(
            _ bytes: [UInt8], _ link: ConnectionHandle, _ security: LinkSecurity = LinkSecurity()
        ) -> [String] {
            server.receive(bytes, link, security, at: now, &outbound, &actions)
            return sent()
        }

        /// The answer to the event that was asked last.
        mutating func answer(_ outcome: PendingReply.Outcome, _ link: ConnectionHandle) -> [String] {
            server.answered(outcome, link, LinkSecurity(), at: now, &outbound, &actions)
            return sent()
        }

        mutating func send(_ value: [UInt8], to links: [ConnectionHandle]? = nil) throws -> SendResult {
            try server.send(
                value, of: rate.key, as: .asSubscribed, to: links?.map { Peer.ID(UInt32($0.rawValue)) },
                at: now,
                &outbound, &actions)
        }

        /// A client confirms an indication.
        mutating func confirm(_ link: ConnectionHandle) {
            server.receive([0x1E], link, LinkSecurity(), at: now, &outbound, &actions)
        }

        /// The PDUs that have gone out since the last call, with their links.
        mutating func sent() -> [String] {
            var all: [String] = []
            while let packet = outbound.takeNext() {
                outbound.completed(ConnectionHandle(rawValue: UInt16(packet.body[0])), 1)
                all.append("\(packet.body[0]):" + Hex.encode(packet.body.dropFirst(8)))
            }
            return all
        }

        /// The actions since the last call.
        mutating func asked() -> [String] {
            defer { actions = [] }
            return actions.map { action in
                switch action {
                case .event(.warning(let warning)): warning.code
                case .event(.confirmed(_, let peer)): "confirmed \(peer?.rawValue ?? 0)"
                case .event(.subscribed(_, let peer, _)): "subscribed \(peer?.rawValue ?? 0)"
                case .event(.unsubscribed(_, let peer)): "unsubscribed \(peer?.rawValue ?? 0)"
                case .request(.write(let request)): "write command: \(Hex.encode(request.parts[0].value))"
                case .request(.answeredRead(_, let value)): "answered \(Hex.encode(value))"
                case .event(.refused(let request)): "refused \(request.access): \(request.reason)"
                case .event(let event), .request(let event): "\(event)"
                case .watchConfirmation(let link, let due):
                    "watch \(link.rawValue) until \(due.components.seconds)"
                case .remember(let link): "remember \(link.rawValue)"
                case .ask(let link, .read(let request)): "read of \(link.rawValue) from \(request.offset)"
                case .ask(let link, .write(let request)):
                    "write of \(link.rawValue): \(Hex.encode(request.parts[0].value))"
                case .ask(let link, let event): "\(event) of \(link.rawValue)"
                case .signedWrite(let link, _, let request):
                    "signed write of \(link.rawValue): \(Hex.encode(request.parts[0].value))"
                case .mtuChanged(let link, let mtu): "MTU of \(link.rawValue): \(mtu)"
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
        #expect(scene.receive([0x0A, 18, 0], 1) == [] && scene.asked() == [])
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

    @Test(arguments: [ServingMode.app, .accessory])
    func `a value is cut to what each link carries, with one warning for each`(mode: ServingMode) throws {
        var scene = try Scene([1: 1, 2: 1])
        let definitions = [ServiceDefinition(uuid: "180D", characteristics: [scene.rate])]
        scene.server.serve(definitions, as: mode)
        scene.server.agreed(on: 26, 2)
        let value = [UInt8](1...22)
        #expect(try scene.send(value) == .sent(2))
        let (short, whole) = (Hex.encode(value.prefix(20)), Hex.encode(value))
        #expect(scene.sent() == ["1:1B1200" + short, "2:1B1200" + whole])
        #expect(scene.asked() == ["valueTooLong"])
        #expect(try scene.send(value, to: [1]) == .sent(1))
        #expect(scene.sent() == ["1:1B1200" + short] && scene.asked() == [])
    }

    @Test func `a value is sent in pieces of what each link carries, without a warning`() throws {
        var scene = try Scene([1: 1, 2: 2, 3: 1])
        var rate = scene.rate
        rate.updates.isInPieces = true
        let published = try #require(scene.published)
        scene.server.withdraw(published.id, at: .zero, &scene.outbound, &scene.actions)
        let service = ServiceDefinition(uuid: "180D", characteristics: [rate])
        _ = try scene.server.publish([service], at: .zero, &scene.outbound, &scene.actions)
        for (link, bits) in [(1, 1), (2, 2), (3, 1)] as [(ConnectionHandle, UInt8)] {
            scene.configure(AttributeHandle(0x13), bits, link)
        }
        _ = (scene.sent(), scene.asked())
        scene.server.agreed(on: 48, 3)
        let value = [UInt8](1...45)
        #expect(try scene.send(value) == .sent(3))
        let pieces = [value[0..<20], value[20..<40], value[40..<45]].map { Hex.encode($0) }
        #expect(
            scene.sent().sorted()
                == (pieces.map { "1:1B1200" + $0 } + ["2:1D1200" + pieces[0], "3:1B1200" + Hex.encode(value)])
        )
        #expect(!scene.asked().contains("valueTooLong"))
        scene.confirm(2)
        #expect(scene.sent() == ["2:1D1200" + pieces[1]])
        scene.confirm(2)
        #expect(scene.sent() == ["2:1D1200" + pieces[2]])
    }

    @Test func `of disabled services nothing is served but static values`() throws {
        var scene = try Scene([1: 1])
        let described = CharacteristicDefinition(
            uuid: "2A38", properties: [.read, .notify], value: [5],
            descriptors: [DescriptorDefinition(uuid: "2901", properties: .read, value: [6])])
        let service = ServiceDefinition(uuid: "FFE0", characteristics: [described])
        let handles = try scene.server.publish([service], at: .zero, &scene.outbound, &scene.actions).handles
        let value = UInt8(try #require(handles[described.key]).rawValue)
        let text = UInt8(try #require(handles[described.descriptors[0].key]).rawValue)
        _ = (scene.sent(), scene.asked())
        // The order of the descriptors is the server's.
        let configuration = text == value + 1 ? value + 2 : value + 1
        func answers() -> [String] {
            [[0x0A, value, 0], [0x0A, text, 0], [0x0A, configuration, 0], [0x12, configuration, 0, 1, 0]]
                .flatMap { scene.receive($0, 1) }.map { String($0.dropFirst(2).prefix(2)) }
        }
        #expect(answers() == ["0B", "0B", "0B", "13"])
        scene.server.serve([service], as: .disabled)
        #expect(answers() == ["0B", "01", "01", "01"])
        #expect(scene.receive([0x0A, text, 0], 1).first?.hasSuffix("0E") == true)
        scene.server.serve([service], as: .app)
        #expect(answers() == ["0B", "0B", "0B", "13"])
    }

    @Test func `a request is answered when its event is, and commands need no answer`() throws {
        var scene = try Scene(
            [1: 1], properties: [.read, .write, .writeWithoutResponse, .authenticatedSignedWrites, .notify])
        #expect(scene.receive([0x0A, 18, 0], 1) == [])
        #expect(scene.asked() == ["read of 1 from 0"])
        #expect(scene.answer(.success([7]), 1) == ["1:0B07"])
        #expect(scene.receive([0x12, 18, 0, 8], 1) == [])
        #expect(scene.asked() == ["write of 1: 08"])
        #expect(scene.answer(.failure(.writeNotPermitted), 1) == ["1:0112120003"])
        #expect(scene.receive([0x52, 18, 0, 9], 1) == [])
        #expect(scene.asked() == ["write command: 09"])
        #expect(scene.receive([0xD2, 18, 0, 9] + [UInt8](repeating: 0, count: 12), 1) == [])
        #expect(scene.asked() == ["signed write of 1: 09"])
        // An answer that nothing asked for, and a link that is gone.
        #expect(scene.answer(.success([7]), 1) == [] && scene.answer(.success([7]), 3) == [])
        #expect(scene.receive([0x0A, 18, 0], 3) == [] && scene.asked() == [])
    }

    @Test func `a client's configuration is reported, and kept first`() throws {
        var scene = try Scene([1: 0])
        #expect(scene.receive([0x12, 19, 0, 1, 0], 1) == ["1:13"])
        #expect(scene.asked() == ["remember 1", "subscribed 1"])
        #expect(scene.receive([0x12, 19, 0, 0, 0], 1) == ["1:13"])
        #expect(scene.asked() == ["remember 1", "unsubscribed 1"])
        // Service Changed is the host's own, and so are reads of its services.
        #expect(scene.receive([0x12, 9, 0, 2, 0], 1) == ["1:13"])
        #expect(scene.asked() == ["remember 1"])
        #expect(scene.receive([0x0A, 3, 0], 1) == ["1:0B4D796E6168"] && scene.asked() == [])
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

    @Test func `a device without Service Changed tells a bonded client of no change`() throws {
        var scene = try Scene([1: 1], hasServiceChanged: false)
        // Read By Type finds no Service Changed.
        #expect(scene.receive([0x08, 1, 0, 0xFF, 0xFF, 0x05, 0x2A], 1) == ["1:010801000A"])
        var bond = Bond(identity: DeviceAddress(value: 1, kind: .public))
        scene.server.remember(1, in: &bond)
        #expect(scene.server.end(1) == [scene.rate.key])
        _ = try scene.server.publish(
            [ServiceDefinition(uuid: "180F")], at: .zero, &scene.outbound, &scene.actions)
        scene.server.addLink(1, to: Peer(id: Peer.ID(9)))
        scene.server.restore(bond, 1, at: .zero, &scene.outbound, &scene.actions)
        #expect(scene.sent() == [])
    }

    @Test func `a bonded client has its subscriptions back, and is told if the services are others`() throws {
        var scene = try Scene([1: 1])
        scene.configure(9, 2, 1)
        var bond = Bond(identity: DeviceAddress(value: 1, kind: .public))
        scene.server.remember(1, in: &bond)
        #expect(bond.configurations == [9: 2, 19: 1] && bond.databaseHash == scene.server.database.hash)
        #expect(scene.server.end(1) == [scene.rate.key])
        scene.server.addLink(1, to: Peer(id: Peer.ID(9)))
        scene.server.restore(bond, 1, at: .zero, &scene.outbound, &scene.actions)
        #expect(scene.asked().contains("subscribed 9") && scene.sent() == [])
        // Another service in its place.
        _ = scene.server.end(1)
        _ = try scene.server.publish(
            [ServiceDefinition(uuid: "180A")], at: .zero, &scene.outbound, &scene.actions)
        scene.server.addLink(1, to: Peer(id: Peer.ID(10)))
        _ = scene.asked()
        scene.server.restore(bond, 1, at: .zero, &scene.outbound, &scene.actions)
        #expect(scene.sent() == ["1:1D08000100FFFF"])
        #expect(scene.asked() == ["watch 1 until 30", "remember 1"])
        scene.server.remember(1, in: &bond)
        #expect(bond.databaseHash != scene.server.database.hash)
    }
}
