import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite(.timeLimit(.minutes(15))) struct HostRadioTests {
    @Test func `a controller is brought up, and a device advertised byte for byte`() async throws {
        let rig = try await HostRig()
        #expect(rig.sink.words == ["state poweredOn"])
        var advertisement = Advertisement()
        advertisement.localName = "Mynah"
        advertisement.serviceUUIDs = ["180D"]
        advertisement.interval = .microseconds(181_250)
        let report = try await rig.radio.advertise(advertisement)
        #expect(Hex.encode(report.data) == "02010603030D1806094D796E6168")
        #expect(report.interval == .microseconds(181_250) ... .microseconds(181_250))
        let state = rig.controller.state.withLock { $0 }
        #expect(
            state.parameters(of: .leSetAdvertisingParameters).first?.prefix(5) == [
                0x22, 0x01, 0x22, 0x01, 0x00,
            ])
        #expect(
            state.parameters(of: .leSetAdvertisingData).first == [14] + report.data
                + Array(repeating: 0, count: 17))
        #expect(state.parameters(of: .leSetAdvertisingEnable) == [[1]])
        await rig.radio.stop()
        #expect(rig.controller.state.withLock { $0.parameters(of: .leSetAdvertisingEnable) } == [[1], [0]])
        #expect(rig.controller.state.withLock { $0.isClosed })
    }

    @Test func `an iPhone's exact bytes go out as they are`() async throws {
        let rig = try await HostRig()
        var advertisement = Advertisement()
        advertisement.exact = ExactAdvertisement(
            data: [ADStructure(type: .flags, data: [0x1A])],
            scanResponse: [OverflowArea(["C007"]).structure])
        _ = try await rig.radio.advertise(advertisement)
        let state = rig.controller.state.withLock { $0 }
        #expect(state.parameters(of: .leSetAdvertisingData).last?.prefix(4) == [3, 0x02, 0x01, 0x1A])
        #expect(
            state.parameters(of: .leSetScanResponseData).last?.prefix(6) == [
                21, 0x14, 0xFF, 0x4C, 0x00, 0x01,
            ])
    }

    @Test func `it advertises on when a central is there, and after it has left`() async throws {
        let rig = try await HostRig()
        _ = try await rig.radio.advertise(Advertisement())
        rig.controller.connect()
        try await rig.controller.wait("it advertises beside the link") { $0.isAdvertising }
        rig.controller.disconnect()
        try await rig.wait(for: "disconnected")
        try await rig.controller.wait("it advertises after the link") { $0.isAdvertising }
        #expect(rig.sink.words.dropFirst() == ["connected F0:F1:F2:F3:F4:F5", "disconnected"])
    }

    @Test func `a central finds, reads and writes`() async throws {
        let rig = try await HostRig()
        rig.controller.connect()
        #expect(try await rig.exchange("02 F700") == ["4:030502"])
        #expect(
            try await rig.exchange("10 0100 FFFF 0028") == [
                "4:1106" + "010005000018" + "06000F000118" + "100017000D18"
            ])
        #expect(try await rig.exchange("0A 0300") == ["4:0B" + Hex.encode(Array("Mynah".utf8))])
        #expect(try await rig.exchange("0A 1200") == ["4:0B63"])
        #expect(try await rig.exchange("0A 1700") == ["4:0B01"])
        #expect(try await rig.exchange("12 1500 0102") == ["4:13"])
        rig.controller.receive([0x52, 0x15, 0x00, 0x07])
        try await rig.wait(for: "write 07 false")
        rig.sink.answer(.answer(.failure(ATTError(code: 0x80))))
        #expect(try await rig.exchange("0A 1200") == ["4:010A120080"])
        #expect(
            rig.sink.words.dropFirst(2) == [
                "mtu 247", "read 0", "answered 01", "write 0102 true", "write 07 false", "read 0",
            ])
    }

    @Test func `a long PDU is cut for the controller, and its credits are kept`() async throws {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.completesData = false }
        rig.controller.connect()
        rig.controller.receive([0x02, 0x05, 0x02])
        try await rig.controller.wait("the host has sent one data packet") { $0.data.count == 1 }
        await rig.radio.setValue(Array(0..<200), of: rig.fixed.key)
        rig.controller.receive([0x0A, 0x17, 0x00])
        try await rig.controller.wait("the host has sent four data packets") { $0.data.count == 4 }
        // Four packets are in the controller, which has room for no more.
        rig.controller.complete(0x40, 4)
        try await rig.controller.wait("the host has sent eight data packets") { $0.data.count == 8 }
        rig.controller.complete(0x40, 4)
        try await rig.controller.wait("the host has sent two PDUs") { $0.sent().count == 2 }
        #expect(rig.controller.state.withLock { $0.sent().last } == "4:0B" + Hex.encode(Array(0..<200)))
    }

    /// Connection Timeout, Remote User Terminated Connection, and Connection Terminated by Local Host.
    @Test(arguments: [(0x08, true), (0x13, false), (0x16, false)] as [(UInt8, Bool)])
    func `a link is lost if nothing was heard of it, and not if one of the two ends it`(
        _ reason: UInt8, _ isLost: Bool
    ) async throws {
        let rig = try await HostRig()
        rig.controller.connect()
        rig.controller.disconnect(reason: reason)
        try await rig.wait(for: "disconnected")
        #expect(rig.sink.words.contains("link lost") == isLost)
        #expect(rig.sink.words.last == "disconnected")
    }

    @Test func `an answer that comes later reaches the link it was asked on, and no other`() async throws {
        let rig = try await HostRig()
        let reply = PendingReply()
        rig.sink.answer(.later(reply.pending))
        rig.controller.connect()
        rig.controller.receive([0x0A, 0x12, 0x00])
        try await rig.wait(for: "read 0")
        rig.controller.disconnect()
        rig.controller.connect()
        try await until("the radio has reported five events") { rig.sink.words.count == 5 }
        reply.answer(.success([1]))
        rig.sink.answer(.answer(.success([2])))
        #expect(try await rig.exchange("0A 1200") == ["4:0B02"])
    }

    @Test func `a phone that has fallen silent keeps no value from another`() async throws {
        let rig = try await HostRig()
        try await rig.subscribe()
        rig.controller.connect(0x41, [1, 1, 1, 1, 1, 0xC1])
        rig.controller.receive([0x12, 0x13, 0x00, 0x01, 0x00], of: 0x41)
        try await until("both centrals have subscribed to notifications") {
            rig.sink.words.count { $0 == "subscribed notification" } == 2
        }
        rig.controller.state.withLock { $0.completesData = false }
        var sent = 0
        while try await rig.radio.send([1], of: rig.rate.key, as: .asSubscribed, to: [Peer.ID(1)]) != .full {
            sent += 1
            #expect(sent < 1000)
        }
        #expect(
            try await rig.radio.send([2], of: rig.rate.key, as: .asSubscribed, to: [Peer.ID(2)]) == .sent(1))
        try await rig.controller.wait("the host has sent the value 2 to the second central") {
            $0.sent(to: 0x41).last == "4:1B120002"
        }
        rig.controller.complete(0x41, 1)
        #expect(
            try await rig.radio.send([3], of: rig.rate.key, as: .asSubscribed, to: [Peer.ID(2)]) == .sent(1))
        try await rig.controller.wait("the host has sent the value 3 to the second central") {
            $0.sent(to: 0x41).last == "4:1B120003"
        }
        #expect(!rig.sink.words.contains("ready"))
        rig.controller.disconnect()
        try await rig.wait(for: "ready")
    }

    @Test func `each subscriber is sent to as it subscribed, and one that is named alone`() async throws {
        let rig = try await HostRig()
        try await rig.subscribe()
        rig.controller.connect(0x41, [1, 1, 1, 1, 1, 0xC1])
        rig.controller.receive([0x12, 0x13, 0x00, 0x02, 0x00], of: 0x41)
        try await rig.wait(for: "subscribed indication")
        #expect(try await rig.radio.send([7], of: rig.rate.key, as: .asSubscribed, to: nil) == .sent(2))
        try await rig.controller.wait("both centrals have the value 7") {
            $0.sent().last == "4:1B120007" && $0.sent(to: 0x41).last == "4:1D120007"
        }
        rig.controller.receive([0x1E], of: 0x41)
        try await rig.wait(for: "confirmed")
        #expect(
            try await rig.radio.send([8], of: rig.rate.key, as: .asSubscribed, to: [Peer.ID(2)]) == .sent(1))
        try await rig.controller.wait("the second central has the value 8") {
            $0.sent(to: 0x41).last == "4:1D120008"
        }
        #expect(rig.controller.state.withLock { $0.sent().last } == "4:1B120007")
        rig.controller.disconnect()
        try await rig.wait(for: "unsubscribed")
    }

    @Test func `indications wait for one another, and a central that never confirms is sent nothing more`()
        async throws
    {
        let rig = try await HostRig()
        try await rig.subscribe("0200")
        for value: UInt8 in 1...2 {
            _ = try await rig.radio.send([value], of: rig.rate.key, as: .asSubscribed, to: nil)
        }
        try await rig.controller.wait("the host has indicated the value 1") { $0.sent().last == "4:1D120001" }
        rig.controller.receive([0x1E])
        try await rig.controller.wait("the host has indicated the value 2") { $0.sent().last == "4:1D120002" }
        try await rig.wait(for: .confirmation(0x40))
        rig.clock.advance(by: .seconds(30))
        try await rig.wait(for: "warning confirmationOverdue")
        #expect(try await rig.radio.send([3], of: rig.rate.key, as: .asSubscribed, to: nil) == .sent(0))
    }

    @Test func `each subscriber gets each indication once, even if another one is slow`() async throws {
        let rig = try await HostRig()
        try await rig.subscribe("0200")
        rig.controller.connect(0x41, [1, 1, 1, 1, 1, 0xC1])
        rig.controller.receive([0x12, 0x13, 0x00, 0x02, 0x00], of: 0x41)
        try await until("both centrals have subscribed to indications") {
            rig.sink.words.count { $0 == "subscribed indication" } == 2
        }
        // One at 0x41 is under way, and 64 wait.
        for value in 0..<UInt8(1 + GATTServer.indicationLimit) {
            #expect(
                try await rig.radio.send([value], of: rig.rate.key, as: .asSubscribed, to: nil) == .sent(2))
            rig.controller.receive([0x1E])
            try await until("\(Int(value) + 1) indications are confirmed") {
                rig.sink.words.count { $0 == "confirmed" } == Int(value) + 1
            }
        }
        for _ in 0..<3 {
            #expect(try await rig.radio.send([0xFF], of: rig.rate.key, as: .asSubscribed, to: nil) == .full)
        }
        #expect(rig.controller.state.withLock { !$0.sent().contains("4:1D1200FF") })
        // When the other is given up there is room again.
        try await rig.wait(for: .confirmation(0x41))
        rig.clock.advance(by: .seconds(30))
        try await rig.wait(for: "ready")
        #expect(try await rig.radio.send([0xFF], of: rig.rate.key, as: .asSubscribed, to: nil) == .sent(1))
        try await rig.controller.wait("the host has indicated the value FF") {
            $0.sent().last == "4:1D1200FF"
        }
    }

    @Test func `a central that never confirms holds back neither the others nor its own notifications`()
        async throws
    {
        let rig = try await HostRig()
        try await rig.subscribe("0200")
        rig.controller.connect(0x41, [1, 1, 1, 1, 1, 0xC1])
        rig.controller.receive([0x12, 0x13, 0x00, 0x01, 0x00], of: 0x41)
        try await rig.wait(for: "subscribed notification")
        let silent = try #require(await rig.radio.look { $0.acl.table[0x40]?.peer.id })
        let other = try #require(await rig.radio.look { $0.acl.table[0x41]?.peer.id })
        func send(_ value: UInt8, to peer: Peer.ID, as delivery: Delivery = .asSubscribed) async throws
            -> SendResult
        {
            try await rig.radio.send([value], of: rig.rate.key, as: delivery, to: [peer])
        }
        for value in 0...UInt8(GATTServer.indicationLimit) {
            #expect(try await send(value, to: silent) == .sent(1))
        }
        #expect(try await send(0xFF, to: silent) == .full)
        for value: UInt8 in 0..<200 {
            #expect(try await send(value, to: other) == .sent(1))
        }
        #expect(rig.controller.state.withLock { $0.sent(to: 0x41).count { $0.hasPrefix("4:1B") } } == 200)
        // It subscribes to both, so notifications reach it while its indications wait.
        rig.controller.receive([0x12, 0x13, 0x00, 0x03, 0x00])
        try await until("the second subscription is answered") {
            rig.controller.state.withLock { $0.sent().count { $0 == "4:13" } } == 2
        }
        #expect(try await send(0xEE, to: silent, as: .notification) == .sent(1))
        #expect(rig.controller.state.withLock { $0.sent().last } == "4:1B1200EE")
        // One confirmation makes room for one more.
        #expect(!rig.sink.words.contains("ready"))
        rig.controller.receive([0x1E])
        try await rig.wait(for: "ready")
        #expect(try await send(0xFF, to: silent, as: .indication) == .sent(1))
        await rig.radio.stop()
    }

    @Test func `an indication that was confirmed is not overdue, though the value's next is under way`()
        async throws
    {
        let rig = try await HostRig()
        try await rig.subscribe("0200")
        _ = try await rig.radio.send([1], of: rig.rate.key, as: .asSubscribed, to: nil)
        try await rig.wait(for: .confirmation(0x40))
        rig.controller.receive([0x1E])
        try await rig.wait(for: "confirmed")
        rig.clock.advance(by: .seconds(20))
        _ = try await rig.radio.send([2], of: rig.rate.key, as: .asSubscribed, to: nil)
        // The time of the first is over, and of the second ten seconds are gone.
        rig.clock.advance(by: .seconds(10))
        rig.controller.receive([0x1E])
        try await until("two indications are confirmed") {
            rig.sink.words.filter { $0 == "confirmed" }.count == 2
        }
        #expect(try await rig.radio.send([3], of: rig.rate.key, as: .asSubscribed, to: nil) == .sent(1))
        #expect(!rig.sink.words.contains("warning confirmationOverdue"))
    }

    @Test func `a queue that is full says so, and when there is room again`() async throws {
        var options = HostRadio.Options()
        options.queueLimit = 8
        let rig = try await HostRig(options: options)
        try await rig.subscribe()
        rig.controller.state.withLock { $0.completesData = false }
        var sent = 0
        while try await rig.radio.send([1], of: rig.rate.key, as: .asSubscribed, to: nil) != .full {
            sent += 1
        }
        #expect(sent == 12)
        rig.controller.complete(0x40, 4)
        rig.controller.complete(0x40, 4)
        try await rig.wait(for: "ready")
    }

    @Test(arguments: [true, false])
    func `a radio that is stopped lets the controller tell the others, but not for long`(
        isTold: Bool
    ) async throws {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.endsLinks = false }
        rig.controller.connect()
        try await rig.wait(for: "connected F0:F1:F2:F3:F4:F5")
        let stopping = Task { await rig.radio.stop() }
        try await until("the radio disconnects the central") {
            await rig.radio.look { !$0.linksEnded.isEmpty }
        }
        try await rig.wait(for: .linksEnd)
        #expect(rig.controller.state.withLock { !$0.isClosed })
        if isTold { rig.controller.disconnect() } else { rig.clock.advance(by: LinkDriver.endTimeout) }
        await stopping.value
        #expect(rig.controller.state.withLock { $0.isClosed })
    }

    @Test func `a value that a link does not carry is cut, and that is said once for each link`() async throws
    {
        let rig = try await HostRig()
        try await rig.subscribe()
        rig.controller.connect(0x41, [1, 1, 1, 1, 1, 0xC1])
        rig.controller.receive([0x12, 0x13, 0x00, 0x01, 0x00], of: 0x41)
        rig.controller.receive([0x02, 0xF7, 0x00], of: 0x41)
        try await rig.wait(for: "mtu 247")
        let long = [UInt8](repeating: 7, count: 21)
        for _ in 0..<2 {
            #expect(try await rig.radio.send(long, of: rig.rate.key, as: .asSubscribed, to: nil) == .sent(2))
        }
        let (cut, whole) = ("4:1B1200" + Hex.encode(long.prefix(20)), "4:1B1200" + Hex.encode(long))
        try await rig.controller.wait("both centrals have been sent the PDU twice") {
            $0.sent(to: 0x41).count { $0 == whole } == 2 && $0.sent().count { $0 == cut } == 2
        }
        #expect(rig.sink.words.count { $0 == "warning valueTooLong" } == 1)
    }

    @Test func `changed services are indicated to each subscribed client`() async throws {
        let rig = try await HostRig()
        rig.controller.connect()
        #expect(try await rig.exchange("12 0900 0200") == ["4:13"])
        let more = try await rig.radio.publish([ServiceDefinition(uuid: "180F")])
        try await rig.controller.wait("the host has indicated Service Changed") {
            $0.sent().last == "4:1D080018001800"
        }
        rig.controller.receive([0x1E])
        await rig.radio.withdraw(more.id)
        try await rig.controller.wait("the host has indicated Service Changed twice") {
            $0.sent().count { $0 == "4:1D080018001800" } == 2
        }
        #expect(!rig.sink.words.contains { $0.hasPrefix("subscribed") || $0 == "confirmed" })
    }

    @Test
    func `a radio that is not pairable refuses to pair, and a peripheral refuses requests to a central`()
        async throws
    {
        var options = HostRadio.Options()
        options.isPairable = false
        let rig = try await HostRig(options: options)
        rig.controller.connect()
        rig.controller.receive([0x01, 0x03, 0x00, 0x01, 0x10, 0x00, 0x00], on: 6)
        try await rig.controller.wait("the host refuses to pair") { $0.sent().last == "6:0505" }
        rig.controller.receive([0x12, 0x07, 0x08, 0x00, 0x0C, 0, 0x18, 0, 0, 0, 0xC8, 0], on: 5)
        try await rig.controller.wait("the host rejects the signalling command") {
            $0.sent().last == "5:010702000000"
        }
        rig.controller.receive([0x14, 0x08, 0x0A, 0x00, 0x80, 0, 0x40, 0, 0, 2, 64, 0, 3, 0], on: 5)
        try await rig.controller.wait("the host refuses the channel") {
            $0.sent().last?.hasSuffix("0200") == true
        }
        #expect(
            rig.controller.state.withLock { $0.sent() }
                == ["6:0505", "5:010702000000", "5:15080A0000000000000000000200"])
        #expect(rig.sink.words.filter { $0.hasPrefix("pair") || $0.hasPrefix("channel") } == [])
    }
}
