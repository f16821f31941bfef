import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct LinkTests {
    private let handle: ConnectionHandle = 0x40

    @Test func `a link begins on both sides, and advertising ends`() {
        var rig = AirRig()
        let central = rig.join(1)
        let peripheral = rig.join(2)
        rig.advertise(peripheral)
        rig.connect(central, to: 2)
        #expect(rig.ask(.leSetScanEnable, "0000", central) == .success)
        _ = rig.take(peripheral)
        rig.pass(milliseconds: 50)
        let parameters = LEConnection.Parameters(interval: 24, latency: 0, timeout: 72)
        func link(_ role: LEConnection.Role, _ peer: UInt8) -> HCIEventContent {
            .connectionComplete(
                .success,
                LEConnection(handle: handle, role: role, peer: AirRig.address(peer), parameters: parameters))
        }
        #expect(rig.events(central) == [link(.central, 2)])
        #expect(rig.events(peripheral) == [link(.peripheral, 1)])
        rig.send(.leSetScanEnable, "0100", central)
        rig.pass(milliseconds: 5000)
        #expect(rig.events(central).count == 1)
    }

    @Test func `a wish for a link can be taken back`() {
        var rig = AirRig()
        let central = rig.join(1)
        rig.connect(central, to: 2)
        _ = rig.take(central)
        #expect(rig.ask(.leSetRandomAddress, "0102030405C6", central) == .commandDisallowed)
        rig.connect(central, to: 2)
        #expect(rig.events(central) == [.commandStatus(.leCreateConnection, credits: 1, .commandDisallowed)])
        rig.send(.leCreateConnectionCancel, "", central)
        let events = rig.events(central)
        #expect(events.count == 2)
        #expect(events.first == .commandComplete(.leCreateConnectionCancel, credits: 1, [0]))
        if case .connectionComplete(let status, _)? = events.last {
            #expect(status == .unknownConnectionIdentifier)
        } else {
            Issue.record("no connection complete")
        }
    }

    @Test(arguments: [0, 0.3]) func `data arrives whole and in order, and gives its credits back`(
        loss: Double
    ) {
        var (rig, central, peripheral) = AirRig.linked(loss: loss)
        var sent: [[UInt8]] = []
        var arrived: [[UInt8]] = []
        var credits = 12
        for round in 0..<2000 {
            if credits > 0, sent.count < 300 {
                let data = [UInt8](repeating: UInt8(sent.count & 0xFF), count: 27)
                rig.send(ACLPacket(handle: handle, boundary: .first, data: data).packet, central)
                sent.append(data)
                credits -= 1
            }
            rig.pass(milliseconds: 5)
            for packet in rig.take(central) where packet.type == .event {
                guard let event = HCIEvent(packet.body), let content = HCIEventContent(event) else {
                    continue
                }
                if case .completedPackets(let links) = content {
                    credits += links.reduce(0) { $0 + $1.count }
                }
                if case .disconnectionComplete = content { Issue.record("the link ended in round \(round)") }
            }
            arrived += rig.take(peripheral).compactMap { ACLPacket($0.body)?.data }
        }
        #expect(sent.count == 300 && arrived == sent && credits == 12)
    }

    @Test func `packets beyond the buffers are reported as an overflow`() {
        var (rig, central, peripheral) = AirRig.linked()
        rig.air.setDistance(nil, between: central, and: peripheral)
        for _ in 0..<14 {
            rig.send(ACLPacket(handle: handle, boundary: .first, data: [1]).packet, central)
        }
        #expect(rig.events(central) == [.other(0x1A), .other(0x1A)])
    }

    @Test func `a link whose side goes out of range ends by its supervision timeout, on both sides`() {
        var (rig, central, peripheral) = AirRig.linked()
        rig.air.setDistance(nil, of: peripheral)
        rig.pass(milliseconds: 10_000)
        for station in [central, peripheral] {
            #expect(
                rig.events(station) == [
                    .disconnectionComplete(.success, handle: handle, reason: .connectionTimeout)
                ])
        }
    }

    @Test func `packets come in pieces as long as the sides agreed on`() {
        var (rig, central, peripheral) = AirRig.linked()
        let data = (0..<100).map { UInt8($0) }
        rig.send(ACLPacket(handle: handle, boundary: .first, data: data).packet, central)
        let pieces = rig.take(peripheral).compactMap { ACLPacket($0.body) }
        #expect(pieces.map(\.data.count) == [27, 27, 27, 19])
        #expect(pieces.map(\.boundary) == [.firstFlushable, .continuing, .continuing, .continuing])
        #expect(rig.ask(.leSetDataLength, "4000 FB00 4808", central) == .success)
        #expect(rig.events(peripheral) == [.dataLengthChange(handle: handle, sent: 27, received: 251)])
        rig.send(ACLPacket(handle: handle, boundary: .first, data: data).packet, central)
        #expect(rig.take(peripheral).compactMap { ACLPacket($0.body)?.data } == [data])
    }

    @Test func `a link ends for both, each with its reason`() {
        var (rig, central, peripheral) = AirRig.linked()
        rig.send(.disconnect, "4000 13", central)
        #expect(
            rig.events(central) == [
                .commandStatus(.disconnect, credits: 1, .success),
                .disconnectionComplete(.success, handle: handle, reason: .connectionTerminatedByLocalHost),
            ])
        #expect(
            rig.events(peripheral) == [
                .disconnectionComplete(.success, handle: handle, reason: .remoteUserTerminatedConnection)
            ])
        #expect(rig.ask(.disconnect, "4000 13", central) == .unknownConnectionIdentifier)
        #expect(rig.ask(.disconnect, "4000 16", central) == .invalidCommandParameters)
    }

    @Test func `a peer that vanishes ends the link after the supervision timeout`() {
        var (rig, central, peripheral) = AirRig.linked()
        rig.pass(milliseconds: 10_000)
        #expect(rig.events(central) == [] && rig.events(peripheral) == [])
        rig.air.leave(peripheral)
        rig.pass(milliseconds: 500)
        #expect(rig.events(central) == [])
        rig.pass(milliseconds: 400)
        #expect(
            rig.events(central) == [
                .disconnectionComplete(.success, handle: handle, reason: .connectionTimeout)
            ])
    }

    @Test func `a link that never began says so`() {
        var rig = AirRig()
        let central = rig.join(1)
        let peripheral = rig.join(2)
        rig.advertise(peripheral)
        rig.connect(central, to: 2)
        while rig.events(central).allSatisfy({ if case .connectionComplete = $0 { false } else { true } }) {
            rig.pass(milliseconds: 1)
            rig.air.loss = 0
            // The advertisement is heard, and what follows it is not.
            if rig.air.now.microseconds > 20_000 { break }
        }
        var (other, lonely, gone) = AirRig.linked()
        other.air.leave(gone)
        other.send(.reset, "", lonely)
        other.connect(lonely, to: 2)
        _ = other.take(lonely)
        let frame = AirFrame(
            from: Station(77), to: nil,
            pdu: .advertisement(
                AirAdvertisement([.connectable, .scannable, .legacy], address: AirRig.address(2))))
        other.send(.setEventMask, "FFFFFFFFFFFFFFFF", lonely)
        for case .host(_, let packet) in other.air.handle(frame) { #expect(packet.type == .event) }
        other.pass(milliseconds: 200)
        #expect(
            other.events(lonely).contains(
                .disconnectionComplete(.success, handle: handle, reason: .connectionFailedToBeEstablished)))
    }

    @Test func `both sides with one key are encrypted, and again by another`() {
        var (rig, central, peripheral) = AirRig.linked()
        let key = String(repeating: "A5", count: 16)
        let random = [1, 2, 3, 4, 5, 6, 7, 8] as [UInt8]
        for isFirst in [true, false] {
            rig.send(.leEnableEncryption, "4000 0102030405060708 3412 \(key)", central)
            #expect(rig.events(central) == [.commandStatus(.leEnableEncryption, credits: 1, .success)])
            #expect(
                rig.events(peripheral) == [
                    .longTermKeyRequest(handle: handle, random: random, diversifier: 0x1234)
                ])
            // PDUs sent meanwhile wait.
            rig.send(ACLPacket(handle: handle, boundary: .first, data: [9]).packet, central)
            #expect(rig.take(peripheral) == [])
            rig.send(.leLongTermKeyRequestReply, "4000 \(key)", peripheral)
            let done: HCIEventContent =
                isFirst
                ? .encryptionChange(.success, handle: handle, isOn: true)
                : .encryptionKeyRefreshComplete(.success, handle: handle)
            #expect(rig.events(central) == [done, .completedPackets([.init(handle: handle, count: 1)])])
            let told = rig.take(peripheral)
            #expect(told.compactMap { HCIEvent($0.body).flatMap { HCIEventContent($0) } }.contains(done))
            #expect(told.last?.type == .aclData)
        }
    }

    @Test func `two keys end the link, and none is told`() {
        var (rig, central, peripheral) = AirRig.linked()
        let key = String(repeating: "A5", count: 16)
        rig.send(.leEnableEncryption, "4000 0000000000000000 0000 \(key)", central)
        rig.send(.leLongTermKeyRequestNegativeReply, "4000", peripheral)
        #expect(rig.events(central).last == .encryptionChange(.pinOrKeyMissing, handle: handle, isOn: false))
        rig.send(.leEnableEncryption, "4000 0000000000000000 0000 \(key)", central)
        _ = rig.events(peripheral)
        rig.send(.leLongTermKeyRequestReply, "4000 \(String(repeating: "A6", count: 16))", peripheral)
        let ended = HCIEventContent.disconnectionComplete(.success, handle: handle, reason: .micFailure)
        #expect(rig.events(central).last == ended)
        #expect(rig.events(peripheral).last == ended)
    }

    @Test func `parameters, PHYs, features and versions are agreed on`() {
        var (rig, central, peripheral) = AirRig.linked()
        let wanted = LEConnection.Parameters(interval: 40, latency: 4, timeout: 100)
        rig.send(.leConnectionUpdate, "4000 2800 2800 0400 6400 0000 0000", central)
        #expect(
            rig.events(central).last == .connectionUpdateComplete(.success, handle: handle, wanted))
        #expect(rig.events(peripheral) == [.connectionUpdateComplete(.success, handle: handle, wanted)])
        // The peripheral asks; the central's host agrees.
        rig.send(.leConnectionUpdate, "4000 1800 2000 0000 4800 0000 0000", peripheral)
        #expect(
            rig.events(central) == [
                .remoteParameterRequest(handle: handle, minimum: 24, maximum: 32, latency: 0, timeout: 72)
            ])
        rig.send(
            .leRemoteConnectionParameterRequestReply, "4000 1800 2000 0000 4800 0000 0000", central)
        let agreed = LEConnection.Parameters(interval: 24, latency: 0, timeout: 72)
        #expect(
            rig.events(peripheral).last == .connectionUpdateComplete(.success, handle: handle, agreed))
        _ = rig.events(central)
        rig.send(.leSetPHY, "4000 00 02 02 0000", central)
        #expect(rig.events(central).last == .other(HCIEvent.LESubevent.phyUpdateComplete))
        #expect(rig.events(peripheral) == [.other(HCIEvent.LESubevent.phyUpdateComplete)])
        #expect(rig.values(.leReadPHY, "4000", peripheral) == [0x40, 0, 2, 2])
        rig.send(.leReadRemoteFeatures, "4000", peripheral)
        #expect(rig.events(peripheral).last == .readRemoteFeaturesComplete(.success, handle: handle))
        rig.send(.readRemoteVersionInformation, "4000", central)
        #expect(rig.events(central).last == .other(HCIEvent.readRemoteVersionInformationComplete))
    }
}
