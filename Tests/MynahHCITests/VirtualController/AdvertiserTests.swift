import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct AdvertiserTests {
    /// An advertiser with what it needs.
    private struct Rig {
        var advertiser = Advertiser(capacity: 2)
        var addresses = ControllerAddresses(Part.configuration())
        var acceptList = FilterAcceptList(capacity: 4)
        var random = SeededRandom(seed: 1)
        var outbox: ControllerOutbox
        var now = AirTime.zero

        init(extended: Bool) {
            outbox = .open(extended: extended)
        }

        /// Legacy parameters with an interval of 100 ms.
        mutating func set(type: String = "00", own: String = "00", peer: UInt8 = 0, policy: String = "00") {
            let answer = CommandAnswer.of(
                "A000 A000 \(type) \(own) 00 \(Hex.encode([peer, 0, 0, 0, 0, 0xC0])) 07 \(policy)"
            ) { advertiser.setParameters(&$0) }
            #expect(answer == .success)
        }

        mutating func setExtended(
            _ handle: UInt8 = 1, type: String = "1300", policy: String = "00", reports: String = "00"
        ) -> CommandAnswer? {
            CommandAnswer.of(
                """
                0\(handle) \(type) A00000 A00000 07 00 00 000000000000 \(policy) 7F 01 00 01 0\(handle) \
                \(reports)
                """
            ) { advertiser.setExtendedParameters(&$0) }
        }

        mutating func data(_ hex: String, isResponse: Bool = false) -> CommandAnswer? {
            CommandAnswer.of(hex) { advertiser.setExtendedData(&$0, isResponse: isResponse) }
        }

        mutating func enable(_ hex: String = "01", hasRoom: Bool = true) -> CommandAnswer? {
            CommandAnswer.of(hex) {
                advertiser.enable(&$0, hasRoom: hasRoom, at: now, &addresses, &random)
            }
        }

        mutating func enableSets(_ hex: String, hasRoom: Bool = true) -> CommandAnswer? {
            CommandAnswer.of(hex) {
                advertiser.enableSets(&$0, hasRoom: hasRoom, at: now, &addresses, &random)
            }
        }

        /// Lets time pass to each moment at which something is due, up to a limit; returns those moments.
        mutating func run(milliseconds: Int64) -> [AirTime] {
            let limit = now + milliseconds * 1000
            var moments: [AirTime] = []
            while let due = advertiser.due, due <= limit {
                now = due
                moments.append(due)
                advertiser.advance(to: now, &addresses, &random, &outbox)
            }
            now = limit
            return moments
        }

        mutating func scan(_ identifier: UInt8? = nil, by scanner: UInt8 = 3) {
            advertiser.answerScan(
                of: AirRig.address(1), identifier, by: AirRig.address(scanner), from: Part.station,
                acceptList,
                &addresses.resolving, &outbox)
        }

        /// The data of the scan response that was sent, or `nil` if none was.
        mutating func takeResponse() -> [UInt8]? {
            for pdu in outbox.takePDUs() {
                if case .scanResponse(let response) = pdu { return response.data }
            }
            return nil
        }

        mutating func accept(
            _ identifier: UInt8? = nil, from initiator: UInt8 = 3, canConnect: Bool = true
        ) -> Advertiser.Connected? {
            let connect = AirConnect(
                initiator: AirRig.address(initiator), advertiser: AirRig.address(1), identifier: identifier,
                access: 7, parameters: LEConnection.Parameters())
            return advertiser.accept(connect, canConnect: canConnect, acceptList, &addresses.resolving)
        }
    }

    @Test func `events come at the interval and up to 10 ms later`() {
        var rig = Rig(extended: false)
        rig.set()
        #expect(rig.enable() == .success)
        let moments = rig.run(milliseconds: 5000)
        #expect((45...50).contains(moments.count))
        for (one, next) in zip(moments, moments.dropFirst()) {
            #expect((100_000...110_000).contains(next - one))
        }
        let sent = rig.outbox.takePDUs()
        let expected = AirAdvertisement([.connectable, .scannable, .legacy], address: AirRig.address(1))
        #expect(sent == Array(repeating: .advertisement(expected), count: moments.count))
        #expect(rig.enable("00") == .success)
        #expect(rig.advertiser.due == nil && !rig.advertiser.isOn)
    }

    @Test func `events that were missed are left out`() {
        var rig = Rig(extended: false)
        rig.set()
        #expect(rig.enable() == .success)
        rig.now = .milliseconds(3000)
        rig.advertiser.advance(to: rig.now, &rig.addresses, &rig.random, &rig.outbox)
        #expect(rig.outbox.takePDUs().count == 1)
        let next = rig.advertiser.due.map { $0 - rig.now }
        #expect(next.map { (100_000...110_000).contains($0) } == true)
    }

    @Test func `high duty cycle directed advertising ends after 1,28 s with a failed connection`() {
        var rig = Rig(extended: false)
        rig.set(type: "01", peer: 3)
        #expect(rig.enable() == .success)
        let moments = rig.run(milliseconds: 2000)
        #expect(!rig.advertiser.isOn && moments.last == .milliseconds(1280))
        let events = moments.dropLast()
        #expect(zip(events, events.dropFirst()).allSatisfy { $1 - $0 == 3750 } && events.count > 300)
        #expect(rig.outbox.outputs.count == moments.count)
        let last = rig.outbox.outputs.last
        var expected = ControllerOutbox.open()
        ConnectionComplete(.advertisingTimeout, role: .peripheral, peer: AirRig.address(3)).report(
            to: &expected)
        #expect(last == expected.outputs.last)
    }

    @Test(arguments: [("3200", "00", "3C", 5), ("0000", "03", "43", 3)])
    func `a set ends after its duration or its events, and says so`(
        duration: String, limit: String, status: String, events: UInt8
    ) {
        var rig = Rig(extended: true)
        #expect(rig.setExtended() == .complete(.success, [0]))
        #expect(rig.enableSets("01 01 01 \(duration) \(limit)") == .success)
        _ = rig.run(milliseconds: 5000)
        let lines = rig.outbox.take()
        #expect(lines.count == Int(events) + 1)
        #expect(lines.last == "043E0612\(status)010000" + Hex.encode([events]))
    }

    @Test func `a scan request is answered by the set that it follows, of several with one address`() throws {
        var rig = Rig(extended: true)
        rig.advertiser = Advertiser(capacity: 3)
        for (handle, type) in [(1, "1300"), (2, "1200"), (3, "0200")] as [(UInt8, String)] {
            #expect(rig.setExtended(handle, type: type) == .complete(.success, [0]))
            #expect(rig.data("0\(handle) 03 00 01 0\(handle)", isResponse: true) == .success)
        }
        #expect(rig.enableSets("01 03 01 0000 00 02 0000 00 03 0000 00") == .success)
        // An extended set is known by its number.
        rig.scan(3)
        #expect(rig.takeResponse() == [3])
        rig.scan(2)
        #expect(rig.takeResponse() == nil)
        // A legacy one has none: it is the one that advertised last.
        for _ in 0..<8 {
            let due = try #require(rig.advertiser.due)
            rig.now = due
            rig.advertiser.advance(to: due, &rig.addresses, &rig.random, &rig.outbox)
            let legacy = [1, 2].map { rig.advertiser.sets[$0]?.lastEvent == due }
            _ = rig.outbox.takePDUs()
            guard let last = legacy.firstIndex(of: true) else { continue }
            rig.scan()
            #expect(rig.takeResponse() == [UInt8(last + 1)])
        }
    }

    @Test func `a connection request is for the set with its number`() {
        var rig = Rig(extended: true)
        for (handle, type) in [(1, "1300"), (2, "0100")] as [(UInt8, String)] {
            #expect(rig.setExtended(handle, type: type) == .complete(.success, [0]))
        }
        #expect(rig.enableSets("01 02 01 0000 00 02 0000 00") == .success)
        #expect(rig.accept(2)?.set == 2)
        #expect(rig.accept()?.set == 1)
    }

    @Test func `sets are enabled all or none`() {
        var rig = Rig(extended: true)
        #expect(rig.setExtended(1) == .complete(.success, [0]))
        #expect(rig.enableSets("01 02 01 0000 00 02 0000 00") == .complete(.unknownAdvertisingIdentifier))
        #expect(!rig.advertiser.isOn)
        #expect(rig.setExtended(2) == .complete(.success, [0]))
        #expect(rig.setExtended(3) == .complete(.memoryCapacityExceeded, [0]))
        #expect(rig.enableSets("01 02 01 0000 00 01 0000 00") == nil)
        #expect(rig.enableSets("01 00") == nil)
        #expect(
            rig.enableSets("01 02 01 0000 00 02 0000 00", hasRoom: false)
                == .complete(.connectionLimitExceeded))
        #expect(rig.enableSets("01 02 01 0000 00 02 0000 00") == .success)
        #expect(rig.setExtended(1) == .disallowed)
        #expect(CommandAnswer.of("01") { rig.advertiser.remove(&$0) } == .disallowed)
        #expect(rig.advertiser.clear() == .disallowed)
        #expect(rig.enableSets("00 00") == .success)
        #expect(CommandAnswer.of("01") { rig.advertiser.remove(&$0) } == .success)
        #expect(
            CommandAnswer.of("01") { rig.advertiser.remove(&$0) } == .complete(.unknownAdvertisingIdentifier))
        #expect(rig.advertiser.clear() == .success && rig.advertiser.sets.isEmpty)
    }

    @Test(arguments: [
        // Fragments as commands after the handle, with their answers, and the data in the end.
        (["03 00 02 0102"], [CommandAnswer.success], "0102"),
        (["01 00 01 01", "00 00 01 02", "02 00 01 03"], [.success, .success, .success], "010203"),
        (["00 00 01 02"], [.disallowed], ""), (["02 00 01 02"], [.disallowed], ""),
        (["01 00 01 01", "03 00 01 09"], [.success, .success], "09"),
        (["04 00 00"], [nil], ""), (["05 00 00"], [nil], ""), (["03 00 02 01"], [nil], ""),
    ])
    func `data comes whole or in fragments`(commands: [String], answers: [CommandAnswer?], data: String) {
        var rig = Rig(extended: true)
        #expect(rig.setExtended(type: "0000") == .complete(.success, [0]))
        for (command, answer) in zip(commands, answers) { #expect(rig.data("01 \(command)") == answer) }
        #expect(rig.advertiser.sets[1].map { Hex.encode($0.data.bytes) } == data)
    }

    @Test func `a set whose data is incomplete is not enabled, and too much data is refused`() {
        var rig = Rig(extended: true)
        #expect(rig.setExtended(type: "0000") == .complete(.success, [0]))
        let piece = "00 FB" + String(repeating: "2A", count: 251)
        #expect(rig.data("01 01 \(piece)") == .success)
        #expect(rig.enableSets("01 01 01 0000 00") == .disallowed)
        for _ in 0..<5 { #expect(rig.data("01 00 \(piece)") == .success) }
        #expect(rig.data("01 00 \(piece)") == .complete(.memoryCapacityExceeded))
        #expect(rig.enableSets("01 01 01 0000 00") == .success)
        #expect(rig.data("01 01 00 01 2A") == .disallowed)
        #expect(rig.data("02 03 00 01 2A") == .complete(.unknownAdvertisingIdentifier))
    }

    @Test(arguments: [
        // The event type, whether it can have data and a scan response, and whether it starts without either.
        ("1300", true, true, true), ("1D00", false, false, true), ("1000", true, false, true),
        ("1200", true, true, true), ("0000", true, false, true), ("0200", false, true, false),
        ("0100", true, false, true),
    ])
    func `the event type says what data a set has`(
        type: String, hasData: Bool, hasResponse: Bool, startsEmpty: Bool
    ) {
        var rig = Rig(extended: true)
        #expect(rig.setExtended(type: type) == .complete(.success, [0]))
        #expect(rig.enableSets("01 01 01 0000 00") == (startsEmpty ? .success : .disallowed))
        #expect(rig.enableSets("00 00") == .success)
        #expect(rig.data("01 03 00 01 2A") == (hasData ? .success : nil))
        #expect(rig.data("01 03 00 01 2B", isResponse: true) == (hasResponse ? .success : nil))
    }

    @Test(arguments: [("00", 3, true), ("01", 3, false), ("01", 4, true), ("02", 3, true)])
    func `a scan request is answered and reported if the filter policy allows the scanner`(
        policy: String, scanner: UInt8, isAnswered: Bool
    ) {
        var rig = Rig(extended: true)
        #expect(rig.setExtended(policy: policy, reports: "01") == .complete(.success, [0]))
        #expect(rig.data("01 03 00 02 0241", isResponse: true) == .success)
        rig.scan(by: scanner)
        #expect(rig.outbox.take().isEmpty)
        #expect(rig.enableSets("01 01 01 0000 00") == .success)
        #expect(CommandAnswer.of("00 0400000000C0") { rig.acceptList.add(&$0, isInUse: false) } == .success)
        rig.scan(by: scanner)
        let response = "air 9 011B00" + "0100000000C0" + "00FF0000000002000241"
        let report = "043E091301" + "00" + Hex.encode([scanner, 0, 0, 0, 0, 0xC0])
        #expect(rig.outbox.take() == (isAnswered ? [response, report] : []))
    }

    @Test(arguments: [
        // Type, peer, policy, initiator: whether there is a connection.
        ("00", 0, "00", 3, true), ("00", 0, "02", 3, false), ("00", 0, "02", 4, true),
        ("02", 0, "00", 3, false), ("03", 0, "00", 3, false), ("04", 3, "00", 3, true),
        ("04", 5, "00", 3, false), ("01", 3, "02", 3, true),
    ])
    func `a connection request is accepted from an allowed initiator`(
        type: String, peer: UInt8, policy: String, initiator: UInt8, isAccepted: Bool
    ) {
        var rig = Rig(extended: false)
        rig.set(type: type, peer: peer, policy: policy)
        #expect(CommandAnswer.of("00 0400000000C0") { rig.acceptList.add(&$0, isInUse: false) } == .success)
        #expect(rig.enable() == .success)
        #expect(rig.accept(from: initiator, canConnect: false) == nil)
        let connected = Advertiser.Connected(
            set: 0, events: 0, peer: Identity(address: AirRig.address(initiator)))
        #expect(rig.accept(from: initiator) == (isAccepted ? connected : nil))
        #expect(rig.advertiser.isOn != isAccepted)
        #expect(rig.accept(from: initiator) == nil)
    }

    @Test func `the end of a set by a connection is reported to a host that uses sets`() {
        let connected = Advertiser.Connected(
            set: 1, events: 5, peer: Identity(address: AirRig.address(3)))
        var outbox = ControllerOutbox.open(extended: true)
        connected.report(connection: 0x40, to: &outbox)
        #expect(outbox.take() == ["043E06120001400005"])
        outbox = .open()
        connected.report(connection: 0x40, to: &outbox)
        #expect(outbox.take().isEmpty)
    }

    @Test func `legacy data stays while the parameters change, and has no advertiser without an address`() {
        var rig = Rig(extended: false)
        let data = "03 020106" + String(repeating: "00", count: 28)
        #expect(CommandAnswer.of(data) { rig.advertiser.setData(&$0, isResponse: false) } == .success)
        rig.set(own: "01")
        #expect(rig.enable() == .complete(.invalidCommandParameters))
        #expect(
            CommandAnswer.of("0102030405C6") { rig.addresses.setRandomAddress(&$0, isInUse: false) }
                == .success)
        #expect(rig.enable(hasRoom: false) == .complete(.connectionLimitExceeded))
        #expect(rig.enable() == .success)
        #expect(
            CommandAnswer.of("A000 A000 00 00 00 000000000000 07 00") {
                rig.advertiser.setParameters(&$0)
            } == .disallowed)
        _ = rig.run(milliseconds: 20)
        guard case .advertisement(let sent)? = rig.outbox.takePDUs().first else {
            Issue.record("nothing was sent")
            return
        }
        #expect(sent.address == rig.addresses.randomAddress && sent.data == [2, 1, 6])
    }
}
