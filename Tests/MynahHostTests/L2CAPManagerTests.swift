import MynahCore
import MynahHCI
import MynahSupport
import Testing

@testable import MynahHost

/// L2CAP on links whose controller sends everything at once.
///
/// On link 1 this side is the peripheral, on link 2 the central.
@Suite struct L2CAPManagerTests {
    private struct Scene {
        var l2cap = L2CAPManager(timeout: .seconds(30))
        var outbound: Outbound
        var actions: [L2CAPManager.Action] = []
        var now = Duration.zero

        init(limit: Int = 64, capacity: Int = 100) {
            outbound = Outbound(limit: limit)
            outbound.configure(.init(size: 251, count: capacity))
            l2cap.addLink(1, to: Peer.ID(11), as: .peripheral)
            l2cap.addLink(2, to: Peer.ID(12), as: .central)
        }

        /// Takes a frame of the peer; returns what goes out for it.
        mutating func receive(
            _ hex: String, on channel: UInt16 = 5, of link: ConnectionHandle = 1,
            _ security: LinkSecurity = LinkSecurity()
        ) throws -> [String] {
            let frame = L2CAPFrame(channel: channel, payload: try #require(Hex.decode(hex)))
            l2cap.receive(frame, on: link, security, &outbound, &actions)
            return sent()
        }

        /// The peer opens a channel to the number 0x0080 with its end 0x0041; returns the channel.
        mutating func accept(credits: UInt8 = 1) throws -> ChannelEnd {
            _ = try l2cap.publish(isEncrypted: false)
            _ = try receive("14010A00 8000 4100 4000 4000 \(Hex.encode([credits]))00")
            guard case .opened(let end)? = actions.last else {
                throw RadioError(.channelRefused, "no channel is open: \(takeWords())")
            }
            actions = []
            return end
        }

        mutating func open(on link: ConnectionHandle = 2) -> UInt64 {
            l2cap.open(0x90, on: link, at: now, &outbound, &actions)
        }

        mutating func askForParameters(on link: ConnectionHandle = 1) -> UInt64 {
            l2cap.askForParameters(
                ConnectionParameterRange(.low), on: link, at: now, &outbound, &actions)
        }

        mutating func send(_ count: Int, over key: ChannelKey) throws -> Bool {
            try l2cap.send(Array(repeating: 7, count: count), over: key, &outbound, &actions)
        }

        mutating func publish(isEncrypted: Bool = false) throws -> UInt16 {
            try l2cap.publish(isEncrypted: isEncrypted)
        }

        mutating func takeReceived(_ key: ChannelKey) -> [UInt8]? {
            l2cap.takeReceived(key, &outbound)
        }

        /// Has channels send what there is room for; returns what the driver was asked to do.
        mutating func fill() -> [String] {
            (l2cap.fill(&outbound, &actions) ? ["filled"] : []) + takeWords()
        }

        /// The frames that have gone out since the last call: link, channel and payload.
        mutating func sent() -> [String] {
            var all: [String] = []
            while let packet = outbound.takeNext() {
                outbound.completed(ConnectionHandle(rawValue: UInt16(packet.body[0])), 1)
                all.append("\(packet.body[0]) \(packet.body[6]):" + Hex.encode(packet.body.dropFirst(8)))
            }
            return all
        }

        /// The driver's actions since the last call, in words.
        mutating func takeWords() -> [String] {
            defer { actions = [] }
            return actions.map { action in
                switch action {
                case .opened(let end): "opened \(end.psm) by \(end.peer.rawValue) on \(end.key.link.rawValue)"
                case .openEnded(let call, .success(let end)):
                    "open \(call): \(end.psm) of \(end.peer.rawValue), up to \(end.maximumLength)"
                case .openEnded(let call, .failure(let error)): "open \(call): \(error.code.rawValue)"
                case .parametersEnded(let call, .success(let isAccepted)): "parameters \(call): \(isAccepted)"
                case .parametersEnded(let call, .failure(let error)):
                    "parameters \(call): \(error.code.rawValue)"
                case .watchAnswer(let link, let identifier, let due?):
                    "watch \(link.rawValue).\(identifier) until \(due.components.seconds)"
                case .watchAnswer(let link, let identifier, nil):
                    "watch \(link.rawValue).\(identifier) no more"
                case .parametersRequested(let link, let request):
                    "requested \(link.rawValue): \(request.refusal?.rule.rawValue ?? "\(request.isAccepted)")"
                case .updateParameters(let link, let range):
                    "update \(link.rawValue) to \(range.minimum)...\(range.maximum)"
                case .received(_, let sdu): "received \(sdu.map { Hex.encode($0) } ?? "nothing")"
                case .sent(_, .success): "sent"
                case .sent(_, .failure(let error)): "sent: \(error.code.rawValue)"
                case .violated: "violated"
                }
            }
        }
    }

    // MARK: Requests of this side

    /// The answers that a peer may give to a request for a channel, and what the call comes to.
    @Test(arguments: [
        ("15010A00 4500 0002 4000 0300 0000", "144 of 12, up to 512"),
        ("15010A00 0000 0000 0000 0000 0200", "channelRefused"),
        ("15010A00 0000 0000 0000 0000 0400", "channelRefused"),
        ("15010A00 0000 0000 0000 0000 0500", "insufficientSecurity"),
        ("15010A00 0000 0000 0000 0000 0800", "insufficientSecurity"),
        ("15010A00 0000 0000 0000 0000 FFFF", "channelRefused"),
        // An identifier that no channel has, and an MTU that none may have.
        ("15010A00 3F00 0002 4000 0300 0000", "protocolViolation"),
        ("15010A00 4500 1600 4000 0300 0000", "protocolViolation"),
        ("01010200 0000", "unsupported"),
        ("13010200 0000", "unsupported"),
    ])
    func `a call to open a channel ends as the peer answers`(answer: String, result: String) throws {
        var scene = Scene()
        let call = scene.open()
        #expect(scene.sent() == ["2 5:14010A0090004000" + "0008F7001000"])
        #expect(scene.takeWords() == ["watch 2.1 until 30"])
        #expect(try scene.receive(answer, of: 2) == [])
        #expect(scene.takeWords() == ["watch 2.1 no more", "open \(call): \(result)"])
        #expect(scene.l2cap.hasChannels == result.hasPrefix("144"))
        // A second answer is for nothing.
        #expect(try scene.receive(answer, of: 2) == [])
        #expect(scene.takeWords() == [])
    }

    @Test(arguments: [
        ("13010200 0000", "true"), ("13010200 0100", "false"), ("01010200 0000", "false"),
        ("15010A00 4500 0002 4000 0300 0000", "false"),
    ])
    func `a call for other parameters ends as the central answers`(answer: String, result: String) throws {
        var scene = Scene()
        let call = scene.askForParameters()
        #expect(scene.sent() == ["1 5:12010800" + "0C0018000000" + "5802"])
        #expect(scene.takeWords() == ["watch 1.1 until 30"])
        #expect(try scene.receive(answer) == [])
        #expect(scene.takeWords() == ["watch 1.1 no more", "parameters \(call): \(result)"])
    }

    @Test func `a request that is not answered in time, or whose link ends, fails`() throws {
        var scene = Scene()
        scene.now = .seconds(5)
        let first = scene.askForParameters()
        let second = scene.open(on: 1)
        #expect(first != second)
        #expect(scene.takeWords() == ["watch 1.1 until 35", "watch 1.2 until 35"])
        scene.l2cap.expire(1, on: 1, &scene.actions)
        #expect(scene.takeWords() == ["watch 1.1 no more", "parameters \(first): disconnected"])
        scene.l2cap.expire(1, on: 1, &scene.actions)
        #expect(scene.takeWords() == [])
        // An answer that comes late is for nothing.
        _ = scene.sent()
        #expect(try scene.receive("13010200 0000") == [])
        #expect(scene.takeWords() == [])
        scene.l2cap.end(1, &scene.actions)
        #expect(scene.takeWords() == ["watch 1.2 no more", "open \(second): disconnected"])
        scene.l2cap.expire(2, on: 1, &scene.actions)
        #expect(scene.takeWords() == [])
    }

    @Test func `requests that cannot be made fail at once`() {
        var scene = Scene()
        let central = scene.askForParameters(on: 2)
        #expect(scene.takeWords() == ["parameters \(central): invalidState"])
        let gone = scene.askForParameters(on: 3)
        #expect(scene.takeWords() == ["parameters \(gone): disconnected"])
        let channel = scene.open(on: 3)
        #expect(scene.takeWords() == ["open \(channel): disconnected"])
        #expect(scene.sent() == [])
    }

    @Test func `an identifier that awaits its answer is not used again`() throws {
        var scene = Scene(limit: 1000)
        let end = try scene.accept()
        let call = scene.askForParameters()
        #expect(scene.sent() == ["1 5:12010800" + "0C0018000000" + "5802"])
        _ = scene.takeWords()
        // Each eighth frame that is read gives credits, with the next identifier.
        var identifiers: Set<String> = []
        for _ in 0..<8 * 600 {
            let sent = try scene.receive("0100AA", on: end.key.channel)
            let sdu = scene.takeReceived(end.key)
            #expect(sdu == [0xAA])
            for signal in sent + scene.sent() { identifiers.insert(String(signal.dropFirst(6).prefix(2))) }
        }
        #expect(identifiers.count == 254 && !identifiers.contains("00") && !identifiers.contains("01"))
        #expect(try scene.receive("13010200 0000") == [])
        #expect(scene.takeWords() == ["watch 1.1 no more", "parameters \(call): true"])
    }

    @Test func `more requests than have identifiers fail`() {
        var scene = Scene(limit: 1000)
        for _ in 0..<Signalling.limit { _ = scene.askForParameters() }
        _ = scene.takeWords()
        let call = scene.askForParameters()
        #expect(scene.takeWords() == ["parameters \(call): disconnected"])
        #expect(scene.sent().count == Signalling.limit)
    }

    // MARK: Requests of the peer

    @Test func `a central takes parameters that a link may have, and a peripheral is not asked`() throws {
        var scene = Scene()
        #expect(try scene.receive("12070800 1800 2800 0000 4800", of: 2) == ["2 5:130702000000"])
        #expect(scene.takeWords() == ["requested 2: true", "update 2 to 24...40"])
        #expect(try scene.receive("12070800 2800 1800 0000 4800", of: 2) == ["2 5:130702000100"])
        scene.l2cap.rules = ConnectionParameterRules(IOSVersion(17).parameterLimits)
        #expect(try scene.receive("12070800 1900 2800 0000 9001", of: 2) == ["2 5:130702000100"])
        #expect(try scene.receive("12070800 1800 2800 0000 9001", of: 2) == ["2 5:130702000000"])
        scene.l2cap.removeAll()
        scene.l2cap.addLink(1, to: .init(1), as: .peripheral)
        scene.l2cap.addLink(2, to: .init(2), as: .central)
        #expect(try scene.receive("12070800 1900 2800 0000 9001", of: 2) == ["2 5:130702000100"])
        scene.l2cap.canUpdateParameters = false
        #expect(try scene.receive("12070800 1800 2800 0000 4800", of: 2) == ["2 5:130702000100"])
        #expect(try scene.receive("12070800 1800 2800 0000 4800", of: 1) == ["1 5:010702000000"])
        #expect(
            scene.takeWords() == [
                "requested 2: specification", "requested 2: intervalMultiple", "requested 2: true",
                "update 2 to 24...40", "requested 2: intervalMultiple", "requested 2: controller",
            ])
    }

    @Test func `a number that wants encryption is opened on an encrypted link only`() throws {
        var scene = Scene()
        #expect(try scene.publish(isEncrypted: true) == 0x80)
        let request = "14010A00 8000 4100 4000 4000 0100"
        func refusal(_ code: String) -> [String] { ["1 5:15010A00" + "0000000000000000" + code] }
        #expect(try scene.receive(request) == refusal("0500"))
        #expect(try scene.receive(request, LinkSecurity(isBonded: true)) == refusal("0800"))
        #expect(scene.takeWords() == [])
        #expect(
            try scene.receive(request, LinkSecurity(isEncrypted: true)) == [
                "1 5:15010A0040000008F70010000000"
            ])
        #expect(scene.takeWords() == ["opened 128 by 11 on 1"])
        // Only centrals can connect to a published PSM.
        #expect(
            try scene.receive(request, of: 2, LinkSecurity(isEncrypted: true))
                == ["2 5:15010A00" + "00000000000000000200"])
    }

    @Test func `a malformed signal is dropped, and an unknown one is refused`() throws {
        var scene = Scene()
        #expect(try scene.receive("") == [])
        #expect(try scene.receive("1200 0000") == [])
        #expect(try scene.receive("99030000") == ["1 5:010302000000"])
        #expect(try scene.receive("99030000", of: 3) == [])
        #expect(try scene.receive("06040400 4000 4100") == ["1 5:01040600020040004100"])
        #expect(try scene.receive("16050400 4000 0100") == [])
        #expect(try scene.receive("0100AA", on: 0x40) == [])
        #expect(scene.takeWords() == [])
    }

    // MARK: Channels

    @Test func `an SDU goes as credits come, and the sender waits for the last frame`() throws {
        var scene = Scene()
        let end = try scene.accept()
        #expect(end.maximumLength == 64 && end.psm == 0x80 && end.peer == Peer.ID(11))
        // With its length it fits into one frame of 64 bytes.
        #expect(try scene.send(62, over: end.key))
        #expect(scene.sent().map { $0.prefix(9) } == ["1 65:3E00"])
        #expect(try !scene.send(63, over: end.key))
        #expect(scene.sent() == [] && scene.takeWords() == [])
        #expect(try scene.receive("16020400 4100 0100").count == 1)
        #expect(scene.takeWords() == [])
        #expect(try scene.receive("16030400 4100 0100") == ["1 65:07"])
        #expect(scene.takeWords() == ["sent"])
        #expect(throws: RadioError.self) { try scene.send(65, over: end.key) }
        #expect(scene.takeWords() == [])
    }

    @Test func `an SDU without room waits until half of the link's queue is sent`() throws {
        var scene = Scene(limit: 4, capacity: 1)
        let end = try scene.accept(credits: 200)
        for _ in 0..<4 { #expect(try scene.send(1, over: end.key)) }
        #expect(try !scene.send(1, over: end.key))
        #expect(scene.fill() == [])
        for _ in 0..<2 {
            #expect(scene.outbound.takeNext() != nil)
            scene.outbound.completed(1, 1)
        }
        #expect(scene.fill() == ["filled", "sent"])
        #expect(scene.fill() == [])
        #expect(scene.sent().count == 3)
    }

    @Test func `an SDU goes to the reader that waits, or is kept`() throws {
        var scene = Scene()
        let end = try scene.accept()
        #expect(scene.l2cap.awaitNext(end.key) == true)
        // One reader at a time.
        #expect(scene.l2cap.awaitNext(end.key) == false)
        #expect(try scene.receive("0100AA", on: 0x40) == [])
        #expect(scene.takeWords() == ["received AA"])
        #expect(try scene.receive("0100BB", on: 0x40) == [])
        #expect(try scene.receive("0100CC", on: 0x40) == [])
        #expect(scene.takeWords() == [])
        #expect(scene.takeReceived(end.key) == [0xBB])
        // Data that arrived before the end can be read after it.
        #expect(try scene.receive("06020400 4000 4100") == ["1 5:0702040040004100"])
        #expect(scene.l2cap.awaitNext(end.key) == false)
        #expect(scene.takeReceived(end.key) == [0xCC])
        #expect(scene.takeReceived(end.key) == nil)
        #expect(!scene.l2cap.hasChannels && scene.takeWords() == [])
    }

    @Test func `a channel that is dropped keeps nothing`() throws {
        var scene = Scene()
        let end = try scene.accept()
        _ = try scene.receive("0100AA", on: 0x40)
        scene.l2cap.drop(end.key, &scene.outbound, &scene.actions)
        #expect(scene.sent() == ["1 5:0601040041004000"])
        #expect(scene.takeReceived(end.key) == nil)
        #expect(scene.l2cap.unread.isEmpty)
        scene.l2cap.close(end.key, &scene.outbound, &scene.actions)
        #expect(scene.sent() == [])
    }

    /// Each way for a channel to end, with what goes out.
    enum End: CaseIterable {
        case closed, unpublished, closedByPeer, violated, tooManyCredits, linkEnded
    }

    @Test(arguments: End.allCases)
    func `the end of a channel ends what waits for it`(way: End) throws {
        var scene = Scene()
        let end = try scene.accept()
        #expect(scene.l2cap.awaitNext(end.key) == true)
        #expect(try scene.send(1, over: end.key))
        #expect(try !scene.send(1, over: end.key))
        _ = scene.sent()
        let waiting = ["received nothing", "sent: disconnected"]
        switch way {
        case .closed:
            scene.l2cap.close(end.key, &scene.outbound, &scene.actions)
            #expect(scene.sent() == ["1 5:0601040041004000"] && scene.takeWords() == waiting)
        case .unpublished:
            scene.l2cap.unpublish(0x80, &scene.outbound, &scene.actions)
            #expect(scene.sent() == ["1 5:0601040041004000"] && scene.takeWords() == waiting)
        case .closedByPeer:
            // With another end it is not answered.
            #expect(try scene.receive("06020400 4000 4200") == [] && scene.actions.isEmpty)
            #expect(try scene.receive("06020400 4000 4100") == ["1 5:0702040040004100"])
            #expect(scene.takeWords() == waiting)
        case .violated:
            #expect(try scene.receive("FFFF", on: 0x40) == ["1 5:0601040041004000"])
            #expect(scene.takeWords() == ["violated"] + waiting)
        case .tooManyCredits:
            #expect(try scene.receive("16020400 4100 0000") == ["1 5:0601040041004000"])
            #expect(scene.takeWords() == ["violated"] + waiting)
        case .linkEnded:
            scene.l2cap.end(1, &scene.actions)
            #expect(scene.takeWords() == waiting)
        }
        #expect(!scene.l2cap.hasChannels)
        #expect(throws: RadioError.self) { try scene.send(1, over: end.key) }
        #expect(scene.sent() == [])
    }

    @Test func `a key never names another channel, not even after a stop`() throws {
        var scene = Scene()
        let first = try scene.accept().key
        _ = try scene.receive("06020400 4000 4100")
        let second = try scene.accept().key
        #expect(second.channel == first.channel && second != first)
        scene.l2cap.removeAll()
        scene.l2cap.addLink(1, to: Peer.ID(11), as: .peripheral)
        let third = try scene.accept().key
        #expect(third.channel == first.channel && third != first && third != second)
        #expect(throws: RadioError.self) { try scene.send(1, over: first) }
    }

    @Test func `a link has sixteen channels at most, and numbers are given out again`() throws {
        var scene = Scene()
        for _ in 0..<L2CAPLink.channelLimit { _ = scene.open() }
        #expect(scene.sent().count == L2CAPLink.channelLimit)
        for number in 1...UInt8(L2CAPLink.channelLimit) {
            _ = try scene.receive(
                Hex.encode([0x15, number]) + "0A00 \(Hex.encode([0x40 + number]))00 0002 4000 0300 0000",
                of: 2)
        }
        _ = scene.takeWords()
        let call = scene.open()
        #expect(scene.takeWords() == ["open \(call): invalidState"])
        for number in L2CAPManager.numbers { #expect(try scene.publish() == number) }
        #expect(throws: RadioError.self) { try scene.publish() }
        scene.l2cap.unpublish(0x90, &scene.outbound, &scene.actions)
        #expect(try scene.publish() == 0x90)
    }
}
