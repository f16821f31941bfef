import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// The result of any procedure.
enum GATTValue: Hashable {
    case none
    case mtu(Int)
    case bytes([UInt8])
    case text(String)
    case values([[UInt8]?])
    case services([RemoteService])
    case characteristics([RemoteCharacteristic])
    case descriptors([RemoteDescriptor])

    // By type: an empty array casts to one of anything.
    init<Value>(_ value: Value) {
        switch Value.self {
        case is Int.Type: self = .mtu(value as? Int ?? 0)
        case is String.Type: self = .text(value as? String ?? "")
        case is [UInt8].Type: self = .bytes(value as? [UInt8] ?? [])
        case is [RemoteService].Type: self = .services(value as? [RemoteService] ?? [])
        case is [RemoteCharacteristic].Type:
            self = .characteristics(value as? [RemoteCharacteristic] ?? [])
        case is [RemoteDescriptor].Type: self = .descriptors(value as? [RemoteDescriptor] ?? [])
        case is [[UInt8]].Type: self = .values(value as? [[UInt8]] ?? [])
        case is [[UInt8]?].Type: self = .values(value as? [[UInt8]?] ?? [])
        default: self = .none
        }
    }
}

/// A client in a test's hands, in hexadecimal.
struct ClientRig {
    var client = ATTClient()
    private let results = Lock<[Result<GATTValue, RequestError>]>([])
    var notified: [String] = []
    var ended: [Result<GATTValue, RequestError>] { results.withLock { $0 } }

    /// A client that does not look for Service Changed.
    init() { client.bearer.serviceChanged = .unavailable }

    private mutating func keep(_ actions: [ATTClient.Action]) -> [String] {
        var sent: [String] = []
        for action in actions {
            switch action {
            case .send(let bytes): sent.append(Hex.encode(bytes))
            case .mtuChanged(let mtu): notified.append("MTU \(mtu)")
            case .notified(let handle, let value, let delivery):
                notified.append("\(handle) \(Hex.encode(value)) \(delivery.rawValue)")
            case .servicesChanged(let range): notified.append("services \(range)")
            case .subscribedToServices(let handle): notified.append("subscribed \(handle)")
            }
        }
        return sent
    }

    mutating func start(_ procedure: some GATTProcedure) -> [String] {
        var actions: [ATTClient.Action] = []
        let results = results
        client.add(procedure, into: &actions) { result in
            results.withLock { $0.append(result.map { GATTValue($0) }) }
        }
        return keep(actions)
    }

    mutating func hear(_ hex: String) throws -> [String] {
        var actions: [ATTClient.Action] = []
        client.receive(try #require(Hex.decode(hex)), into: &actions)
        return keep(actions)
    }

    mutating func timeOut() { client.timedOut(client.transaction) }
}

@Suite struct ATTClientTests {
    @Test func `several values are read together, and what was cut is not taken for whole`() throws {
        var rig = ClientRig()
        #expect(rig.start(MultipleRead(handles: [3, 5, 7])) == ["20030005000700"])
        #expect(try rig.hear("21 0100 0A 0000 0200 0B0C") == [])
        #expect(rig.ended.last == .success(.values([[10], [], [11, 12]])))
        for (answer, values) in [
            ("21 0100 0A 0400 0102", [[10], nil, nil]), ("21 0100 0A 04", [[10], nil, nil]),
            ("21", [nil, nil, nil]),
        ] as [(String, [[UInt8]?])] {
            _ = rig.start(MultipleRead(handles: [3, 5, 7]))
            #expect(try rig.hear(answer) == [])
            #expect(rig.ended.last == .success(.values(values)))
        }
        _ = rig.start(MultipleRead(handles: [3, 5]))
        #expect(try rig.hear("21 0000 0000 0000") == [])
        guard case .failure(.failed(let error))? = rig.ended.last else { return #expect(Bool(false)) }
        #expect(error.code == .protocolViolation)
        #expect(rig.start(ConcatenatedRead(handles: [3, 5])) == ["0E03000500"])
        #expect(try rig.hear("0F 010203") == [])
        #expect(rig.ended.last == .success(.bytes([1, 2, 3])))
        _ = rig.start(ConcatenatedRead(handles: [3, 5]))
        #expect(try rig.hear("01 0E 0500 02") == [])
        #expect(rig.ended.last == .failure(.refused(.readNotPermitted)))
    }

    @Test func `values are read together as far as a request carries them, and by themselves if one was cut`()
        throws
    {
        var rig = ClientRig()
        #expect(rig.start(ValuesRead([3, 5, 7])) == ["20030005000700"])
        #expect(try rig.hear("21 0100 0A 0400 0102") == ["0A0500"])
        #expect(try rig.hear("0B 01020304") == ["0A0700"])
        #expect(try rig.hear("0B 07") == [])
        #expect(rig.ended.last == .success(.values([[10], [1, 2, 3, 4], [7]])))
        // Eleven handles fit into 23 bytes.
        #expect(
            rig.start(ValuesRead((1...12).map { AttributeHandle(rawValue: $0) })) == [
                "20" + (1...11).map { Hex.encode([$0, 0]) }.joined()
            ])
        #expect(try rig.hear("21" + String(repeating: "0000", count: 11)) == ["0A0C00"])
        #expect(try rig.hear("0B 09") == [])
        #expect(rig.ended.last == .success(.values([[UInt8]](repeating: [], count: 11) + [[9]])))
        #expect(rig.start(ValuesRead([3])) == ["0A0300"])
        #expect(try rig.hear("0B 09") == [])
        #expect(rig.ended.last == .success(.values([[9]])))
        #expect(rig.start(ValuesRead([])) == [])
        #expect(rig.ended.last == .success(.values([])))
    }

    @Test func `values are read one by one from a server that does not read together`() throws {
        var rig = ClientRig()
        #expect(rig.start(ValuesRead([3, 5])) == ["2003000500"])
        #expect(try rig.hear("01 20 0000 06") == ["0A0300"])
        // A long value goes on by its offset.
        #expect(try rig.hear("0B" + String(repeating: "01", count: 22)) == ["0C03001600"])
        #expect(try rig.hear("0D") == ["0A0500"])
        #expect(try rig.hear("0B 05") == [])
        #expect(rig.ended.last == .success(.values([[UInt8](repeating: 1, count: 22), [5]])))
        _ = rig.start(ValuesRead([3, 5]))
        #expect(try rig.hear("01 20 0500 02") == [])
        #expect(rig.ended.last == .failure(.refused(.readNotPermitted)))
        _ = rig.start(ValuesRead([3, 5]))
        _ = try rig.hear("21 0100 0A")
        #expect(try rig.hear("01 0A 0500 05") == [])
        #expect(rig.ended.last == .failure(.refused(.insufficientAuthentication)))
    }

    @Test func `one request is under way at a time, and the next follows its answer`() throws {
        var rig = ClientRig()
        #expect(rig.start(ValueRead(3)) == ["0A0300"])
        #expect(rig.start(ValueRead(5)) == [])
        #expect(try rig.hear("0B 01") == ["0A0500"])
        #expect(try rig.hear("0B 02") == [])
        #expect(rig.ended == [.success(.bytes([1])), .success(.bytes([2]))])
    }

    @Test func `an answer to another request than was sent is dropped`() throws {
        var rig = ClientRig()
        _ = rig.start(ValueRead(3))
        #expect(try rig.hear("13") == [])
        #expect(try rig.hear("01 08 0300 0A") == [])
        #expect(try rig.hear("01 0A 0300") == [])
        #expect(rig.ended == [])
        #expect(try rig.hear("01 0A 0300 02") == [])
        #expect(rig.ended == [.failure(.refused(.readNotPermitted))])
        #expect(try rig.hear("0B 01") == [])
        #expect(rig.ended.count == 1)
    }

    @Test func `a transaction that is not completed in time is the bearer's last`() throws {
        var rig = ClientRig()
        _ = rig.start(ValueRead(3))
        _ = rig.start(ValueRead(5))
        rig.timeOut()
        #expect(rig.ended.count == 2)
        #expect(rig.start(ValueRead(7)) == [])
        for end in rig.ended {
            guard case .failure(.failed(let error)) = end else {
                Issue.record("\(end) is no failure")
                continue
            }
            #expect(error.code == .timedOut)
        }
        #expect(rig.ended.count == 3)
    }

    @Test func `a timeout of a transaction that was answered is none`() throws {
        var rig = ClientRig()
        _ = rig.start(ValueRead(3))
        let first = rig.client.transaction
        _ = try rig.hear("0B 01")
        _ = rig.start(ValueRead(5))
        rig.client.timedOut(first)
        #expect(!rig.client.isDead && rig.client.isAwaiting)
    }

    @Test func `notifications are told, and indications confirmed after they were`() throws {
        var rig = ClientRig()
        #expect(try rig.hear("1B 0C00 1648") == [])
        #expect(try rig.hear("1D 0D00 01") == ["1E"])
        #expect(try rig.hear("23 0C00 0100 AA 0D00 0200 BBCC") == [])
        #expect(
            rig.notified == [
                "12 1648 notification", "13 01 indication", "12 AA notification", "13 BBCC notification",
            ])
    }

    @Test(arguments: ["", "1B", "1B0C", "1D0C", "23", "230C00", "230C00FF00AA", "01", "03", "1E", "FF"])
    func `truncated PDUs are dropped silently`(hex: String) throws {
        var rig = ClientRig()
        #expect(try rig.hear(hex) == [])
        #expect(rig.notified == [])
    }

    @Test func `a client takes what a server sends, and nothing else`() {
        for opcode in [0x01, 0x03, 0x13, 0x1B, 0x1D, 0x23] as [UInt8] { #expect(ATTClient.takes(opcode)) }
        // An odd opcode that is not assigned is a request that the server does not support.
        for opcode in [0x02, 0x12, 0x1E, 0x52, 0xD2, 0x53, 0x25, 0x3F, 0xBF] as [UInt8] {
            #expect(!ATTClient.takes(opcode))
        }
    }

    @Test(arguments: [("03 0502", 517), ("03 B900", 185), ("03 0500", 23), ("01 02 0000 06", 23)])
    func `the MTU is the smaller one, and never less than 23`(answer: String, mtu: Int) throws {
        var rig = ClientRig()
        #expect(rig.start(MTUExchange(ownMTU: 517)) == ["020502"])
        _ = try rig.hear(answer)
        #expect(rig.ended == [.success(.mtu(mtu))])
        #expect(rig.notified == (mtu == 23 ? [] : ["MTU \(mtu)"]))
        // And only once.
        #expect(rig.start(MTUExchange(ownMTU: 517)) == [])
        #expect(rig.ended == [.success(.mtu(mtu)), .success(.mtu(mtu))])
    }

    @Test func `a long value is read on until an answer is not full`() throws {
        var rig = ClientRig()
        let full = String(repeating: "AA", count: 22)
        #expect(rig.start(ValueRead(3)) == ["0A0300"])
        #expect(try rig.hear("0B" + full) == ["0C03001600"])
        #expect(try rig.hear("0D" + full) == ["0C03002C00"])
        #expect(try rig.hear("0D BB") == [])
        #expect(rig.ended == [.success(.bytes(Array(repeating: 0xAA, count: 44) + [0xBB]))])
    }

    /// Answers of a peripheral, and its name.
    private static let names: [([String], String)] = [
        (["09 07 0300 5374726170"], "Strap"),
        // Some end it with zeros.
        (["09 09 0300 53747261700000"], "Strap"),
        (["09 02 0300"], ""),
        // 19 bytes fill the answer, so the rest is read.
        (
            ["09 15 0300 " + String(repeating: "41", count: 19), "0B " + String(repeating: "41", count: 19)],
            String(repeating: "A", count: 19)
        ),
        (
            [
                "09 15 0300 " + String(repeating: "41", count: 19),
                "0B " + String(repeating: "41", count: 22),
                "0D 42",
            ], String(repeating: "A", count: 22) + "B"
        ),
        // Bytes that are no UTF-8 are replaced.
        (["09 04 0300 41FF"], "A\u{FFFD}"),
    ]

    @Test(arguments: names) func `a device name is read by its type, and to its end`(
        answers: [String], name: String
    ) throws {
        var rig = ClientRig()
        #expect(rig.start(DeviceNameRead()) == ["080100FFFF002A"])
        for answer in answers { _ = try rig.hear(answer) }
        #expect(rig.ended == [.success(.text(name))])
    }

    @Test(arguments: ["09", "09 01 0300", "09 07 0300 41"]) func `a wrong answer is no device name`(
        answer: String
    )
        throws
    {
        var rig = ClientRig()
        _ = rig.start(DeviceNameRead())
        _ = try rig.hear(answer)
        guard case .failure(.failed(let error)) = rig.ended.first else {
            Issue.record("the name was read: \(rig.ended)")
            return
        }
        #expect(error.code == .protocolViolation)
    }

    @Test(arguments: ["01 0C 0300 07", "01 0C 0300 0B", "0D"])
    func `a value that just fills an answer ends there`(answer: String) throws {
        var rig = ClientRig()
        _ = rig.start(ValueRead(3))
        _ = try rig.hear("0B" + String(repeating: "AA", count: 22))
        _ = try rig.hear(answer)
        #expect(rig.ended == [.success(.bytes(Array(repeating: 0xAA, count: 22)))])
    }

    @Test func `a server that returns data for ever is stopped after 512 bytes`() throws {
        var rig = ClientRig()
        _ = rig.start(ValueRead(3))
        let full = String(repeating: "AA", count: 22)
        var asked = try rig.hear("0B" + full)
        var count = 1
        while !asked.isEmpty, count < 100 {
            asked = try rig.hear("0D" + full)
            count += 1
        }
        #expect(count == 24)
        guard case .failure(.failed(let error))? = rig.ended.first else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .protocolViolation)
    }

    @Test func `a short value is written in one request`() throws {
        var rig = ClientRig()
        #expect(rig.start(ValueWrite(3, [1, 2])) == ["1203000102"])
        _ = try rig.hear("13")
        #expect(rig.ended == [.success(.none)])
    }

    @Test func `a long value is written in parts, each compared with what came back`() throws {
        var rig = ClientRig()
        let value = (0..<21).map { UInt8($0) }
        let (first, second) = (Hex.encode(value.prefix(18)), Hex.encode(value.dropFirst(18)))
        #expect(rig.start(ValueWrite(3, value)) == ["1603000000" + first])
        #expect(try rig.hear("1703000000" + first) == ["1603001200" + second])
        #expect(try rig.hear("1703001200" + second) == ["1801"])
        #expect(try rig.hear("19") == [])
        #expect(rig.ended == [.success(.none)])
    }

    @Test(arguments: ["17 0300 0000 AA", "17 0400 0000", "17"])
    func `a part that came back otherwise cancels them all`(answer: String) throws {
        var rig = ClientRig()
        _ = rig.start(ValueWrite(3, Array(repeating: 1, count: 30)))
        #expect(try rig.hear(answer) == ["1800"])
        #expect(rig.ended == [])
        _ = try rig.hear("19")
        guard case .failure(.failed(let error))? = rig.ended.first else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .protocolViolation)
    }

    @Test func `a refused part cancels them all, and its error is told`() throws {
        var rig = ClientRig()
        _ = rig.start(ValueWrite(3, Array(repeating: 1, count: 30)))
        #expect(try rig.hear("01 16 0300 03") == ["1800"])
        _ = try rig.hear("01 18 0000 0E")
        #expect(rig.ended == [.failure(.refused(.writeNotPermitted))])
    }

    @Test func `a value of more than 512 bytes is not even tried`() {
        var rig = ClientRig()
        #expect(rig.start(ValueWrite(3, Array(repeating: 1, count: 513))) == [])
        #expect(rig.ended.count == 1)
    }
}
