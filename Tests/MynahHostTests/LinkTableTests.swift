import MynahCore
import MynahHCI
import MynahSupport
import Testing

@testable import MynahHost

@Suite struct LinkTableTests {
    private struct Scene {
        var links = LinkTable()
        var actions: [LinkTable.Action] = []
        let address = DeviceAddress(value: 0xC0_0000_0000_01, kind: .random)

        static let request = Connector.Request(
            number: 5, address: DeviceAddress(value: 1, kind: .public),
            onAir: DeviceAddress(value: 1, kind: .public))

        mutating func begin(
            _ handle: ConnectionHandle = 1, _ role: LEConnection.Role = .peripheral,
            _ context: LinkTable.Context = LinkTable.Context(), resolved: DeviceAddress? = nil
        ) -> [String] {
            let connection = LEConnection(
                handle: handle, role: role, peer: address, peerResolvable: resolved,
                parameters: LEConnection.Parameters())
            links.began(connection, context, &actions)
            return takeWords()
        }

        /// A link that a request asked for.
        mutating func beginCentral(_ handle: ConnectionHandle = 1, canReadFeatures: Bool = true) -> [String] {
            begin(
                handle, .central, LinkTable.Context(request: Self.request, canReadFeatures: canReadFeatures))
        }

        mutating func hear(_ handle: ConnectionHandle = 1) -> [String] {
            links.heard(handle, &actions)
            return takeWords()
        }

        mutating func giveUp(_ number: UInt64) -> [String] {
            links.giveUp(number, &actions)
            return takeWords()
        }

        mutating func end(
            _ handle: ConnectionHandle = 1, _ reason: HCIStatus = .connectionTimeout
        ) -> [String] {
            links.ended(handle, reason, &actions)
            return takeWords()
        }

        /// The central's half asks for a link to the device.
        mutating func share() -> [String] {
            _ = links.share(withCentral: address, &actions)
            return takeWords()
        }

        mutating func serve(_ peer: UInt32) -> [String] {
            links.served(Peer.ID(peer), &actions)
            return takeWords()
        }

        mutating func removeAll() -> [String] {
            links.removeAll(RadioError(.lost, "gone"), &actions)
            return takeWords()
        }

        /// The driver's actions since the last call, in words.
        mutating func takeWords() -> [String] {
            defer { actions = [] }
            return actions.map { action in
                switch action {
                case .added(let link, let onAir):
                    onAir == address
                        ? "added \(link.handle.rawValue)" : "added \(link.handle.rawValue) at \(onAir)"
                case .connected(let link): "connected \(link.peer.id.rawValue)"
                case .shared(let link, let request):
                    "shared \(link.peer.id.rawValue)" + (request.map { " by \($0.number)" } ?? "")
                case .askToEncrypt(let link): "ask to encrypt \(link.rawValue)"
                case .readFeatures(let link, let peer):
                    "read features of \(peer.rawValue) on \(link.rawValue)"
                case .exchangeMTU(let link): "exchange MTU on \(link.rawValue)"
                case .reached(let peer, let request): "reached \(peer.id.rawValue) by \(request.number)"
                case .end(let link): "end \(link.rawValue)"
                case .removed(let link): "removed \(link.handle.rawValue)"
                case .disconnected(let peer, let halves, let error):
                    "disconnected \(peer.rawValue)" + (halves == [.peripheral, .central] ? " for both" : "")
                        + ": \(error?.message ?? "as asked for")"
                case .connectAgain(let request): "connect again for \(request.number)"
                case .connectionFailed(let request, let error): "failed \(request.number): \(error.message)"
                }
            }
        }
    }

    // MARK: To a central

    @Test func `a central is reported at once, and each has a number of its own`() {
        var scene = Scene()
        #expect(scene.begin(1) == ["added 1", "connected 1"])
        #expect(scene.begin(4) == ["added 4", "connected 2"])
        // The controller repeats itself.
        #expect(scene.begin(4) == [])
        #expect(scene.links.handles == [1, 4])
        #expect(scene.end(1) == ["removed 1", "disconnected 1: the supervision timeout expired"])
        #expect(scene.begin(1) == ["added 1", "connected 3"])
        #expect(scene.end(7) == [])
    }

    @Test func `a bonded central is known by its identity, and may be asked to encrypt`() throws {
        var scene = Scene()
        let onAir = DeviceAddress(value: 0x40_0000_0000_09, kind: .random)
        let bonded = LinkTable.Context(identity: DeviceAddress(value: 9, kind: .public))
        #expect(
            scene.begin(1, .peripheral, bonded, resolved: onAir)
                == ["added 1 at \(onAir)", "connected 1", "ask to encrypt 1"])
        let link = try #require(scene.links[1])
        #expect(link.peer.address == DeviceAddress(value: 9, kind: .public) && link.peer.isPaired)
    }

    // MARK: To a peripheral

    @Test func `a peripheral is reported when it is heard, once`() {
        var scene = Scene()
        #expect(scene.beginCentral() == ["added 1", "read features of 1 on 1", "exchange MTU on 1"])
        #expect(scene.links[1]?.isUnheard == true)
        #expect(scene.hear() == ["reached 1 by 5"])
        #expect(scene.links[1]?.isUnheard == false)
        #expect(scene.hear() == [] && scene.hear(9) == [])
        #expect(scene.end() == ["removed 1", "disconnected 1: the supervision timeout expired"])
    }

    @Test func `a controller that cannot ask for features is believed at once`() {
        var scene = Scene()
        #expect(
            scene.beginCentral(canReadFeatures: false) == ["added 1", "reached 1 by 5", "exchange MTU on 1"])
        #expect(scene.hear() == [])
    }

    @Test func `a link to a peripheral that nothing asked for is ended`() {
        var scene = Scene()
        #expect(scene.begin(1, .central) == ["end 1"])
        #expect(scene.links.isEmpty && scene.end() == [])
    }

    @Test(arguments: [
        (HCIStatus.connectionFailedToBeEstablished, "connect again for 5"),
        (.connectionTimeout, "failed 5: the supervision timeout expired"),
        (.remoteUserTerminatedConnection, "failed 5: the peripheral ended the link"),
        (.connectionTerminatedByLocalHost, "failed 5: the link was ended"),
        (HCIStatus(0x3D), "failed 5: the link ended: reason 0x3D"),
    ])
    func `a link that ends before the peripheral is heard is tried again, or fails`(
        reason: HCIStatus, outcome: String
    ) {
        var scene = Scene()
        _ = scene.beginCentral()
        #expect(scene.end(1, reason) == ["removed 1", outcome])
        #expect(scene.links.isEmpty)
    }

    @Test(arguments: [
        (HCIStatus.connectionFailedToBeEstablished, "the connection could not be established"),
        (.remoteUserTerminatedConnection, "the peripheral ended the link"),
        (.connectionTerminatedByLocalHost, "as asked for"),
        (HCIStatus(0x3D), "the link ended: reason 0x3D"),
    ])
    func `the end of a link to a peripheral is reported with its reason`(reason: HCIStatus, words: String) {
        var scene = Scene()
        _ = scene.beginCentral()
        _ = scene.hear()
        #expect(scene.end(1, reason) == ["removed 1", "disconnected 1: \(words)"])
    }

    @Test func `a request that is given up takes its link with it, and nothing of it is reported`() {
        var scene = Scene()
        _ = scene.beginCentral()
        #expect(scene.giveUp(6) == [])
        #expect(scene.giveUp(5) == ["end 1"])
        #expect(scene.giveUp(5) == [])
        #expect(scene.hear() == [])
        // The peripheral cannot be asked for until then.
        #expect(scene.links.stage(ofPeripheral: scene.address) == .givenUp)
        #expect(scene.end(1, .connectionFailedToBeEstablished) == ["removed 1"])
        // A link that was reported is its user's.
        _ = scene.beginCentral()
        _ = scene.hear()
        #expect(scene.giveUp(5) == [])
    }

    // MARK: In both roles

    @Test func `a link that a central made is a peripheral's too, until the central's half leaves it`() {
        var scene = Scene()
        #expect(scene.share() == [])
        _ = scene.begin(1)
        #expect(scene.share() == ["shared 1"])
        // It is asked for once.
        #expect(scene.share() == [])
        #expect(scene.end() == ["removed 1", "disconnected 1 for both: the supervision timeout expired"])
        _ = scene.begin(1)
        _ = scene.share()
        scene.links.leave(Peer.ID(2))
        #expect(scene.end() == ["removed 1", "disconnected 2: the supervision timeout expired"])
    }

    @Test func `a link that a central made fulfils a request for one to it`() {
        var scene = Scene()
        let wanted = LinkTable.Context(request: Scene.request)
        #expect(scene.begin(1, .peripheral, wanted) == ["added 1", "connected 1", "shared 1 by 5"])
        #expect(scene.links[1]?.isUnheard == false && scene.giveUp(5) == [])
    }

    @Test func `a peripheral that asks for this device's services is a central too`() {
        var scene = Scene()
        _ = scene.beginCentral()
        _ = scene.hear()
        #expect(scene.serve(1) == ["connected 1"])
        #expect(scene.serve(1) == [] && scene.serve(2) == [])
        // A link of the central's own is ended rather than left.
        scene.links.leave(Peer.ID(1))
        #expect(scene.end() == ["removed 1", "disconnected 1 for both: the supervision timeout expired"])
    }

    // MARK: All

    @Test func `a controller that is gone takes each link with it`() {
        var scene = Scene()
        _ = scene.begin(1)
        _ = scene.beginCentral(2)
        _ = scene.hear(2)
        _ = scene.beginCentral(3)
        _ = scene.beginCentral(4)
        scene.links[at: scene.links.index(of: 4)!].stage = .givenUp
        #expect(
            scene.removeAll() == [
                "removed 1", "disconnected 1: as asked for", "removed 2",
                "disconnected 2: the radio is gone", "removed 3", "failed 5: gone", "removed 4",
            ])
        #expect(scene.links.isEmpty && scene.removeAll() == [])
        // A number names no other peer.
        #expect(scene.begin(1) == ["added 1", "connected 5"])
    }

    @Test func `links of a radio that is turned off are reported together, and none begins any more`() {
        var scene = Scene()
        _ = scene.begin(1)
        _ = scene.beginCentral(2)
        _ = scene.hear(2)
        _ = scene.begin(3)
        scene.links.leave()
        #expect(scene.end(1) == ["removed 1"])
        #expect(scene.end(2) == ["removed 2"])
        #expect(scene.begin(4) == ["end 4"])
        #expect(scene.beginCentral(5) == ["failed 5: the radio is gone", "end 5"])
        #expect(scene.links.handles == [3])
        #expect(
            scene.removeAll() == [
                "disconnected 1: as asked for", "disconnected 2: the radio is gone", "removed 3",
                "disconnected 3: as asked for",
            ])
        #expect(scene.removeAll() == [])
        #expect(scene.begin(1) == ["added 1", "connected 4"])
    }

    @Test func `links are found by peer and by address`() throws {
        var scene = Scene()
        _ = scene.begin(1)
        #expect(try scene.links.handle(of: Peer.ID(1)) == 1)
        #expect(scene.links.stage(ofPeripheral: scene.address) == nil)
        _ = scene.beginCentral(2)
        #expect(try scene.links.handle(of: Peer.ID(2)) == 2)
        #expect(scene.links.stage(ofPeripheral: scene.address) != nil)
        #expect(throws: RadioError.self) { try scene.links.handle(of: Peer.ID(3)) }
    }

    @Test func `packets become frames, each link's by itself`() throws {
        var scene = Scene()
        _ = scene.begin(1)
        _ = scene.begin(2)
        func receive(_ hex: String) throws -> L2CAPFrame? {
            scene.links.receive(try #require(Hex.decode(hex)))?.frame
        }
        #expect(try receive("0120 0500 0300 0400 AA") == nil)
        #expect(try receive("0220 0500 0100 0500 BB") == L2CAPFrame(channel: 5, payload: [0xBB]))
        #expect(try receive("0110 0200 BBCC") == L2CAPFrame(channel: 4, payload: [0xAA, 0xBB, 0xCC]))
        // No link, and no packet.
        #expect(try receive("0320 0500 0100 0500 BB") == nil)
        #expect(try receive("01") == nil)
    }

    @Test func `data PDUs are counted as the link carries them`() throws {
        var scene = Scene()
        _ = scene.begin(1, .peripheral, LinkTable.Context(now: .seconds(1)))
        _ = scene.begin(2)
        let data = { (count: Int) in
            ACLPacket(handle: 1, boundary: .first, data: [UInt8](repeating: 0, count: count)).packet
        }
        // 27 bytes and 3.
        scene.links.sent(data(30))
        scene.links.noteUse(.dataLengthChange(handle: 1, sent: 251, received: 251), at: .zero)
        scene.links.noteUse(.encryptionChange(.success, handle: 1, isOn: true), at: .zero)
        scene.links.sent(data(30))
        _ = scene.links.receive(data(31).body)
        // Of a link that is not there, and less than a header.
        scene.links.sent(ACLPacket(handle: 9, boundary: .first, data: [1]).packet)
        scene.links.sent(H4Packet(.aclData, [1]))
        scene.links.noteUse(
            .connectionUpdateComplete(.success, handle: 1, .init(interval: 80, latency: 4)), at: .seconds(31))
        let use = try #require(scene.links[1]).meter.use(at: .seconds(91))
        #expect(use.packetsSent == 3 && use.packetsReceived == 1 && use.linked == .seconds(90))
        // 30 s / 30 ms = 1,000 events and 60 s / (100 ms × 5) = 120, of 310 µs each. The PDUs have 8 µs × 30
        // more, and, with 4 bytes of message integrity check each, 8 µs × 34 and 8 µs × 35.
        let microseconds: Int = 1120 * 310 + 8 * (30 + 34 + 35)
        #expect(use.airtime == .microseconds(microseconds))
        #expect(scene.links[2]?.meter.use(at: .zero).packetsSent == 0)
    }
}
