import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct ConnectionTests {
    private let settings = ConnectionSettings(Part.configuration())
    private var outbox = ControllerOutbox.open()

    private func frame(_ sequence: UInt16, expecting expected: UInt16, _ content: LinkPDU? = nil) -> LinkFrame
    {
        LinkFrame(access: 0x1122_3344, sequence: sequence, expected: expected, content: content)
    }

    /// The frames that have been sent since the last call.
    private mutating func frames() -> [LinkFrame] {
        outbox.takePDUs().compactMap { if case .link(let frame) = $0 { frame } else { nil } }
    }

    private func packet(_ number: UInt8) -> ACLPacket {
        ACLPacket(handle: 0x40, boundary: .first, data: [number])
    }

    private func data(_ number: UInt8) -> LinkPDU { .data(isContinued: false, [number]) }

    // MARK: The window

    @Test func `unacknowledged frames are sent again`() {
        var window = TransmitWindow()
        #expect(window.retransmission == nil)
        for number: UInt8 in 0..<3 {
            let frame = window.send(
                data(number), access: 1, interval: 30_000, at: .milliseconds(Int64(number)))
            #expect(
                frame == LinkFrame(access: 1, sequence: UInt16(number), expected: 0, content: data(number)))
        }
        #expect(window.retransmission == .milliseconds(30) && window.packets == 3)
        #expect(
            window.acknowledge(2, interval: 30_000, at: .milliseconds(5))
                == .init(packets: 2, hasTerminated: false))
        #expect(window.retransmission == .milliseconds(35) && window.packets == 1)
        var outbox = ControllerOutbox.open()
        window.sendAgain(access: 1, to: Part.station, interval: 30_000, at: .milliseconds(35), &outbox)
        #expect(
            outbox.takePDUs() == [.link(LinkFrame(access: 1, sequence: 2, expected: 0, content: data(2)))])
        #expect(window.retransmission == .milliseconds(65))
        #expect(
            window.acknowledge(3, interval: 30_000, at: .milliseconds(40))
                == .init(packets: 1, hasTerminated: false))
        #expect(window.retransmission == nil)
    }

    @Test(arguments: [0, 4, 0xFFFF] as [UInt16])
    func `an acknowledgement of what was not sent means nothing`(expected: UInt16) {
        var window = TransmitWindow()
        for number: UInt8 in 0..<3 { _ = window.send(data(number), access: 1, interval: 1, at: .zero) }
        #expect(window.acknowledge(expected, interval: 1, at: .zero) == .init())
        #expect(window.packets == 3)
    }

    @Test func `numbers go on after the last one`() {
        var window = TransmitWindow()
        for number in 0..<0x1_0002 {
            let frame = window.send(.encrypted, access: 1, interval: 1, at: .zero)
            #expect(frame.sequence == UInt16(truncatingIfNeeded: number))
            _ = window.acknowledge(frame.sequence &+ 1, interval: 1, at: .zero)
        }
        #expect(window.retransmission == nil && window.nextSequence == 2)
    }

    // MARK: Procedures

    @Test func `procedures run one after the other`() {
        var queue = ProcedureQueue()
        #expect(queue.begin(.featureRequest(1)) == .now)
        #expect(queue.begin(.phyRequest(sending: 1, receiving: 1)) == .later)
        #expect(queue.begin(.featureRequest(2)) == .later)
        #expect(queue.end(with: .phyUpdate(sending: 1, receiving: 1)) == nil)
        #expect(queue.end(with: .featureResponse(1)) == .phyRequest(sending: 1, receiving: 1))
        #expect(queue.end(with: .phyUpdate(sending: 1, receiving: 1)) == .featureRequest(2))
        #expect(queue.end(with: .featureResponse(1)) == nil)
        #expect(queue.begin(.featureRequest(3)) == .now)
    }

    @Test func `a peer that answers nothing loses the connection`() {
        var queue = ProcedureQueue()
        #expect(queue.begin(.featureRequest(1)) == .now)
        for _ in 0..<TransmitWindow.limit { #expect(queue.begin(.featureRequest(1)) == .later) }
        #expect(queue.begin(.featureRequest(1)) == .never)
    }

    // MARK: Times

    @Test(arguments: [(true, 720), (false, 180)])
    func `silence ends a connection after its timeout, or after six intervals`(
        isEstablished: Bool, milliseconds: Int64
    ) {
        var connection = Part.connection(isEstablished ? .peripheral : .central)
        var outbox = ControllerOutbox.open()
        connection.start(at: .zero, &outbox)
        while connection.stage == .open, connection.supervision.wake < .milliseconds(5000) {
            let wake = connection.supervision.wake
            connection.advance(to: wake, &outbox)
            if connection.stage != .over { #expect(connection.supervision.wake > wake) }
        }
        #expect(connection.supervision.wake == .milliseconds(milliseconds))
        #expect(outbox.take().last == "040504004000" + (isEstablished ? "08" : "3E"))
    }

    @Test mutating func `a connection that is heard goes on, and both sides speak now and then`() {
        var connection = Part.connection(.central)
        connection.start(at: .zero, &outbox)
        #expect(frames().isEmpty)
        var sent = 0
        for round: Int64 in 1...100 {
            connection.receive(
                frame(0, expecting: 0), rssi: -50, settings, at: .milliseconds(30 * round), &outbox)
            connection.advance(to: .milliseconds(30 * round), &outbox)
            sent += frames().count
        }
        // Six times in a timeout of 720 ms.
        #expect((24...26).contains(sent))
        #expect(connection.stage == .open && connection.supervision.rssi == -50)
    }

    // MARK: Frames

    @Test mutating func `every frame with a PDU is acknowledged, by itself or with what is sent`() {
        var connection = Part.connection(.central)
        connection.receive(frame(0, expecting: 0, data(1)), rssi: -40, settings, at: .zero, &outbox)
        #expect(outbox.take() == ["0240200100" + "01", "air 9 04443322110000" + "0100"])
        connection.receive(
            frame(1, expecting: 0, .featureRequest(0xFF)), rssi: -40, settings, at: .zero, &outbox)
        #expect(frames() == [frame(0, expecting: 2, .featureResponse(0x2F))])
        // Again, and before its time.
        for sequence: UInt16 in [1, 3] {
            connection.receive(
                frame(sequence, expecting: 0, data(2)), rssi: -40, settings, at: .zero, &outbox)
            #expect(frames() == [frame(1, expecting: 2)])
        }
    }

    @Test mutating func `acknowledged packets return credits to the host`() {
        var connection = Part.connection(.central)
        connection.send(packet(1), at: .zero, &outbox)
        connection.send(packet(2), at: .zero, &outbox)
        #expect(frames() == [frame(0, expecting: 0, data(1)), frame(1, expecting: 0, data(2))])
        #expect(connection.packetsPending == 2)
        connection.receive(frame(0, expecting: 2), rssi: -40, settings, at: .zero, &outbox)
        #expect(outbox.take() == ["04130501" + "4000" + "0200"])
        #expect(connection.packetsPending == 0)
    }

    @Test mutating func `long data comes in pieces that the data length allows`() {
        var connection = Part.connection(.central)
        let bytes = [UInt8](repeating: 5, count: 60)
        connection.receive(
            frame(0, expecting: 0, .data(isContinued: false, bytes)), rssi: -40, settings, at: .zero, &outbox)
        let lines = outbox.take()
        let piece = String(repeating: "05", count: 27)
        #expect(
            lines.dropLast() == ["0240201B00" + piece, "0240101B00" + piece, "0240100600050505050505"])
    }

    @Test(arguments: [true, false])
    mutating func `the host ends a connection when the peer knows, or after the timeout`(
        isHeard: Bool
    ) {
        var connection = Part.connection(.peripheral)
        var actions: [ConnectionAction] = []
        #expect(connection.disconnect(HCIStatus(0x13), &actions) == .success)
        #expect(connection.disconnect(HCIStatus(0x13), &actions) == .commandDisallowed)
        connection.perform(actions, at: .zero, &outbox)
        #expect(frames() == [frame(0, expecting: 0, .terminate(HCIStatus(0x13)))])
        #expect(connection.stage == .ending)
        if isHeard {
            connection.receive(frame(0, expecting: 1), rssi: -40, settings, at: .zero, &outbox)
        } else {
            connection.advance(to: .milliseconds(720), &outbox)
        }
        #expect(outbox.take().last == "04050400400016" && connection.stage == .over)
        // Nothing comes of a connection that is over.
        connection.perform([.send(.encrypted), .report(HCIEvent.encryptionChange, [])], at: .zero, &outbox)
        #expect(outbox.take().isEmpty)
    }

    @Test mutating func `the peer ends a connection`() {
        var connection = Part.connection(.central)
        connection.receive(
            frame(0, expecting: 0, .terminate(HCIStatus(0x13))), rssi: -40, settings, at: .zero, &outbox)
        #expect(outbox.take() == ["air 9 04443322110000" + "0100", "04050400400013"])
        #expect(connection.stage == .over)
    }

    @Test mutating func `a connection ends if the peer acknowledges nothing, or does not answer encryption`()
    {
        var connection = Part.connection(.central)
        for _ in 0...TransmitWindow.limit {
            connection.perform([.send(.encrypted)], at: .zero, &outbox)
        }
        #expect(outbox.take().last == "04050400400008" && connection.stage == .over)
        connection = Part.connection(.central)
        var actions: [ConnectionAction] = []
        connection.encryption.begin([], random: [], diversifier: 0, nonce: 1, at: .zero, &actions)
        connection.perform(actions, at: .zero, &outbox)
        for seconds: Int64 in 1...40 {
            let now = AirTime.milliseconds(seconds * 1000)
            connection.receive(frame(0, expecting: 1), rssi: -40, settings, at: now, &outbox)
            connection.advance(to: now, &outbox)
            #expect(connection.stage == (seconds < 40 ? .open : .over))
        }
        #expect(outbox.take().last == "04050400400022")
    }

    @Test mutating func `new parameters are used at once, and reported`() {
        var connection = Part.connection(.peripheral)
        let wanted = LEConnection.Parameters(interval: 30, latency: 0, timeout: 100)
        connection.receive(
            frame(0, expecting: 0, .connectionUpdate(wanted)), rssi: -40, settings, at: .zero, &outbox)
        #expect(outbox.take().first == "043E0A030040001E0000006400")
        #expect(connection.supervision.interval == 37_500)
    }

    // MARK: All connections

    /// A connection that the controller has, a request, and whether it is accepted; 5 is the private address
    /// that 2 was resolved from.
    @Test(arguments: [
        (LEConnection.Role.central, 2, 2, 1, false), (.peripheral, 2, 2, 1, false),
        (.peripheral, 2, 3, 1, true),
        // The device is known by its identity, and the request by the address on the air.
        (.central, 5, 2, 1, false), (.central, 5, 5, 1, false),
        // Another address of the controller: an advertising set of its own.
        (.peripheral, 2, 2, 4, true),
    ])
    func `there is one connection between two addresses`(
        role: LEConnection.Role, peer: UInt8, initiator: UInt8, advertiser: UInt8, isAccepted: Bool
    ) {
        var connections = Connections(Part.configuration())
        let identity =
            peer == 5
            ? Identity(address: AirRig.address(2), onAir: AirRig.address(5))
            : Identity(address: AirRig.address(peer))
        _ = connections.open(
            as: role, with: Part.station, access: 1, peer: identity, local: AirRig.address(1),
            LEConnection.Parameters(), rssi: -40, at: .zero)
        let request = AirConnect(
            initiator: AirRig.address(initiator), advertiser: AirRig.address(advertiser), access: 2,
            parameters: LEConnection.Parameters(interval: 24))
        let accepts = connections.canAccept(
            request, from: Part.station, Identity(address: AirRig.address(initiator)))
        #expect(accepts == isAccepted)
    }

    @Test mutating func `connections share the packet buffers of the controller`() {
        var connections = Connections(
            Part.configuration {
                $0.packetCount = 2; $0.linkCount = 2
            })
        for access: UInt32 in 1...2 {
            let opened = connections.open(
                as: .central, with: Part.station, access: access, peer: Identity(address: AirRig.address(2)),
                local: AirRig.address(1), LEConnection.Parameters(), rssi: -40, at: .zero)
            #expect(opened?.handle.rawValue == 0x3F + UInt16(access))
        }
        #expect(!connections.hasRoom && connections.isConnected(to: AirRig.address(2)))
        for handle: ConnectionHandle in [0x40, 0x41, 0x40] {
            connections.send(ACLPacket(handle: handle, boundary: .first, data: [1]), at: .zero, &outbox)
        }
        let lines = outbox.take()
        #expect(lines.count == 3 && lines.last == "041A0101")
        connections.send(ACLPacket(handle: 0x42, boundary: .first, data: [1]), at: .zero, &outbox)
        #expect(outbox.take().isEmpty)
        connections.receive(
            LinkFrame(access: 2, sequence: 0, expected: 1, content: .terminate(HCIStatus(0x13))),
            from: Part.station, rssi: -40, at: .zero, &outbox)
        #expect(connections.count == 1 && connections.connection(0x41) == nil)
        connections.advance(to: .milliseconds(5000), &outbox)
        #expect(connections.count == 0 && connections.due == nil)
    }

    @Test mutating func `a connection request is accepted if there is room and its access address is new`() {
        var connections = Connections(Part.configuration { $0.linkCount = 2 })
        func connect(_ access: UInt32, timeout: UInt16 = 72) -> AirConnect {
            AirConnect(
                initiator: AirRig.address(2), advertiser: AirRig.address(1), access: access,
                parameters: LEConnection.Parameters(timeout: timeout))
        }
        // A device that has no connection.
        let other = Identity(address: AirRig.address(3))
        #expect(connections.canAccept(connect(7), from: Part.station, other))
        #expect(!connections.canAccept(connect(7, timeout: 1), from: Part.station, other))
        for access: UInt32 in [7, 8] {
            _ = connections.open(
                as: .peripheral, with: Part.station, access: access,
                peer: Identity(address: AirRig.address(2)), local: AirRig.address(1),
                LEConnection.Parameters(), rssi: -40, at: .zero)
            #expect(!connections.canAccept(connect(7), from: Part.station, other))
            #expect(connections.canAccept(connect(7), from: Station(10), other) == (access == 7))
        }
        _ = outbox.take()
    }

    @Test(arguments: [
        ("4200 13", CommandAnswer.status(.unknownConnectionIdentifier)), ("4000 16", nil),
        ("4000 13", .status(.success)),
        // The upper four bits of a handle do not count.
        ("40F0 13", .status(.success)),
    ])
    mutating func `a command names a connection that is there`(hex: String, answer: CommandAnswer?) {
        var connections = Connections(Part.configuration())
        _ = connections.open(
            as: .central, with: Part.station, access: 7, peer: Identity(address: AirRig.address(2)),
            local: AirRig.address(1), LEConnection.Parameters(), rssi: -40, at: .zero)
        #expect(CommandAnswer.of(hex) { connections.disconnect(&$0, at: .zero, &outbox) } == answer)
        #expect(
            CommandAnswer.of("4000") { connections.read(&$0) { [$0.phys.current.sending] } }
                == .complete(.success, [0x40, 0, 1]))
        #expect(
            CommandAnswer.of("4100") { connections.read(&$0) { _ in [] } }
                == .complete(.unknownConnectionIdentifier, [0x41, 0]))
    }
}
