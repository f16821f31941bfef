import MynahCore
import MynahSupport
import Testing

@testable import MynahEmulator

/// The opcodes, results and extended errors here are those of the nRF5 SDK 17.1, DFU Transport and Request
/// handling.
@Suite struct SecureUpdateTests {
    static let point: BluetoothUUID = "8EC90001-F315-4F60-9FB8-838830DAEA50"
    static let packet: BluetoothUUID = "8EC90002-F315-4F60-9FB8-838830DAEA50"

    static let firmware = (0..<6000).map { UInt8(truncatingIfNeeded: $0 * 31) }

    static func octets(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func crc(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var crc = CRC32()
        crc.update(bytes)
        return octets(crc.value)
    }

    // MARK: Init packets

    static func number(_ value: UInt64) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + number(value >> 7)
    }
    static func field(_ id: UInt8, _ value: UInt64) -> [UInt8] { [id << 3] + number(value) }
    static func field(_ id: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [id << 3 | 2] + number(UInt64(bytes.count)) + bytes
    }

    /// An init packet in protocol buffers; `change` replaces the fields of its init command.
    static func initPacket(
        version: UInt64? = 1, hardware: UInt64? = 52, type: UInt64 = 0, length: UInt64? = 6000,
        hashType: UInt64 = 3, firmware: [UInt8] = firmware, code: UInt64 = 1, hasInit: Bool = true,
        isSigned: Bool = true, signatureType: UInt64 = 0
    ) -> [UInt8] {
        var command: [UInt8] = []
        if let version { command += field(1, version) }
        if let hardware { command += field(2, hardware) }
        command += field(3, [0x80, 0x02])  // sd_req: 0x100
        command += field(4, type)
        if let length { command += field(type == 2 ? 6 : 7, length) }
        command += field(8, field(1, hashType) + field(2, SHA256.digest(firmware).reversed()))
        command += field(9, 0)
        let whole = field(1, code) + (hasInit ? field(2, command) : [])
        let signature = field(2, signatureType) + field(3, [UInt8](repeating: 0x5A, count: 64))
        return isSigned ? field(2, field(1, whole) + signature) : field(1, whole)
    }

    // MARK: A device

    struct Rig {
        var service = TestService(subscribed: [point])
        var update = SecureUpdate()

        /// Writes a request; returns the response without its first two bytes.
        mutating func ask(_ request: [UInt8], by central: Peer.ID = TestService.phone) -> [UInt8] {
            let outcome = update.outcome(of: request, to: point, by: central, &service)
            guard case .sent(let sent) = outcome, sent.count == 1 else {
                Issue.record("\(request) has the outcome \(outcome)")
                return []
            }
            #expect(sent[0].characteristic == point && sent[0].central == central)
            #expect(sent[0].value.prefix(2) == [0x60, request[0]])
            return Array(sent[0].value.dropFirst(2))
        }

        /// Writes packets of the smallest ATT_MTU; returns what is sent for them.
        mutating func send(_ bytes: some Collection<UInt8>, by central: Peer.ID = TestService.phone)
            -> [[UInt8]]
        {
            let all = Array(bytes)
            var values: [[UInt8]] = []
            for start in stride(from: 0, to: all.count, by: 20) {
                let part = Array(all[start..<min(start + 20, all.count)])
                let outcome = update.outcome(of: part, to: packet, by: central, &service)
                guard case .sent(let sent) = outcome else {
                    Issue.record("a packet was refused")
                    return values
                }
                values += sent.map(\.value)
            }
            return values
        }

        mutating func create(_ type: UInt8, _ length: Int) -> [UInt8] {
            ask([1, type] + octets(UInt32(length)))
        }

        /// Transfers and executes an init packet; returns the response to the latter.
        mutating func begin(_ packet: [UInt8] = initPacket()) -> [UInt8] {
            #expect(create(1, packet.count) == [1])
            #expect(send(packet) == [])
            return ask([4])
        }

        /// Transfers and executes firmware from an offset on; returns the last response.
        mutating func transfer(_ firmware: [UInt8] = firmware, from offset: Int = 0) -> [UInt8] {
            var last: [UInt8] = []
            for start in stride(from: offset, to: firmware.count, by: 4096) {
                let object = firmware[start..<min(start + 4096, firmware.count)]
                #expect(create(2, object.count) == [1])
                #expect(send(object) == [])
                #expect(
                    ask([3])
                        == [1] + octets(UInt32(object.endIndex)) + crc(firmware[..<object.endIndex]))
                last = ask([4])
            }
            return last
        }
    }

    // MARK: States

    enum State: CaseIterable, Sendable {
        /// Nothing has come.
        case idle
        /// An init packet is created, and half of it has come.
        case halfCommand
        /// All of it has come.
        case wholeCommand
        /// It was executed.
        case begun
        /// The first object of firmware is created, and half of it has come.
        case halfObject
        /// All of it has come.
        case wholeObject
        /// It was executed.
        case executed

        var rig: Rig {
            var rig = Rig()
            let packet = initPacket()
            switch self {
            case .idle: break
            case .halfCommand, .wholeCommand:
                #expect(rig.create(1, packet.count) == [1])
                #expect(rig.send(packet.prefix(self == .halfCommand ? 40 : packet.count)) == [])
            case .begun: #expect(rig.begin() == [1])
            case .halfObject, .wholeObject, .executed:
                #expect(rig.begin() == [1])
                #expect(rig.create(2, 4096) == [1])
                #expect(rig.send(firmware.prefix(self == .halfObject ? 2000 : 4096)) == [])
                if self == .executed { #expect(rig.ask([4]) == [1]) }
            }
            return rig
        }
    }

    struct Request: Sendable, CustomStringConvertible {
        var description: String
        var bytes: [UInt8]
        /// The response in each state of `State`, in their order; one for all is that of every state.
        var responses: [[UInt8]]
    }

    private static let packetLength = initPacket().count
    private static let none: [UInt8] = octets(0) + octets(0)
    private static let half = octets(40) + crc(initPacket().prefix(40))
    private static let whole = octets(UInt32(packetLength)) + crc(initPacket())
    private static let halfData = octets(2000) + crc(firmware.prefix(2000))
    private static let wholeData = octets(4096) + crc(firmware.prefix(4096))

    static let requests = [
        Request(description: "create a command", bytes: [1, 1] + octets(100), responses: [[1]]),
        Request(description: "create an empty command", bytes: [1, 1] + octets(0), responses: [[3]]),
        Request(description: "create a long command", bytes: [1, 1] + octets(512), responses: [[1]]),
        Request(description: "create a command too long", bytes: [1, 1] + octets(513), responses: [[4]]),
        Request(
            description: "create an object", bytes: [1, 2] + octets(4096),
            responses: [[8], [8], [8], [1], [1], [1], [8]]),
        Request(
            description: "create an empty object", bytes: [1, 2] + octets(0),
            responses: [[3]]),
        Request(
            description: "create half a page", bytes: [1, 2] + octets(2048),
            responses: [[8], [8], [8], [3], [3], [3], [3]]),
        Request(
            description: "create the last object", bytes: [1, 2] + octets(1904),
            responses: [[8], [8], [8], [3], [3], [3], [1]]),
        Request(
            description: "create two pages", bytes: [1, 2] + octets(8192),
            responses: [[8], [8], [8], [4], [4], [4], [4]]),
        Request(
            description: "create more than all memory", bytes: [1, 2] + octets(.max),
            responses: [[8], [8], [8], [3], [3], [3], [3]]),
        Request(description: "create an unknown type", bytes: [1, 3] + octets(16), responses: [[5]]),
        Request(description: "create the type 0", bytes: [1, 0] + octets(16), responses: [[5]]),
        Request(description: "create without a type", bytes: [1], responses: [[3]]),
        Request(description: "create with half a length", bytes: [1, 1, 16, 0], responses: [[3]]),
        Request(description: "create with more", bytes: [1, 1, 16, 0, 0, 0, 0], responses: [[3]]),
        Request(description: "set receipts", bytes: [2, 12, 0], responses: [[1]]),
        Request(description: "end receipts", bytes: [2, 0, 0], responses: [[1]]),
        Request(description: "set half a number", bytes: [2, 12], responses: [[3]]),
        Request(
            description: "calculate the checksum", bytes: [3],
            responses: [
                [5], [1] + half, [1] + whole, [1] + whole, [1] + halfData, [1] + wholeData, [1] + wholeData,
            ]),
        Request(description: "calculate with a parameter", bytes: [3, 0], responses: [[3]]),
        Request(
            description: "execute", bytes: [4], responses: [[5], [8], [1], [1], [8], [1], [1]]),
        Request(description: "execute with a parameter", bytes: [4, 1], responses: [[3]]),
        Request(
            description: "select the command", bytes: [6, 1],
            responses: [none, half, whole, whole, whole, whole, whole].map { [1] + octets(512) + $0 }),
        Request(
            description: "select the data", bytes: [6, 2],
            responses: [none, none, none, none, halfData, wholeData, wholeData].map {
                [1] + octets(4096) + $0
            }),
        Request(description: "select an unknown type", bytes: [6, 0], responses: [[5]]),
        Request(description: "select the type 3", bytes: [6, 3], responses: [[5]]),
        Request(description: "select nothing", bytes: [6], responses: [[3]]),
        Request(description: "abort", bytes: [0x0C], responses: [[1]]),
        Request(description: "an unknown opcode", bytes: [5], responses: [[2]]),
        Request(description: "the opcode of a response", bytes: [0x60, 1, 1], responses: [[2]]),
        Request(description: "the last opcode", bytes: [0xFF], responses: [[2]]),
    ]

    @Test(arguments: requests)
    func `each request has its response in each state`(_ request: Request) {
        for (index, state) in State.allCases.enumerated() {
            var rig = state.rig
            let wanted = request.responses.count == 1 ? request.responses[0] : request.responses[index]
            #expect(rig.ask(request.bytes) == wanted, "\(state)")
        }
    }

    @Test(arguments: [[1, 3] + octets(16), [6, 3]])
    func `after an unknown type no object is selected, and none is lost`(_ request: [UInt8]) {
        var rig = State.halfObject.rig
        #expect(rig.ask(request) == [5])
        #expect(rig.ask([3]) == [5])
        #expect(rig.ask([4]) == [5])
        #expect(rig.ask([2, 1, 0]) == [1])
        #expect(rig.send([1]) == [[0x60, 3, 5]])
        #expect(rig.ask([6, 2]) == [1] + Self.octets(4096) + Self.halfData)
    }

    @Test func `a request without a subscription or an opcode is refused`() {
        var rig = Rig()
        #expect(rig.update.outcome(of: [], to: Self.point, &rig.service) == .error(0x0D))
        rig.service.subscribed = []
        for request in Self.requests {
            #expect(rig.update.outcome(of: request.bytes, to: Self.point, &rig.service) == .error(0xFD))
        }
    }

    // MARK: Updates

    @Test func `firmware comes in objects, and the device restarts with it`() {
        var rig = Rig()
        #expect(rig.begin() == [1])
        #expect(rig.transfer() == [1])
        #expect(rig.update.due(rig.service) == .milliseconds(250))
        #expect(rig.update.tick(rig.service) == [])
        rig.service.now = .milliseconds(250)
        #expect(rig.update.tick(rig.service) == [.restart])
        #expect(rig.update.due(rig.service) == nil)
        // All begins anew.
        #expect(rig.ask([6, 1]) == [1] + Self.octets(512) + Self.none)
        #expect(rig.ask([6, 2]) == [1] + Self.octets(4096) + Self.none)
    }

    @Test func `an abort restarts the device, and keeps what has come`() {
        var rig = State.halfObject.rig
        #expect(rig.ask([0x0C]) == [1])
        rig.service.now = .milliseconds(250)
        #expect(rig.update.tick(rig.service) == [.restart])
        #expect(rig.ask([6, 2]) == [1] + Self.octets(4096) + Self.halfData)
    }

    @Test func `an update is resumed in the middle of an object, and of an init packet`() {
        var rig = State.halfCommand.rig
        rig.update.disconnected(TestService.phone)
        let packet = Self.initPacket()
        #expect(rig.ask([6, 1]) == [1] + Self.octets(512) + Self.half)
        #expect(rig.send(packet.dropFirst(40)) == [])
        #expect(rig.ask([4]) == [1])
        #expect(rig.create(2, 4096) == [1])
        #expect(rig.send(Self.firmware.prefix(2000)) == [])
        rig.update.disconnected(TestService.phone)
        // The init packet is there, and is executed again.
        #expect(rig.ask([6, 1]) == [1] + Self.octets(512) + Self.whole)
        #expect(rig.ask([4]) == [1])
        #expect(rig.ask([6, 2]) == [1] + Self.octets(4096) + Self.halfData)
        #expect(rig.send(Self.firmware[2000..<4096]) == [])
        #expect(rig.ask([3]) == [1] + Self.wholeData)
        #expect(rig.ask([4]) == [1])
        #expect(rig.transfer(from: 4096) == [1])
    }

    @Test func `an object that is created again loses what came of it, and keeps those that were executed`() {
        var rig = State.executed.rig
        #expect(rig.create(2, 1904) == [1])
        #expect(rig.send([UInt8](repeating: 0xEE, count: 1000)) == [])
        #expect(rig.create(2, 1904) == [1])
        #expect(rig.ask([3]) == [1] + Self.wholeData)
        #expect(rig.send(Self.firmware[4096...]) == [])
        #expect(rig.ask([4]) == [1])
    }

    @Test func `firmware that is not as its hash says is refused, and has to come again`() {
        var rig = Rig()
        #expect(rig.begin() == [1])
        var other = Self.firmware
        other[5999] ^= 1
        #expect(rig.transfer(other) == [0x0B, 0x0C])
        #expect(rig.update.due(rig.service) == nil)
        #expect(rig.create(2, 4096) == [8])
        #expect(rig.begin() == [1])
        #expect(rig.transfer() == [1])
    }

    @Test func `packets beyond an object, or without one, are dropped`() {
        for state in State.allCases {
            var rig = state.rig
            let before = rig.ask([3])
            let large = [UInt8](repeating: 1, count: 512)
            let outcome = rig.update.outcome(of: large, to: Self.packet, &rig.service)
            #expect(outcome == .sent([]), "\(state)")
            // Half an object has room for it.
            if state == .halfObject {
                #expect(rig.ask([3]) != before)
            } else {
                #expect(rig.ask([3]) == before, "\(state)")
            }
        }
    }

    @Test func `a checksum follows every so many packets`() {
        var rig = Rig()
        #expect(rig.begin() == [1])
        #expect(rig.ask([2, 3, 0]) == [1])
        #expect(rig.create(2, 4096) == [1])
        let receipt = { (count: Int) in
            [0x60, 3, 1] + Self.octets(UInt32(count)) + Self.crc(Self.firmware.prefix(count))
        }
        #expect(rig.send(Self.firmware[..<140]) == [receipt(60), receipt(120)])
        // A new object counts from the start, and so does another number.
        #expect(rig.create(2, 4096) == [1])
        #expect(rig.send(Self.firmware[..<60]) == [receipt(60)])
        #expect(rig.send(Self.firmware[60..<80]) == [])
        #expect(rig.ask([2, 1, 0]) == [1])
        #expect(rig.send(Self.firmware[80..<100]) == [receipt(100)])
        // Another central has receipts of its own, and a new link none.
        #expect(rig.send(Self.firmware[100..<120], by: TestService.other) == [])
        rig.update.disconnected(TestService.phone)
        #expect(rig.send(Self.firmware[120..<140]) == [])
        #expect(rig.ask([2, 1, 0]) == [1])
        #expect(rig.ask([2, 0, 0]) == [1])
        #expect(rig.send(Self.firmware[140..<160]) == [])
    }

    @Test func `a receipt has the error of its packet`() {
        var rig = Rig()
        #expect(rig.ask([2, 1, 0]) == [1])
        #expect(rig.send([1]) == [[0x60, 3, 5]])
        #expect(rig.create(1, 10) == [1])
        #expect(rig.send([UInt8](repeating: 1, count: 11)) == [[0x60, 3, 3]])
        #expect(rig.ask([2, 0, 0]) == [1])
        #expect(rig.begin() == [1])
        #expect(rig.ask([2, 1, 0]) == [1])
        #expect(rig.send([1]) == [[0x60, 3, 8]])
        #expect(rig.create(2, 4096) == [1])
        #expect(rig.ask([2, 0, 0]) == [1])
        #expect(rig.send(Self.firmware[..<4090]) == [])
        #expect(rig.ask([2, 1, 0]) == [1])
        #expect(rig.send([1, 2, 3, 4, 5, 6, 7]) == [[0x60, 3, 3]])
    }

    // MARK: Init packets that are refused

    static let packets: [(what: String, bytes: [UInt8], response: [UInt8])] = [
        ("as it should be", initPacket(), [1]),
        ("of a later version", initPacket(version: 7), [1]),
        ("of an earlier version", initPacket(version: 0), [0x0B, 0x05]),
        ("without a version", initPacket(version: nil), [0x0B, 0x04]),
        ("for other hardware", initPacket(hardware: 51), [0x0B, 0x06]),
        ("without hardware", initPacket(hardware: nil), [0x0B, 0x04]),
        ("without a signature", initPacket(isSigned: false), [0x0B, 0x08]),
        ("with an unknown signature", initPacket(signatureType: 1), [0x0B, 0x0B]),
        ("with another hash", initPacket(hashType: 2), [0x0B, 0x09]),
        ("of another command", initPacket(code: 0), [0x0B, 0x03]),
        ("without an init command", initPacket(hasInit: false), [0x0B, 0x04]),
        ("of an unknown type", initPacket(type: 4), [0x0B, 0x04]),
        ("without a length", initPacket(length: nil), [0x0B, 0x04]),
        ("of nothing", initPacket(length: 0), [0x0B, 0x04]),
        ("of too much", initPacket(length: 1 << 19 + 1), [0x0B, 0x0D]),
        ("of more than all memory", initPacket(length: .max), [0x0B, 0x0D]),
        ("of a bootloader that is not newer", initPacket(type: 2), [0x0B, 0x05]),
        ("of a newer bootloader", initPacket(version: 2, type: 2), [1]),
        ("that is cut", initPacket().dropLast(), [5]),
        ("that is no protocol buffer", [UInt8](repeating: 0xFF, count: 30), [5]),
    ]

    @Test(arguments: packets)
    func `an init packet is accepted, or refused with its error`(
        what: String, bytes: [UInt8], response: [UInt8]
    ) {
        var rig = Rig()
        #expect(rig.begin(bytes) == response)
        // Without an accepted one there is no firmware.
        #expect(rig.create(2, 4096) == (response == [1] ? [1] : [8]))
    }

    @Test func `after an update older firmware is refused`() {
        var rig = Rig()
        #expect(rig.begin(Self.initPacket(version: 5)) == [1])
        #expect(rig.transfer() == [1])
        #expect(rig.begin(Self.initPacket(version: 4)) == [0x0B, 0x05])
        #expect(rig.begin(Self.initPacket(version: 5)) == [1])
        _ = rig.update.begin(rig.service)
        #expect(rig.begin(Self.initPacket(version: 4)) == [1])
    }

    @Test func `hostile bytes are answered, or dropped`() {
        var random = SeededRandom(seed: 3)
        for _ in 0..<300 {
            var rig = Rig()
            let packet = Self.initPacket()
            for _ in 0..<30 {
                var bytes = packet
                for _ in 0..<1 + random.next() % 3 {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                bytes.removeLast(Int(random.next() % 20))
                _ = rig.create(1, bytes.count)
                _ = rig.send(bytes)
                _ = rig.ask([4])
                let request = (0..<Int(1 + random.next() % 8)).map { _ in UInt8(random.next() % 13) }
                _ = rig.ask(request)
            }
            #expect(rig.ask([2, 0, 0]) == [1])
            #expect(rig.begin() == [1])
        }
    }
}
