import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// A server with a database, PDUs in hexadecimal.
struct ATTRig {
    var server = ATTServer()
    var database = AttributeDatabase()
    var security = LinkSecurity()
    let battery: CharacteristicDefinition
    let control: CharacteristicDefinition
    let secret: CharacteristicDefinition
    let long: CharacteristicDefinition

    // 1 service 180F, 2 declaration, 3 value 2A19, 4 CCCD, 5 user description 6 service FFF0, 7 include, 8
    // declaration, 9 control, 10 CCCD, 11 declaration, 12 secret, 13 declaration, 14 long
    init() {
        battery = CharacteristicDefinition(
            uuid: "2A19", properties: [.read, .notify],
            descriptors: [DescriptorDefinition(uuid: "2901", value: Array("Level".utf8))])
        control = CharacteristicDefinition(
            uuid: "FFF1", properties: [.write, .writeWithoutResponse, .indicate], maximumLength: 4)
        secret = CharacteristicDefinition(
            uuid: "6D796E61-0201-4C61-8000-6C6162000000",
            properties: [.read, .write, .authenticatedSignedWrites],
            permissions: AttributePermissions(read: .encrypted, write: .authenticated))
        long = CharacteristicDefinition(uuid: "FFF3", properties: [.read, .write], value: Array(0..<100))
        let first = ServiceDefinition(uuid: "180F", characteristics: [battery])
        let second = ServiceDefinition(
            uuid: "FFF0", includes: [first.key], characteristics: [control, secret, long])
        #expect(database.publish([first, second]) == 1...14)
    }

    mutating func receive(_ hex: String) -> [ATTAction] {
        server.receive(Hex.decode(hex) ?? [], database, security)
    }

    /// The one PDU that is sent to a PDU, in hexadecimal without spaces.
    ///
    /// Returns `nil` if none is, or if anything but the report of a refusal happens too.
    mutating func exchange(_ hex: String) -> String? {
        let actions = receive(hex).filter { if case .refused = $0 { false } else { true } }
        guard actions.count == 1, case .send(let bytes)? = actions.first else { return nil }
        return Hex.encode(bytes)
    }

    mutating func answer(_ outcome: PendingReply.Outcome) -> String? {
        guard case .send(let bytes)? = server.answered(outcome, database, security).last else { return nil }
        return Hex.encode(bytes)
    }
}

@Suite struct ATTServerTests {
    var rig = ATTRig()

    @Test func `a refused request for a value is reported with its error, before it is answered`() throws {
        var rig = ATTRig()
        func handle(_ key: AttributeKey) -> String {
            let handle = rig.database.handle(of: key)?.rawValue ?? 0
            return Hex.encode([UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8)])
        }
        let (control, secret, long) = (
            handle(rig.control.key), handle(rig.secret.key), handle(rig.long.key)
        )
        for (request, key, access, error) in [
            ("0A\(control)", rig.control.key, .read, .readNotPermitted),
            ("0C\(control)0000", rig.control.key, .read, .readNotPermitted),
            ("0E\(long)\(control)", rig.control.key, .read, .readNotPermitted),
            ("0A\(secret)", rig.secret.key, .read, .insufficientAuthentication),
            ("12\(secret)01", rig.secret.key, .write, .insufficientAuthentication),
            ("16\(secret)000001", rig.secret.key, .write, .insufficientAuthentication),
            ("12\(control)0102030405", rig.control.key, .write, .invalidAttributeValueLength),
            ("0C\(long)6500", rig.long.key, .read, .invalidOffset),
            // A subscription is a write to the characteristic's configuration.
            ("120400010203", rig.battery.key, .write, .invalidAttributeValueLength),
        ] as [(String, AttributeKey, RefusedRequest.Access, ATTError)] {
            let actions = rig.receive(request)
            #expect(actions.first == .refused(key, access, error), "\(request)")
            #expect(actions.count == 2, "\(request)")
        }
        // Not values of the application: no such handle, a service's declaration. A search that begins at a
        // value and finds nothing, as the discovery of characteristics ends, refuses nobody that value.
        for request in ["0AFFFF", "12010001", "021700", "08\(long)FFFF0328"] {
            #expect(rig.receive(request).count == 1, "\(request)")
        }
    }

    @Test func `a value that is refused after the application has answered for another is reported too`() {
        var rig = ATTRig()
        // The battery's level is the application's, and control cannot be read.
        #expect(rig.receive("0E03000900") == [.read(rig.battery.key, offset: 0)])
        #expect(
            rig.server.answered(.success([100]), rig.database, rig.security) == [
                .refused(rig.control.key, .read, .readNotPermitted), .send([0x01, 0x0E, 9, 0, 0x02]),
            ])
        #expect(rig.receive("0E03000900") == [.read(rig.battery.key, offset: 0)])
        #expect(
            rig.server.answered(.failure(.unlikelyError), rig.database, rig.security) == [
                .send([0x01, 0x0E, 3, 0, 0x0E])
            ])
    }

    // MARK: Discovery

    @Test func `a PDU that is longer than the MTU is not taken apart`() {
        var rig = ATTRig()
        // 12 handles are 25 bytes, and both ends have agreed on 23.
        let handles = String(repeating: "0300", count: 12)
        #expect(rig.receive("0E" + handles) == [.send([0x01, 0x0E, 0, 0, 0x04])])
        #expect(rig.receive("20" + handles) == [.send([0x01, 0x20, 0, 0, 0x04])])
        // Nobody answers a command or a confirmation.
        #expect(rig.receive("520900" + handles) == [])
        #expect(rig.receive("1E" + handles) == [])
    }

    @Test mutating func `services are found by group type, of one width a response`() {
        #expect(rig.exchange("10 0100 FFFF 0028") == "110601000500" + "0F18" + "06000E00" + "F0FF")
        #expect(rig.exchange("10 0600 FFFF 0028") == "110606000E00" + "F0FF")
        #expect(rig.exchange("10 0700 FFFF 0028") == "0110070 00A".filter { $0 != " " })
        #expect(rig.exchange("10 0100 FFFF 0328") == "0110010010")
    }

    @Test mutating func `a service is found by its UUID, in either width`() {
        #expect(rig.exchange("06 0100 FFFF 0028 0F18") == "0701000500")
        #expect(rig.exchange("06 0100 FFFF 0028 FB349B5F80000080 00100000 0F180000") == "0701000500")
        #expect(rig.exchange("06 0100 FFFF 0028 0A18") == "010601000A")
    }

    @Test mutating func `any readable attribute is found by its type and value`() {
        #expect(rig.exchange("06 0100 FFFF 0129 4C6576656C") == "0705000500")
        #expect(rig.exchange("06 0100 FFFF 0129 4C6576") == "010601000A")
        #expect(rig.exchange("06 0100 FFFF 0229 0000") == "07040004000A000A00")
        // The application is asked for what it knows, and no further than a value can reach.
        #expect(rig.receive("06 0100 FFFF 192A 07") == [.read(rig.battery.key, offset: 0)])
        #expect(rig.answer(.success([7])) == "0703000300")
        _ = rig.receive("06 0100 FFFF 192A 07")
        #expect(rig.answer(.success([8])) == "010601000A")
        _ = rig.receive("06 0100 FFFF 192A 07")
        #expect(rig.answer(.failure(.unlikelyError)) == "010601000A")
        // Values that cannot be read do not count.
        #expect(rig.exchange("06 0100 FFFF F1FF 07") == "010601000A")
    }

    @Test mutating func `a search goes on after the application's answers until the response is full`() {
        let many = (0..<7).map { _ in
            CharacteristicDefinition(uuid: "FFF7", properties: .read, maximumLength: 1)
        }
        #expect(rig.database.publish([ServiceDefinition(uuid: "FFF6", characteristics: many)]) == 15...29)
        #expect(rig.receive("06 0100 FFFF F7FF 0102") == [.send([0x01, 0x06, 0x01, 0x00, 0x0A])])
        #expect(rig.receive("06 0100 FFFF F7FF 01") == [.read(many[0].key, offset: 0)])
        for (index, value) in [1, 2, 1, 1, 1].enumerated() {
            #expect(
                rig.server.answered(.success([UInt8(value)]), rig.database, rig.security)
                    == [.read(many[index + 1].key, offset: 0)])
        }
        #expect(
            rig.answer(.success([1])) == "07" + "11001100" + "15001500" + "17001700" + "19001900" + "1B001B00"
        )
    }

    @Test mutating func `included services and characteristics are found by type`() {
        #expect(rig.exchange("08 0600 0E00 0228") == "0908" + "0700" + "01000500" + "0F18")
        #expect(
            rig.exchange("08 0100 FFFF 0328") == "0907" + "0200120300192A"
                + "080 02C0900F1FF".filter { $0 != " " })
        #expect(
            rig.exchange("08 0900 FFFF 0328") == "0915" + "0B004A0C00" + "00000062616C0080614C0102616E796D")
    }

    @Test mutating func `descriptors are found by information, of one width a response`() {
        #expect(rig.exchange("04 0400 0500") == "05010400022905000129")
        #expect(rig.exchange("04 0C00 0C00") == "05020C00" + "00000062616C0080614C0102616E796D")
        #expect(rig.exchange("04 0F00 FFFF") == "01040F000A")
    }

    @Test(arguments: ["04", "06", "08", "10"])
    mutating func `a range from zero on, or backwards, is an invalid handle`(opcode: String) {
        let rest = ["04": "", "06": "0028 0F18", "08": "0228", "10": "0028"][opcode] ?? ""
        #expect(rig.exchange(opcode + "0000 0500" + rest) == "01" + opcode + "000001")
        #expect(rig.exchange(opcode + "0500 0400" + rest) == "01" + opcode + "050001")
    }

    // MARK: Reads

    @Test mutating func `a value that is not the host's is asked for, and answered from its offset on`() {
        #expect(rig.receive("0A 0300") == [.read(rig.battery.key, offset: 0)])
        #expect(rig.answer(.success([0x63])) == "0B63")
        #expect(rig.receive("0C 0300 0500") == [.read(rig.battery.key, offset: 5)])
        #expect(rig.answer(.failure(.invalidOffset)) == "010C030007")
        #expect(rig.receive("0A 0300") == [.read(rig.battery.key, offset: 0)])
        #expect(rig.answer(.failure(ATTError(code: 0x80))) == "010A030080")
    }

    @Test mutating func `a fixed value is the host's to answer, cut to the MTU, and told`() {
        #expect(
            rig.receive("0A 0E00") == [
                .answered(rig.long.key, offset: 0, Array(0..<100)), .send([0x0B] + Array(0..<22)),
            ])
        #expect(rig.receive("0C 0E00 6400").last == .send([0x0D]))
        #expect(rig.exchange("0C 0E00 6500") == "010C0E0007")
    }

    @Test mutating func `handle, permission and protection are checked in this order`() {
        #expect(rig.exchange("0A 0000") == "010A000001")
        #expect(rig.exchange("0A 0F00") == "010A0F0001")
        #expect(rig.exchange("0A 0900") == "010A090002")
        #expect(rig.exchange("0A 0C00") == "010A0C0005")
        rig.security.isBonded = true
        #expect(rig.exchange("0A 0C00") == "010A0C000F")
        rig.security.isEncrypted = true
        #expect(rig.receive("0A 0C00") == [.read(rig.secret.key, offset: 0)])
        #expect(rig.answer(.success([1])) == "0B01")
        #expect(rig.exchange("12 0C00 01") == "01120C0005")
        rig.security.isAuthenticated = true
        #expect(rig.receive("12 0C00 01").count == 1)
    }

    @Test mutating func `several are read together, and the first that cannot be is the error`() {
        #expect(rig.receive("0E 0500 0300") == [.read(rig.battery.key, offset: 0)])
        #expect(rig.answer(.success([9])) == "0F" + "4C6576656C" + "09")
        #expect(rig.receive("20 0300 0500") == [.read(rig.battery.key, offset: 0)])
        #expect(rig.answer(.success([9])) == "21" + "010009" + "05004C6576656C")
        #expect(rig.exchange("0E 0500 0900") == "010E090002")
        #expect(rig.exchange("0E 0500") == "010E000004")
    }

    @Test mutating func `reads by type go on while lengths are the same`() {
        #expect(rig.receive("08 0100 FFFF 192A") == [.read(rig.battery.key, offset: 0)])
        #expect(rig.answer(.success([7])) == "0903030007")
        #expect(rig.exchange("08 0100 FFFF 0029") == "010801000A")
        #expect(
            rig.receive("08 0300 FFFF F1FF") == [
                .refused(rig.control.key, .read, .readNotPermitted), .send([0x01, 0x08, 0x09, 0x00, 0x02]),
            ])
    }

    @Test(arguments: [
        // The whole of both, a value cut, a value of which only the length is left, and no length cut.
        (13, "0D00" + String(repeating: "07", count: 13) + "05004C6576656C"),
        (15, "0F00" + String(repeating: "07", count: 15) + "05004C6576"),
        (18, "1200" + String(repeating: "07", count: 18) + "0500"),
        (19, "1300" + String(repeating: "07", count: 19)), (20, "1400" + String(repeating: "07", count: 20)),
        (21, "1500" + String(repeating: "07", count: 20)),
    ])
    mutating func `several of any length are cut within a value or before its length`(
        count: Int, rest: String
    ) {
        _ = rig.receive("20 0300 0500")
        #expect(rig.answer(.success(Array(repeating: 7, count: count))) == "21" + rest)
    }

    // MARK: Writes

    @Test mutating func `a write is asked for, and its length is checked before`() {
        #expect(
            rig.receive("12 0900 0102") == [
                .write([.init(attribute: rig.control.key, value: [1, 2])], wantsResponse: true)
            ])
        #expect(rig.answer(.success([])) == "13")
        #expect(rig.exchange("12 0900 0102030405") == "011209000D")
        #expect(rig.exchange("12 0300 01") == "0112030003")
        #expect(rig.exchange("12 0200 01") == "0112020003")
    }

    @Test mutating func `a command is carried out or ignored, and never answered`() {
        #expect(
            rig.receive("52 0900 01") == [
                .write([.init(attribute: rig.control.key, value: [1])], wantsResponse: false)
            ])
        for hex in [
            "52 0900 0102030405", "52 0300 01", "52 0000 01", "52 09", "52", "7E 01", "D2 0900 01", "72",
        ] {
            #expect(rig.receive(hex).isEmpty)
        }
        // An attribute that requires encryption does not accept a signed write.
        #expect(rig.receive("D2 0C00 01" + String(repeating: "AA", count: 12)).isEmpty)
    }

    @Test mutating func `prepared parts that follow each other are one write, carried out at the end`() {
        #expect(rig.exchange("16 0900 0000 0102") == "17090000000102")
        #expect(rig.exchange("16 0900 0200 03") == "170900020003")
        #expect(
            rig.receive("18 01") == [
                .write([.init(attribute: rig.control.key, value: [1, 2, 3])], wantsResponse: true)
            ])
        #expect(rig.answer(.success([])) == "19")
        #expect(rig.exchange("18 01") == "19")
    }

    @Test mutating func `a queue that is cancelled, too long or full does nothing`() {
        _ = rig.receive("16 0900 0000 01")
        #expect(rig.exchange("18 00") == "19")
        #expect(rig.exchange("18 01") == "19")
        _ = rig.receive("16 0900 0300 0102")
        #expect(rig.exchange("18 01") == "011809000D")
        _ = rig.receive("16 0900 0500 01")
        #expect(rig.exchange("18 01") == "0118090007")
        for _ in 0..<PrepareQueue.limit { _ = rig.receive("16 0900 0000 01") }
        #expect(rig.exchange("16 0900 0000 01") == "0116090009")
        #expect(rig.exchange("18 02") == "0118000004")
    }

    @Test mutating func `a prepared configuration is carried out with the queue`() {
        #expect(rig.exchange("16 0400 0000 01") == "170400000001")
        #expect(rig.exchange("16 0400 0100 00") == "170400010000")
        #expect(rig.receive("18 01") == [.configured(rig.battery.key, 1), .send([0x19])])
        #expect(rig.exchange("0A 0400") == "0B0100")
        _ = rig.receive("16 0400 0000 00")
        #expect(rig.receive("18 01") == [.configured(rig.battery.key, 0), .send([0x19])])
    }

    @Test mutating func `a prepared configuration waits for the application's part of the queue`() {
        for isAccepted in [false, true] {
            _ = rig.receive("16 0400 0000 0100")
            _ = rig.receive("16 0900 0000 01")
            #expect(
                rig.receive("18 01") == [
                    .write([.init(attribute: rig.control.key, value: [1])], wantsResponse: true)
                ])
            #expect(rig.server.client.configurations.isEmpty)
            #expect(
                rig.server.answered(
                    isAccepted ? .success([]) : .failure(.unlikelyError), rig.database, rig.security)
                    == (isAccepted
                        ? [.configured(rig.battery.key, 1), .send([0x19])]
                        : [.send([0x01, 0x18, 0x04, 0x00, 0x0E])]))
        }
    }

    @Test(arguments: [
        ("16 0400 0000 0400", "0118040013"), ("16 0400 0000 0200", "01180400FD"),
        ("16 0400 0300 01", "0118040007"), ("16 0400 0100 0000", "011804000D"),
    ])
    mutating func `a queue with a bad configuration changes nothing`(hex: String, answer: String) {
        _ = rig.receive("16 0900 0000 01")
        _ = rig.receive(hex)
        #expect(rig.exchange("18 01") == answer)
        #expect(rig.server.client.configurations.isEmpty)
    }

    // MARK: Configuration

    @Test mutating func `a client configures what the characteristic can, two bytes at a time`() {
        #expect(rig.receive("12 0400 0100") == [.configured(rig.battery.key, 1), .send([0x13])])
        #expect(rig.receive("12 0400 0100") == [.send([0x13])])
        #expect(rig.exchange("0A 0400") == "0B0100")
        #expect(rig.exchange("12 0400 0200") == "01120400FD")
        #expect(rig.exchange("12 0400 0400") == "0112040013")
        #expect(rig.exchange("12 0400 01") == "011204000D")
        #expect(rig.receive("12 0400 0000") == [.configured(rig.battery.key, 0), .send([0x13])])
        #expect(rig.receive("12 0A00 0200") == [.configured(rig.control.key, 2), .send([0x13])])
    }

    @Test mutating func `one indication waits for its confirmation at a time`() {
        #expect(rig.server.indicate(9, [1]) == [0x1D, 9, 0, 1])
        #expect(rig.server.indicate(9, [2]) == nil)
        #expect(rig.receive("1E") == [.confirmed(9)])
        #expect(rig.receive("1E").isEmpty)
        #expect(rig.server.indicate(9, [2]) != nil)
    }

    // MARK: Rules

    @Test mutating func `the MTU is the smaller of both, and never below the default`() {
        #expect(rig.receive("02 0002") == [.send([0x03, 0x05, 0x02]), .mtuChanged(512)])
        #expect(rig.receive("02 0500") == [.send([0x03, 0x05, 0x02]), .mtuChanged(23)])
        #expect(rig.receive("02 FFFF") == [.send([0x03, 0x05, 0x02]), .mtuChanged(517)])
        #expect(rig.exchange("02 17") == "0102000004")
    }

    @Test(arguments: [
        "0A", "0A 01", "0A 010000", "0C 0300", "04 0100", "04 0100 FFFF 00", "08 0100 FFFF 00",
        "10 0100 FFFF 001122",
        "12", "16 0900 00", "18", "18 0101", "0E", "20 0300", "06 0100 FFFF",
    ])
    mutating func `a wrong length is an invalid PDU`(hex: String) {
        #expect(rig.exchange(hex) == "01" + hex.prefix(2) + "000004")
    }

    @Test mutating func `an unknown request is not supported, and what is no request is not answered`() {
        #expect(rig.exchange("3C") == "013C000006")
        for hex in ["", "01 0A 0100 0A", "0B 01", "1B 0100 01", "1D 0100 01", "23", "1E 01"] {
            #expect(rig.receive(hex).isEmpty)
        }
    }

    @Test mutating func `a client that does not wait for its answer gets one, not two`() {
        #expect(rig.receive("0A 0300").count == 1)
        #expect(rig.receive("0A 0500").isEmpty)
        #expect(rig.receive("52 0900 01").count == 1)
        #expect(rig.answer(.success([1])) == "0B01")
        #expect(rig.answer(.success([1])) == nil)
    }

    @Test mutating func `a client with robust caching is told once that its database is old`() {
        rig.server.client.features = 1
        rig.server.databaseChanged()
        #expect(rig.receive("52 0900 01").isEmpty)
        #expect(rig.exchange("10 0100 FFFF 0028")?.hasPrefix("11") == true)
        #expect(rig.exchange("0A 0500") == "010A050012")
        // Until its next request it does not know yet.
        #expect(rig.receive("52 0900 01").isEmpty)
        #expect(rig.receive("0A 0500").first == .becameAware)
        #expect(rig.receive("0A 0500").last == .send([0x0B] + Array("Level".utf8)))
        #expect(rig.receive("52 0900 01").count == 1)
    }

    @Test func `services that come back the same have the handles they had`() {
        var database = AttributeDatabase()
        let first = [ServiceDefinition(uuid: "180F", characteristics: [rig.battery])]
        let second = [ServiceDefinition(uuid: "FFF0", characteristics: [rig.control])]
        #expect(database.publish(first) == 1...5)
        #expect(database.publish(second) == 6...9)
        database.withdraw(1...5)
        #expect(database[1...9].map(\.handle) == [6, 7, 8, 9])
        #expect(database.handle(of: rig.battery.key) == nil)
        #expect(database.publish(first) == 1...5)
        #expect(database[1...9].map(\.handle) == (1...9).map { AttributeHandle(rawValue: $0) })
    }

    @Test mutating func `any bytes at all are answered or not, and nothing else happens`() {
        var random = SeededGenerator(seed: 11)
        for round in 0..<100_000 {
            let count = Int.random(in: 0..<12, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if count > 0, round % 2 == 0 {
                bytes[0] = [2, 4, 6, 8, 10, 12, 14, 16, 18, 22, 24, 30, 32, 82, 210][round / 2 % 15]
            }
            if count > 2, round % 3 == 0 { (bytes[1], bytes[2]) = (UInt8(round % 16), 0) }
            for action in rig.server.receive(bytes, rig.database, rig.security) {
                if case .send(let pdu) = action { #expect(pdu.count <= rig.server.mtu) }
            }
            if rig.server.pending != nil {
                for action in rig.server.answered(.success([1, 2, 3]), rig.database, rig.security) {
                    if case .send(let pdu) = action { #expect(pdu.count <= rig.server.mtu) }
                }
            }
        }
        #expect(rig.server.prepared.entries.count <= PrepareQueue.limit)
    }
}
