import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite struct CreditChannelTests {
    static func channel(mtu: Int = 100, mps: Int = 23, credits: UInt16 = 2) -> CreditChannel {
        CreditChannel(
            own: CreditChannel.Limits(mtu: 100, mps: 30), peer: CreditChannel.Limits(mtu: mtu, mps: mps),
            credits: credits)
    }

    @Test func `an SDU goes in frames, one a credit`() throws {
        var channel = Self.channel()
        let isTaken = channel.add(Array(0..<60))
        #expect(isTaken)
        #expect(channel.nextFrame() == [60, 0] + Array(0..<21))
        #expect(channel.nextFrame() == Array(21..<44))
        #expect(channel.nextFrame() == nil && !channel.isDrained)
        try channel.credited(1)
        #expect(channel.nextFrame() == Array(44..<60) && channel.isDrained)
        let isTooLong = !channel.add(Array(repeating: 0, count: 101))
        #expect(isTooLong)
        // Nothing is a piece too.
        _ = channel.add([])
        try channel.credited(1)
        #expect(channel.nextFrame() == [0, 0])
    }

    @Test func `frames become the SDU they were, and credits come back when it is read`() throws {
        var channel = Self.channel()
        #expect(try channel.receive([40, 0] + Array(0..<28)) == nil)
        #expect(try channel.receive(Array(28..<40)) == Array(0..<40))
        var given = 0
        for number in 0..<40 as Range<UInt8> {
            #expect(try channel.receive([1, 0, number]) == [number])
            given += Int(channel.takeCredits())
            channel.wasRead()
            given += Int(channel.takeCredits())
        }
        #expect(given >= 32 && channel.receiveCredits > 0)
    }

    @Test func `a channel that is not read gives no credits, and what is held is bounded`() {
        var channel = Self.channel()
        var received = 0
        #expect(throws: CreditChannel.Violation.self) {
            for _ in 0..<1000 {
                if try channel.receive([1, 0, 7]) == [7] { received += 1 }
                _ = channel.takeCredits()
            }
        }
        #expect(received == Int(CreditChannel.initialCredits))
    }

    @Test(arguments: [
        [[UInt8](repeating: 0, count: 31)], [[5]], [[]], [[101, 0]], [[2, 0, 1, 2, 3]],
        [[29, 0] + [UInt8](repeating: 1, count: 28), [1, 2]],
    ])
    func `a frame that breaks the rules closes the channel`(frames: [[UInt8]]) {
        var channel = Self.channel()
        #expect(throws: CreditChannel.Violation.self) {
            for frame in frames { _ = try channel.receive(frame) }
        }
    }

    @Test func `credits are some, and not too many`() {
        var channel = Self.channel(credits: 65535)
        #expect(throws: CreditChannel.Violation.self) { try channel.credited(1) }
        #expect(throws: CreditChannel.Violation.self) { try channel.credited(0) }
    }
}

@Suite(.timeLimit(.minutes(15))) struct ChannelTests {
    @Test func `a phone opens a channel, and both send what they like`() async throws {
        let rig = try await SecureRig()
        let psm = try await rig.device.publishL2CAPChannel(isEncrypted: false)
        #expect(psm == 0x80)
        let peer = try await rig.connect()
        let phone = try await rig.phone.openL2CAPChannel(psm, with: peer)
        let device = try await rig.deviceSink.firstChannel()
        #expect(
            device.psm == psm && device.peer == rig.deviceSink.lastPeer?.id && device.maximumLength == 2048)
        for length in [0, 1, 245, 246, 2048] {
            let piece = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            try await phone.send(piece)
            #expect(await device.receive() == piece)
            try await device.send(piece)
            #expect(await phone.receive() == piece)
        }
        let error = await #expect(throws: RadioError.self) {
            try await phone.send(Array(repeating: 0, count: 2049))
        }
        #expect(error?.code == .valueTooLong)
        // Data that arrived before the end can be read after it.
        for number in 1...3 as ClosedRange<UInt8> { try await phone.send([number]) }
        await phone.close()
        try await until("the device has no open channel") {
            await !rig.device.look { $0.channels.hasChannels }
        }
        for number in 1...3 as ClosedRange<UInt8> { #expect(await device.receive() == [number]) }
        #expect(await device.receive() == nil)
        await #expect(throws: RadioError.self) { try await device.send([1]) }
        await rig.stop()
    }

    @Test func `a sender waits for its receiver, and order is kept`() async throws {
        let rig = try await SecureRig()
        let psm = try await rig.device.publishL2CAPChannel(isEncrypted: false)
        let peer = try await rig.connect()
        let phone = try await rig.phone.openL2CAPChannel(psm, with: peer)
        let device = try await rig.deviceSink.firstChannel()
        let sent = Lock(0)
        let sending = Task {
            for number in 0..<60 as Range<UInt8> {
                try await phone.send(Array(repeating: number, count: 1000))
                sent.withLock { $0 += 1 }
            }
        }
        try await until("more than three pieces are sent") { sent.withLock { $0 } > 3 }
        // Behind on the link: what has come is all that comes.
        _ = try? await rig.phone.read(3, of: peer)
        #expect(sent.withLock { $0 } < 40)
        var received: [UInt8?] = []
        for _ in 0..<60 {
            let piece = await device.receive()
            received.append(piece?.first)
            #expect(piece?.count == 1000 && Set(piece ?? []).count == 1)
        }
        #expect(received == Array(0..<60))
        try await sending.value
        #expect(!rig.deviceSink.all.contains("disconnected"))
        // A link that ends closes both ends.
        await rig.phone.disconnect(peer)
        #expect(await device.receive() == nil)
        #expect(await phone.receive() == nil)
        await rig.stop()
    }

    @Test func `a PSM that is not published, or requires encryption, is refused`() async throws {
        let rig = try await SecureRig()
        let peer = try await rig.connect()
        let first = await #expect(throws: RadioError.self) {
            _ = try await rig.phone.openL2CAPChannel(0x80, with: peer)
        }
        #expect(first?.message.contains("the PSM is not published") == true)
        let psm = try await rig.device.publishL2CAPChannel(isEncrypted: true)
        let second = await #expect(throws: RadioError.self) {
            _ = try await rig.phone.openL2CAPChannel(psm, with: peer)
        }
        #expect(second?.message.contains("it requires pairing") == true)
        #expect(second?.code == .insufficientSecurity)
        try await rig.phone.pair(peer)
        let channel = try await rig.phone.openL2CAPChannel(psm, with: peer)
        try await channel.send([1])
        let device = try await rig.deviceSink.firstChannel()
        #expect(await device.receive() == [1])
        await rig.device.unpublishL2CAPChannel(psm)
        #expect(await channel.receive() == nil)
        #expect(await device.receive() == nil)
        await #expect(throws: RadioError.self) { _ = try await rig.phone.openL2CAPChannel(psm, with: peer) }
        await rig.stop()
    }

    @Test func `requests that are wrong are refused by their reason`() async throws {
        let rig = try await HostRig()
        _ = try await rig.radio.publishL2CAPChannel(isEncrypted: false)
        rig.controller.connect()
        func exchange(_ hex: String) async throws -> String {
            let before = rig.controller.state.withLock { $0.sent().count }
            rig.controller.receive(try #require(Hex.decode(hex)), on: 5)
            try await rig.controller.wait("the host answers") { $0.sent().count > before }
            return rig.controller.state.withLock { $0.sent()[before] }
        }
        // psm, source, mtu, mps, credits
        #expect(try await exchange("14010A00 8000 3F00 4000 4000 0100") == "5:15010A0000000000000000000900")
        #expect(try await exchange("14020A00 8000 4000 1600 4000 0100") == "5:15020A0000000000000000000B00")
        #expect(try await exchange("14030A00 8100 4000 4000 4000 0100") == "5:15030A0000000000000000000200")
        #expect(try await exchange("14040A00 8000 4100 4000 4000 0100") == "5:15040A0040000008F70010000000")
        #expect(try await exchange("14050A00 8000 4100 4000 4000 0100") == "5:15050A0000000000000000000A00")
        // A piece, too long a frame: the channel ends.
        rig.controller.receive([2, 0, 1, 2], on: 0x40)
        rig.controller.receive([0xFF, 0xFF], on: 0x40)
        try await rig.controller.wait("the host asks to disconnect the channel") {
            $0.sent().last == "5:0601040041004000"
        }
        #expect(try await exchange("06060400 4000 4100") == "5:010606000200" + "40004100")
        for number in 0..<16 as Range<UInt8> {
            let answer = try await exchange(
                "1407" + "0A00 8000 " + Hex.encode([0x50 + number]) + "00 4000 4000 0100")
            #expect(answer.hasSuffix("0000"))
        }
        #expect(try await exchange("14070A00 8000 7000 4000 4000 0100") == "5:15070A0000000000000000000400")
        #expect(try await exchange("06080400 4000 5000") == "5:0708040040005000")
    }

    @Test func `a controller that is lost closes channels, and what is published is there again with it`()
        async throws
    {
        let rig = try await HostRig()
        let psm = try await rig.radio.publishL2CAPChannel(isEncrypted: false)
        rig.controller.connect()
        rig.controller.receive(try #require(Hex.decode("14040A0080004100400040000100")), on: 5)
        try await until("a channel is open") { rig.sink.state.withLock { !$0.channels.isEmpty } }
        let channel = try #require(rig.sink.state.withLock { $0.channels.first })
        #expect(channel.psm == psm)
        rig.controller.end()
        #expect(await channel.receive() == nil)
        try await until("the radio waits 250 ms before it tries again") {
            rig.clock.pauses.contains(.milliseconds(250))
        }
        rig.clock.advance(by: .milliseconds(250))
        try await until("the radio has recovered") { rig.sink.words.contains("recovered") }
        rig.controller.connect()
        rig.controller.receive(try #require(Hex.decode("14050A0080004100400040000100")), on: 5)
        try await until("two channels have been opened") {
            rig.sink.state.withLock { $0.channels.count } == 2
        }
        await rig.radio.stop()
    }

    @Test func `a radio that was not started, or has no number left, publishes none`() async throws {
        let idle = HostRadio(transport: ScriptedController())
        let error = await #expect(throws: RadioError.self) {
            try await idle.publishL2CAPChannel(isEncrypted: false)
        }
        #expect(error?.code == .invalidState)
        let rig = try await HostRig()
        for number in 0x80...0xFF as ClosedRange<UInt16> {
            #expect(try await rig.radio.publishL2CAPChannel(isEncrypted: false) == number)
        }
        let full = await #expect(throws: RadioError.self) {
            try await rig.radio.publishL2CAPChannel(isEncrypted: false)
        }
        #expect(full?.code == .servicesRefused)
        await rig.radio.unpublishL2CAPChannel(0x90)
        #expect(try await rig.radio.publishL2CAPChannel(isEncrypted: false) == 0x90)
        await rig.radio.stop()
    }

    @Test func `a peripheral asks how often to meet, and hears whether it may`() async throws {
        let rig = try await SecureRig()
        let peer = try await rig.connect()
        let central = try #require(rig.deviceSink.lastPeer?.id)
        for (latency, range) in [
            (ConnectionLatency.high, 96...192), (.medium, 24...48), (.low, 12...24),
        ] as [(ConnectionLatency, ClosedRange<UInt16>)] {
            #expect(try await rig.device.requestConnectionParameters(.init(latency), of: central))
            try await until("the connection interval is in the wanted range") {
                range.contains(await rig.device.onlyLink?.parameters.interval ?? 0)
            }
        }
        await #expect(throws: RadioError.self) {
            _ = try await rig.phone.requestConnectionParameters(.init(.low), of: peer)
        }
        await rig.stop()
    }
}
