import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Pairing on a scripted controller: what goes out, and when.
@Suite(.timeLimit(.minutes(15))) struct PairingLinkTests {
    static let request: [UInt8] = [0x01, 0x03, 0x00, 0x09, 0x10, 0x02, 0x02]

    static func keyRequest(_ random: UInt8 = 0, _ diversifier: UInt8 = 0) -> HCIEvent {
        HCIEvent(
            HCIEvent.leMeta,
            [0x05, 0x40, 0x00] + Array(repeating: random, count: 8) + [diversifier, diversifier])
    }

    @Test func `a central that falls silent amid pairing is told of after thirty seconds, and heard no more`()
        async throws
    {
        let rig = try await HostRig()
        rig.controller.connect()
        rig.controller.receive(Self.request, on: 6)
        try await rig.controller.wait("the host answers the pairing request") {
            $0.sent().last == "6:02030009100202"
        }
        try await rig.clock.waitForSleepers(1)
        // Another number of sleepers, as commands that are over, may be there too.
        try await until("the pairing times out") {
            rig.clock.advance(by: .seconds(1))
            return rig.sink.words.contains("warning pairingFailed")
        }
        #expect(rig.clock.now.offset >= .seconds(30))
        rig.controller.receive(Self.request, on: 6)
        // Attributes are answered as ever.
        #expect(try await rig.exchange("0A 1700") == ["4:0B01"])
        #expect(rig.controller.state.withLock { $0.sent().filter { $0.hasPrefix("6:") } }.count == 1)
        // A new link begins anew.
        rig.controller.disconnect()
        rig.controller.connect()
        rig.clock.advance(by: .seconds(2))
        rig.controller.receive(Self.request, on: 6)
        try await rig.controller.wait("the host answers the second pairing request") {
            $0.sent().count { $0 == "6:02030009100202" } == 2
        }
    }

    @Test func `a central that does not do as it is asked is an error, and so is asking again on that link`()
        async throws
    {
        let rig = try await HostRig()
        rig.controller.connect()
        _ = try await rig.exchange("0A 1700")
        let central = try #require(await rig.radio.onlyLink?.peer.id)
        let radio = rig.radio
        let asking = Task { try await radio.pair(central) }
        try await rig.controller.wait("the host sends the security request") { $0.sent().last == "6:0B09" }
        try await until("the wait for pairing is given up") {
            rig.clock.advance(by: .seconds(1))
            return await rig.radio.look { $0.security.pairings.isEmpty }
        }
        let first = await #expect(throws: RadioError.self) { try await asking.value }
        #expect(first?.message.hasSuffix("the central did not answer within 30 s") == true)
        let second = await #expect(throws: RadioError.self) { try await radio.pair(central) }
        #expect(second?.remedy == "pair again on a new link")
        #expect(rig.controller.state.withLock { $0.sent().count { $0 == "6:0B09" } } == 1)
    }

    @Test func `a key that nobody has is refused, and the link is as open as before`() async throws {
        let rig = try await HostRig()
        rig.controller.connect()
        for event in [Self.keyRequest(), Self.keyRequest(7, 9)] {
            let before = rig.controller.state.withLock {
                $0.parameters(of: .leLongTermKeyRequestNegativeReply).count
            }
            rig.controller.tell(event)
            try await rig.controller.wait("the host refuses the request for a long-term key") {
                $0.parameters(of: .leLongTermKeyRequestNegativeReply).count == before + 1
            }
        }
        let state = rig.controller.state.withLock { $0 }
        #expect(state.parameters(of: .leLongTermKeyRequestNegativeReply).allSatisfy { $0 == [0x40, 0] })
        #expect(state.parameters(of: .leLongTermKeyRequestReply).isEmpty)
        #expect(await rig.radio.onlySecurity == LinkSecurity())
        // A controller that says so does not make it true.
        rig.controller.tell(HCIEvent(HCIEvent.encryptionChange, [0, 0x40, 0, 1]))
        _ = try await rig.exchange("0A 1700")
        #expect(await rig.radio.onlySecurity == LinkSecurity())
    }

    @Test func `events of links that are not there change nothing`() async throws {
        let rig = try await HostRig()
        rig.controller.tell(Self.keyRequest())
        rig.controller.tell(HCIEvent(HCIEvent.encryptionChange, [0, 0x40, 0, 1]))
        rig.controller.tell(HCIEvent(HCIEvent.encryptionKeyRefreshComplete, [0, 0x40, 0]))
        rig.controller.receive(Self.request, on: 6)
        rig.controller.receive([1, 2, 3], on: 0x40)
        rig.controller.connect()
        #expect(try await rig.exchange("0A 1700") == ["4:0B01"])
        #expect(rig.controller.state.withLock { $0.sent() } == ["4:0B01"])
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `anything at all on the security and signalling channels is borne`(seed: UInt64) async throws {
        let rig = try await HostRig()
        _ = try await rig.radio.publishL2CAPChannel(isEncrypted: false)
        rig.controller.connect()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            var bytes = (0..<Int.random(in: 0..<70, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let channel: UInt16 = [5, 6, 0x40, 0x41].randomElement(using: &random) ?? 5
            if let first = bytes.indices.first {
                bytes[first] =
                    channel == 6
                    ? UInt8.random(in: 1...14, using: &random) : .random(in: 0...0x18, using: &random)
            }
            if channel == 5, bytes.count >= 4 {
                (bytes[2], bytes[3]) = (UInt8(bytes.count - 4), 0)
                if bytes.count >= 6 { (bytes[4], bytes[5]) = (0x80, 0) }
            }
            rig.controller.receive(bytes, on: channel)
        }
        #expect(try await rig.exchange("0A 1700", count: 1).isEmpty == false)
        await rig.radio.stop()
    }
}
