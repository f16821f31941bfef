import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// The GATT service of the host itself, over a scripted controller.
@Suite(.timeLimit(.minutes(15))) struct GATTServiceTests {
    @Test func `the GATT service has all its characteristics`() async throws {
        let rig = try await HostRig()
        rig.controller.connect()
        _ = try await rig.exchange("02 F700")
        #expect(
            try await rig.exchange("08 0600 0F00 0328") == [
                "4:0907" + "0700200800052A" + "0A000A0B00292B" + "0C00020D002A2B" + "0E00020F003A2B"
            ])
        #expect(try await rig.exchange("0A 0F00") == ["4:0B00"])
        #expect(try await rig.exchange("0A 0B00") == ["4:0B00"])
        #expect(try await rig.exchange("12 0B00 05") == ["4:13"])
        #expect(try await rig.exchange("0A 0B00") == ["4:0B05"])
        // A client cannot withdraw a feature, and a write must not be empty.
        #expect(try await rig.exchange("12 0B00 01") == ["4:01120B0013"])
        #expect(try await rig.exchange("12 0B00") == ["4:01120B000D"])
        #expect(try await rig.exchange("12 0D00 00") == ["4:01120D0003"])
    }

    @Test func `the hash is read by type, changes with the services, and comes back with them`() async throws
    {
        let rig = try await HostRig()
        rig.controller.connect()
        let read = "08 0100 FFFF 2A2B"
        let first = try #require(try await rig.exchange(read).first)
        let input = await rig.radio.look { $0.server.database.hashInput }
        #expect(first == "4:09120D00" + Hex.encode(SecurityToolbox.databaseHash(input)))
        let more = try await rig.radio.publish([ServiceDefinition(uuid: "180F")])
        let second = try #require(try await rig.exchange(read).first)
        #expect(second != first)
        await rig.radio.withdraw(more.id)
        #expect(try await rig.exchange(read).first == first)
    }

    @Test func `a client with robust caching is aware again when it confirms, and is notified only then`()
        async throws
    {
        let rig = try await HostRig()
        try await rig.subscribe()
        _ = try await rig.exchange("12 0900 0200")
        _ = try await rig.exchange("12 0B00 01")
        _ = try await rig.radio.publish([ServiceDefinition(uuid: "180F")])
        try await rig.controller.wait("the host has indicated Service Changed") {
            $0.sent().last == "4:1D080018001800"
        }
        #expect(try await rig.radio.send([1], of: rig.rate.key, as: .notification, to: nil) == .sent(0))
        rig.controller.receive([0x1E])
        try await until("the client is aware of the change") {
            await rig.radio.look { $0.server.isAware(0x40) }
        }
        #expect(try await rig.radio.send([2], of: rig.rate.key, as: .notification, to: nil) == .sent(1))
        try await rig.controller.wait("the host has sent the value 2") { $0.sent().last == "4:1B120002" }
    }

    @Test func `changes that wait for a confirmation become one`() async throws {
        let rig = try await HostRig()
        rig.controller.connect()
        _ = try await rig.exchange("12 0900 0200")
        for uuid in ["180F", "180A", "1810"] as [BluetoothUUID] {
            _ = try await rig.radio.publish([ServiceDefinition(uuid: uuid)])
        }
        try await rig.controller.wait("the host has indicated Service Changed") {
            $0.sent().last == "4:1D080018001800"
        }
        rig.controller.receive([0x1E])
        try await rig.controller.wait("the host has indicated the joined Service Changed") {
            $0.sent().last == "4:1D080019001A00"
        }
        rig.controller.receive([0x1E])
        #expect(try await rig.exchange("0A 0F00") == ["4:0B00"])
    }

    @Test
    func `values that wait for the controller go in one PDU to a client that takes it, and to no other`()
        async throws
    {
        for takesMultiple in [true, false] {
            let rig = try await HostRig()
            try await rig.subscribe()
            _ = try await rig.exchange("02 F700")
            if takesMultiple { _ = try await rig.exchange("12 0B00 04") }
            let before = rig.controller.state.withLock { $0.sent().count }
            rig.controller.state.withLock { $0.completesData = false }
            // Four fill the controller, a fifth our queue.
            for number in 0..<8 as Range<UInt8> {
                #expect(
                    try await rig.radio.send([number], of: rig.rate.key, as: .notification, to: nil)
                        == .sent(1))
            }
            try await rig.controller.wait("the host has sent four PDUs") { $0.sent().count >= before + 4 }
            rig.controller.state.withLock { $0.completesData = true }
            rig.controller.complete(0x40, 4)
            let single = (0..<8 as Range<UInt8>).map { "4:1B12000" + "\($0)" }
            let expected =
                takesMultiple
                ? single.prefix(5) + ["4:23" + "1200010005" + "1200010006" + "1200010007"] : single[...]
            try await rig.controller.wait("the host has sent every expected PDU") {
                $0.sent().count >= before + expected.count
            }
            #expect(rig.controller.state.withLock { $0.sent() }.dropFirst(before) == expected)
        }
    }

    @Test func `a queue belongs to the central that prepared it`() async throws {
        let rig = try await HostRig()
        rig.controller.connect()
        rig.controller.connect(0x41, [1, 1, 1, 1, 1, 0xC1])
        #expect(try await rig.exchange("16 1500 0000 01") == ["4:17150000" + "0001"])
        rig.controller.receive([0x18, 1], of: 0x41)
        try await rig.controller.wait("the host answers Execute Write of the second central") {
            $0.sent(to: 0x41).last == "4:19"
        }
        #expect(!rig.sink.words.contains { $0.hasPrefix("write") })
        rig.sink.answer(.answer(.success([])))
        #expect(try await rig.exchange("18 01") == ["4:19"])
        #expect(rig.sink.words.contains("write 01 true"))
    }

    @Test func `keys are in no line of the log`() async throws {
        let rig = try await HostRig()
        let radio = rig.radio
        let key = Array(0x10...0x1F as ClosedRange<UInt8>)
        let text = Hex.encode(key)
        let command = HCICommand(.leLongTermKeyRequestReply, [0x40, 0] + key)
        let pdu = [0x11, 0, 6, 0, 0x06] + key
        let data = ACLPacket(handle: 0x40, boundary: .firstFlushable, data: pdu)
        #expect(await !radio.visible(command.packet).contains(text.prefix(6)))
        #expect(await !radio.visible(data.packet).contains(text.prefix(6)))
        // Of other channels everything is seen.
        let other = ACLPacket(handle: 0x40, boundary: .firstFlushable, data: [0x11, 0, 4, 0, 0x0B] + key)
        #expect(await radio.visible(other.packet).hasSuffix(text))
        // In pieces too.
        rig.controller.connect()
        rig.controller.state.withLock { $0.receive }?(
            ACLPacket(handle: 0x40, boundary: .firstFlushable, data: Array(pdu.prefix(6))).packet)
        try await until("six bytes of the PDU have come") { await radio.onlyLink?.reassembler.pending == 6 }
        let rest = ACLPacket(handle: 0x40, boundary: .continuing, data: Array(pdu.dropFirst(6)))
        #expect(await radio.visible(rest.packet).hasSuffix("(secret)"))
    }
}
