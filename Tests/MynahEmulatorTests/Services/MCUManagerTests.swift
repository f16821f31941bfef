import MynahCore
import MynahSupport
import Testing

@testable import MynahEmulator

/// The commands and codes here are those of Zephyr's SMP Protocol Specification and SMP groups 0 and 1.
@Suite struct MCUManagerTests {
    static let point: BluetoothUUID = "DA2E7828-FBCE-4E01-AE9E-261174997C48"

    /// A MCUboot image: a header of 32 bytes, a body, and TLVs with a hash.
    static func image(
        version: [UInt8] = [2, 1, 3, 0, 4, 0, 0, 0], body: Int = 300, flags: UInt8 = 0, hash: [UInt8]? = nil,
        hasHash: Bool = true
    ) -> [UInt8] {
        var bytes: [UInt8] = [0x3D, 0xB8, 0xF3, 0x96, 0, 0, 0, 0, 32, 0, 0, 0]
        bytes += [UInt8(body & 0xFF), UInt8(body >> 8), 0, 0, flags, 0, 0, 0] + version + [0, 0, 0, 0]
        bytes += (0..<body).map { UInt8(truncatingIfNeeded: $0 * 13) }
        guard hasHash else { return bytes }
        // A key hash before the hash.
        let own = hash ?? SHA256.digest(bytes)
        return bytes + [0x07, 0x69, 48, 0, 0x01, 0, 4, 0, 1, 2, 3, 4, 0x10, 0, 32, 0] + own
    }

    static func hash(of image: [UInt8]) -> [UInt8] { Array(image.suffix(32)) }

    static func map(_ entries: (String, CBOR)...) -> CBOR { .map(entries.map { .init($0.0, $0.1) }) }

    /// A device, and a phone that is subscribed.
    struct Rig {
        var service = TestService(subscribed: [point])
        var manager = MCUManager()
        /// The lengths of the values that were sent last.
        var lengths: [Int] = []

        /// Writes a request, and returns the data of its response.
        mutating func ask(
            _ operation: UInt8, _ group: UInt16, _ command: UInt8, _ data: CBOR = map(), version: UInt8 = 1,
            raw: [UInt8]? = nil
        ) throws -> CBOR {
            let header = ManagementHeader(
                version: version, operation: operation, group: group, sequence: 42, command: command)
            let sent = write(header.frame(raw ?? data.encoded))
            var response = header
            response.version = min(version, 1)
            response.operation = operation == 0 ? 1 : 3
            response.dataLength = sent.count - 8
            #expect(ManagementHeader(sent) == response)
            return try CBOR(decoding: Array(sent.dropFirst(8)))
        }

        /// Writes bytes, and returns all that the device sends.
        mutating func write(_ bytes: [UInt8], by central: Peer.ID = TestService.phone) -> [UInt8] {
            guard case .sent(let sent) = manager.outcome(of: bytes, to: point, by: central, &service) else {
                Issue.record("the write was refused")
                return []
            }
            for each in sent {
                #expect(each.value.count <= service.longest && each.characteristic == point)
                #expect(each.central == central)
            }
            lengths = sent.map(\.value.count)
            return sent.flatMap(\.value)
        }

        /// Uploads an image, or a part of it, in chunks.
        mutating func upload(
            _ image: [UInt8], upTo end: Int? = nil, chunk: Int = 100, sha: Bool = true
        ) throws -> CBOR {
            var offset = 0
            var last = CBOR.null
            while offset < end ?? image.count {
                let data = CBOR.bytes(Array(image[offset..<min(offset + chunk, image.count)]))
                var request = [CBOR.Entry("off", .unsigned(UInt64(offset))), .init("data", data)]
                if offset == 0 {
                    request.append(.init("len", .unsigned(UInt64(image.count))))
                    if sha { request.append(.init("sha", .bytes(SHA256.digest(image)))) }
                }
                last = try ask(2, 1, 1, .map(request))
                offset = Int(try #require(last["off"]?.integer))
            }
            return last
        }

        mutating func reset() throws {
            #expect(try ask(2, 0, 5) == map())
            #expect(manager.due(service) == service.now + .milliseconds(250))
            #expect(manager.tick(service) == [])
            service.now += .milliseconds(250)
            #expect(manager.tick(service) == [.restart])
            #expect(manager.due(service) == nil)
        }

        /// The images as a list says them: version, and the flags that are set.
        mutating func list() throws -> [String] {
            guard case .array(let images)? = try ask(0, 1, 0)["images"] else { return [] }
            return images.map { image in
                let flags = ["pending", "confirmed", "active", "permanent"].filter {
                    image[$0]?.flag == true
                }
                return ([image["version"]?.string ?? ""] + flags).joined(separator: " ")
            }
        }

        /// The images, once there is one in slot 1.
        static func uploaded(_ image: [UInt8] = image()) throws -> Rig {
            var rig = Rig()
            #expect(try rig.upload(image)["match"]?.flag == true)
            return rig
        }
    }

    static func status(_ code: UInt64) -> CBOR { map(("rc", .unsigned(code))) }
    static func error(_ group: UInt64, _ code: UInt64) -> CBOR {
        map(("err", map(("group", .unsigned(group)), ("rc", .unsigned(code)))))
    }

    struct Command: Sendable, CustomStringConvertible {
        var what: String
        var operation: UInt8
        var group: UInt16
        var command: UInt8
        var request = MCUManagerTests.map()
        var response: CBOR
        /// The response to a client of the original protocol, if it is another.
        var original: CBOR?

        var description: String { what }
    }

    static func slot(_ number: UInt64) -> CBOR {
        map(("slot", .unsigned(number)), ("size", .unsigned(1 << 20)))
    }
    static let head = CBOR.bytes(Array(image().prefix(64)))

    static let commands = [
        Command(
            what: "echo", operation: 2, group: 0, command: 0, request: map(("d", .text("hé"))),
            response: map(("r", .text("hé")))),
        Command(
            what: "echo as a read", operation: 0, group: 0, command: 0, request: map(("d", .text(""))),
            response: map(("r", .text("")))),
        Command(what: "echo of nothing", operation: 2, group: 0, command: 0, response: status(3)),
        Command(
            what: "echo of a number", operation: 2, group: 0, command: 0, request: map(("d", .unsigned(1))),
            response: status(3)),
        Command(
            what: "parameters", operation: 0, group: 0, command: 6,
            response: map(("buf_size", .unsigned(2475)), ("buf_count", .unsigned(4)))),
        Command(what: "reset", operation: 2, group: 0, command: 5, response: map()),
        Command(what: "reset as a read", operation: 0, group: 0, command: 5, response: status(8)),
        Command(
            what: "information", operation: 0, group: 0, command: 7, response: map(("output", .text("Mynah")))
        ),
        Command(
            what: "information in an unknown format", operation: 0, group: 0, command: 7,
            request: map(("format", .text("z"))), response: error(0, 2), original: status(3)),
        Command(
            what: "bootloader", operation: 0, group: 0, command: 8,
            response: map(("bootloader", .text("MCUboot")))),
        Command(
            what: "the bootloader's mode", operation: 0, group: 0, command: 8,
            request: map(("query", .text("mode"))), response: map(("mode", .unsigned(3)))),
        Command(
            what: "an unknown query", operation: 0, group: 0, command: 8,
            request: map(("query", .text("color"))), response: error(0, 3), original: status(5)),
        Command(what: "task statistics", operation: 0, group: 0, command: 2, response: status(8)),
        Command(what: "an unknown group", operation: 0, group: 9, command: 0, response: status(8)),
        Command(what: "a response", operation: 1, group: 0, command: 0, response: status(8)),
        Command(
            what: "slots", operation: 0, group: 1, command: 6,
            response: map(
                ("images", .array([map(("image", .unsigned(0)), ("slots", .array([slot(0), slot(1)])))])))),
        Command(
            what: "upload without an offset", operation: 2, group: 1, command: 1,
            request: map(("data", head)),
            response: error(1, 20), original: status(3)),
        Command(
            what: "upload without a length", operation: 2, group: 1, command: 1,
            request: map(("off", .unsigned(0)), ("data", head)), response: error(1, 21), original: status(3)),
        Command(
            what: "upload of less than a header", operation: 2, group: 1, command: 1,
            request: map(
                ("off", .unsigned(0)), ("len", .unsigned(31)),
                ("data", .bytes([UInt8](repeating: 1, count: 31)))),
            response: error(1, 22), original: status(3)),
        Command(
            what: "upload of anything", operation: 2, group: 1, command: 1,
            request: map(
                ("off", .unsigned(0)), ("len", .unsigned(64)),
                ("data", .bytes([UInt8](repeating: 1, count: 64)))),
            response: error(1, 23), original: status(1)),
        Command(
            what: "upload with half a hash", operation: 2, group: 1, command: 1,
            request: map(
                ("off", .unsigned(0)), ("len", .unsigned(64)), ("data", head), ("sha", .bytes([1]))),
            response: error(1, 24), original: status(3)),
        Command(
            what: "upload of another image", operation: 2, group: 1, command: 1,
            request: map(
                ("image", .unsigned(2)), ("off", .unsigned(0)), ("len", .unsigned(64)), ("data", head)),
            response: error(1, 9), original: status(6)),
        Command(
            what: "upload that is too large", operation: 2, group: 1, command: 1,
            request: map(("off", .unsigned(0)), ("len", .unsigned(1 << 20 + 1)), ("data", head)),
            response: error(1, 30), original: status(1)),
        Command(
            what: "upload of more than its length", operation: 2, group: 1, command: 1,
            request: map(("off", .unsigned(0)), ("len", .unsigned(63)), ("data", head)),
            response: error(1, 31), original: status(1)),
        Command(
            what: "upload in the middle of nothing", operation: 2, group: 1, command: 1,
            request: map(("off", .unsigned(100)), ("data", head)), response: map(("off", .unsigned(0)))),
        Command(
            what: "upload at a negative offset", operation: 2, group: 1, command: 1,
            request: map(("off", .negative(0)), ("data", head)), response: status(3)),
        Command(what: "upload as a read", operation: 0, group: 1, command: 1, response: status(8)),
        Command(what: "erase", operation: 2, group: 1, command: 5, response: map()),
        Command(
            what: "erase what runs", operation: 2, group: 1, command: 5, request: map(("slot", .unsigned(0))),
            response: error(1, 9), original: status(6)),
        Command(
            what: "erase a slot that is not there", operation: 2, group: 1, command: 5,
            request: map(("slot", .unsigned(2))), response: error(1, 14), original: status(3)),
        Command(
            what: "test without a hash", operation: 2, group: 1, command: 0, response: error(1, 24),
            original: status(3)),
        Command(
            what: "test an unknown hash", operation: 2, group: 1, command: 0,
            request: map(("hash", .bytes([UInt8](repeating: 9, count: 32)))), response: error(1, 8),
            original: status(1)),
        Command(
            what: "a hash that is a text", operation: 2, group: 1, command: 0,
            request: map(("hash", .text("abc"))), response: status(3)),
    ]

    @Test(arguments: commands)
    func `each command has its response, by the version of its request`(_ command: Command) throws {
        for version: UInt8 in [0, 1] {
            var rig = Rig()
            let response = try rig.ask(
                command.operation, command.group, command.command, command.request, version: version)
            #expect(response == (version == 0 ? command.original : nil) ?? command.response)
        }
    }

    @Test func `a request of a later version, or without a map, is refused`() throws {
        var rig = Rig()
        for version: UInt8 in [2, 3] {
            #expect(try rig.ask(2, 0, 0, Self.map(("d", .text("a"))), version: version) == Self.status(13))
        }
        for raw: [UInt8] in [[0x00], [0xA1], [0xBF], [0x80], [0xA0, 0x00], [0xF6]] {
            #expect(try rig.ask(0, 1, 0, raw: raw) == Self.status(3), "\(raw)")
        }
        // No data at all is an empty map.
        #expect(try rig.ask(0, 0, 8, raw: []) == Self.map(("bootloader", .text("MCUboot"))))
    }

    // MARK: Pieces

    @Test(arguments: [20, 182, 244, 512])
    func `a request comes in pieces of any length, and its response goes out in those of the link`(
        length: Int
    ) throws {
        var rig = Rig()
        rig.service.longest = length
        let text = CBOR.text(String(repeating: "x", count: 2400))
        let header = ManagementHeader(operation: 2, group: 0, command: 0)
        let request = header.frame(Self.map(("d", text)).encoded)
        let response = header.response.frame(Self.map(("r", text)).encoded)
        for piece in [1, 3, 7, 8, 9, 20, 100, 512, 2475] {
            var all: [UInt8] = []
            for start in stride(from: 0, to: request.count, by: piece) {
                all += rig.write(Array(request[start..<min(start + piece, request.count)]))
            }
            #expect(all == response, "pieces of \(piece)")
            // Only the last piece is shorter.
            let rest = response.count % length
            let pieces = [Int](repeating: length, count: response.count / length) + (rest == 0 ? [] : [rest])
            #expect(rig.lengths == pieces)
        }
        // Two and a half in one write.
        #expect(rig.write(request + request + request.prefix(50)) == response + response)
        #expect(rig.write(Array(request.dropFirst(50))) == response)
    }

    @Test func `a request that is too long is refused and skipped, and the next one is read`() throws {
        for length in [2468, 5000, 65_535] {
            var rig = Rig()
            let tooLong: [UInt8] = [
                0x0A, 0, UInt8(length >> 8), UInt8(length & 0xFF), 0, 0, 7, 0,
            ]
            let sent = rig.write(tooLong)
            #expect(sent == [0x0B, 0, 0, 6 - 1, 0, 0, 7, 0] + Self.status(2).encoded)
            for start in stride(from: 0, to: length, by: 500) {
                #expect(rig.write([UInt8](repeating: 0, count: min(500, length - start))) == [])
            }
            #expect(try rig.ask(2, 0, 0, Self.map(("d", .text("a")))) == Self.map(("r", .text("a"))))
        }
    }

    @Test func `each central has its own pieces, and loses them with its link`() throws {
        var rig = Rig()
        let request = ManagementHeader(operation: 0, group: 0, command: 6).frame([0xA0])
        #expect(rig.write(Array(request.prefix(5))) == [])
        #expect(rig.write(request, by: TestService.other) != [])
        #expect(rig.write(Array(request.dropFirst(5))) != [])
        #expect(rig.write(Array(request.prefix(5))) == [])
        rig.manager.disconnected(TestService.phone)
        #expect(rig.write(request) != [])
    }

    @Test func `hostile bytes are answered, or wait, and hold nothing up`() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<300 {
            var rig = Rig()
            for _ in 0..<20 {
                var bytes = (0..<Int(random.next() % 60)).map { _ in UInt8(truncatingIfNeeded: random.next())
                }
                if bytes.count > 8, random.next() % 2 == 0 {
                    // A header that fits.
                    bytes.replaceSubrange(
                        0..<8,
                        with: [
                            UInt8(random.next() % 4), 0, 0, UInt8(bytes.count - 8), 0,
                            UInt8(random.next() % 2), 0,
                        ])
                }
                _ = rig.write(bytes)
            }
            rig.manager.disconnected(TestService.phone)
            #expect((try? rig.list())?.isEmpty == false)
        }
    }

    // MARK: Images

    @Test func `an uploaded image is known by the hash in its TLVs`() throws {
        let image = Self.image()
        var rig = try Rig.uploaded(image)
        guard case .array(let images)? = try rig.ask(0, 1, 0)["images"] else {
            Issue.record("no list")
            return
        }
        #expect(images.count == 2)
        #expect(images[1]["slot"]?.integer == 1)
        #expect(images[1]["version"]?.string == "2.1.3.4")
        #expect(images[1]["hash"]?.octets == Self.hash(of: image))
        #expect(images[1]["bootable"]?.flag == true)
        #expect(try rig.list() == ["1.0.0 confirmed active", "2.1.3.4"])
        #expect(try rig.ask(2, 1, 5) == Self.map())
        #expect(try rig.list() == ["1.0.0 confirmed active"])
    }

    @Test func `an image without a hash is known by that of its content`() throws {
        let image = Self.image(hasHash: false)
        var rig = try Rig.uploaded(image)
        #expect(rig.manager.slots.secondary?.hash == SHA256.digest(image))
        #expect(rig.manager.slots.secondary?.isValid == true)
        _ = try rig.ask(2, 1, 0, Self.map(("hash", .bytes(SHA256.digest(image)))))
        #expect(try rig.list() == ["1.0.0 confirmed active", "2.1.3.4 pending"])
    }

    @Test func `an interrupted upload goes on where it was, with the same hash`() throws {
        let image = Self.image(body: 2000)
        var rig = Rig()
        _ = try rig.upload(image, upTo: 700)
        rig.manager.disconnected(TestService.phone)
        // The first chunk again is answered with the offset of the next one.
        let first = Self.map(
            ("off", .unsigned(0)), ("len", .unsigned(UInt64(image.count))),
            ("sha", .bytes(SHA256.digest(image))), ("data", .bytes(Array(image.prefix(64)))))
        #expect(try rig.ask(2, 1, 1, first) == Self.map(("off", .unsigned(700))))
        // So is any chunk but that one, and nothing of it is taken.
        for offset: UInt64 in [1, 600, 701, 5000, .max] {
            let chunk = Self.map(("off", .unsigned(offset)), ("data", .bytes([1, 2, 3])))
            #expect(try rig.ask(2, 1, 1, chunk) == Self.map(("off", .unsigned(700))), "\(offset)")
        }
        #expect(try rig.upload(image)["match"]?.flag == true)
        #expect(rig.manager.slots.secondary?.hash == Self.hash(of: image))
    }

    @Test func `without a hash, with another one and after a reset an upload begins anew`() throws {
        let image = Self.image(body: 2000)
        var rig = Rig()
        _ = try rig.upload(image, upTo: 700, sha: false)
        #expect(try rig.upload(image, upTo: 100, sha: false)["off"]?.integer == 100)
        #expect(try rig.upload(image, upTo: 100)["off"]?.integer == 100)
        #expect(try rig.upload(Self.image(body: 1999), upTo: 100)["off"]?.integer == 100)
        try rig.reset()
        #expect(try rig.upload(Self.image(body: 1999), upTo: 100)["off"]?.integer == 100)
        #expect(try rig.upload(image, sha: false) == Self.map(("off", .unsigned(UInt64(image.count)))))
    }

    @Test func `a chunk beyond the end ends the upload`() throws {
        let image = Self.image(body: 2000)
        var rig = Rig()
        _ = try rig.upload(image, upTo: 700)
        let chunk = CBOR.bytes([UInt8](repeating: 0, count: 1400))
        #expect(try rig.ask(2, 1, 1, Self.map(("off", .unsigned(700)), ("data", chunk))) == Self.error(1, 31))
        #expect(
            try rig.ask(2, 1, 1, Self.map(("off", .unsigned(700)), ("data", .bytes([1]))))
                == Self.map(("off", .unsigned(0))))
    }

    @Test func `an upload that is not as its hash says does not match`() throws {
        var image = Self.image()
        var rig = Rig()
        _ = try rig.upload(image, upTo: 300)
        image[320] ^= 1
        let rest = Self.map(("off", .unsigned(300)), ("data", .bytes(Array(image[300...]))))
        let last = try rig.ask(2, 1, 1, rest)
        #expect(last == Self.map(("off", .unsigned(UInt64(image.count))), ("match", .boolean(false))))
    }

    @Test(arguments: [
        ([1, 0, 0, 0], false), ([0, 9, 9, 9], false), ([1, 0, 1, 0], true), ([2, 0, 0, 0], true),
    ])
    func `an upgrade has to be newer than what runs`(version: [UInt8], isNewer: Bool) throws {
        let image = Self.image(version: version + [9, 0, 0, 0])
        var rig = Rig()
        let request = Self.map(
            ("off", .unsigned(0)), ("len", .unsigned(UInt64(image.count))), ("upgrade", .boolean(true)),
            ("data", .bytes(Array(image.prefix(64)))))
        #expect(
            try rig.ask(2, 1, 1, request) == (isNewer ? Self.map(("off", .unsigned(64))) : Self.error(1, 27)))
    }

    /// A state of the slots, and what each request makes of it.
    struct State: Sendable, CustomStringConvertible {
        var description: String
        /// Tests or confirms the second image, or resets.
        var steps: [Step]
        var list: [String]
        /// The response to each request in this state, or `nil` for the list.
        var refusals: [Step: UInt64]
        /// The list after each request.
        var after: [Step: [String]]
    }

    enum Step: CaseIterable, Sendable {
        case testActive, confirmActive, confirmRunning, testOther, confirmOther, erase, upload, reset
    }

    static let old = "1.0.0", new = "2.1.3.4"
    static let states = [
        State(
            description: "an image has come", steps: [],
            list: ["\(old) confirmed active", new],
            refusals: [.testActive: 33],
            after: [
                .testOther: ["\(old) confirmed active", "\(new) pending"],
                .confirmOther: ["\(old) confirmed active", "\(new) pending permanent"],
                .erase: ["\(old) confirmed active"], .upload: ["\(old) confirmed active"],
            ]),
        State(
            description: "it is to be tested", steps: [.testOther],
            list: ["\(old) confirmed active", "\(new) pending"],
            refusals: [
                .testActive: 33, .confirmActive: 28, .confirmRunning: 28, .confirmOther: 28, .erase: 9,
                .upload: 9,
            ],
            after: [.reset: ["\(new) active", "\(old) confirmed"]]),
        State(
            description: "it is to stay", steps: [.confirmOther],
            list: ["\(old) confirmed active", "\(new) pending permanent"],
            refusals: [
                .testActive: 33, .confirmActive: 28, .confirmRunning: 28, .testOther: 28, .erase: 9,
                .upload: 9,
            ],
            after: [.reset: ["\(new) confirmed active", old]]),
        State(
            description: "it is tested", steps: [.testOther, .reset],
            list: ["\(new) active", "\(old) confirmed"],
            refusals: [.testActive: 33, .testOther: 28, .erase: 9, .upload: 9],
            after: [
                .confirmActive: ["\(new) confirmed active", old],
                .confirmRunning: ["\(new) confirmed active", old],
                .reset: ["\(old) confirmed active", new],
            ]),
        State(
            description: "it was confirmed", steps: [.testOther, .reset, .confirmRunning],
            list: ["\(new) confirmed active", old],
            refusals: [.testActive: 33],
            after: [
                .testOther: ["\(new) confirmed active", "\(old) pending"],
                .confirmOther: ["\(new) confirmed active", "\(old) pending permanent"],
                .erase: ["\(new) confirmed active"], .upload: ["\(new) confirmed active"],
            ]),
    ]

    /// Carries out a step; returns the code of its error.
    static func carryOut(_ step: Step, _ rig: inout Rig) throws -> UInt64? {
        let (active, other) = (rig.manager.slots.primary.hash, rig.manager.slots.secondary?.hash ?? [])
        let response: CBOR
        switch step {
        case .testActive: response = try rig.ask(2, 1, 0, map(("hash", .bytes(active))))
        case .confirmActive:
            response = try rig.ask(2, 1, 0, map(("hash", .bytes(active)), ("confirm", .boolean(true))))
        case .confirmRunning: response = try rig.ask(2, 1, 0, map(("confirm", .boolean(true))))
        case .testOther:
            response = try rig.ask(2, 1, 0, map(("hash", .bytes(other)), ("confirm", .boolean(false))))
        case .confirmOther:
            response = try rig.ask(2, 1, 0, map(("hash", .bytes(other)), ("confirm", .boolean(true))))
        case .erase: response = try rig.ask(2, 1, 5)
        case .upload:
            let start = Array(image(body: 999).prefix(64))
            response = try rig.ask(
                2, 1, 1, map(("off", .unsigned(0)), ("len", .unsigned(2000)), ("data", .bytes(start))))
        case .reset:
            try rig.reset()
            return nil
        }
        return response["err"]?["rc"]?.integer
    }

    @Test(arguments: states)
    func `each request changes the slots, or is refused, by their state`(_ state: State) throws {
        for step in Step.allCases {
            var rig = try Rig.uploaded()
            for each in state.steps { #expect(try Self.carryOut(each, &rig) == nil) }
            #expect(try rig.list() == state.list)
            #expect(try Self.carryOut(step, &rig) == state.refusals[step], "\(step)")
            #expect(try rig.list() == state.after[step] ?? state.list, "\(step)")
        }
    }

    @Test func `an image that is not as its own hash says, or cannot boot, is erased at the start`() throws {
        for image in [
            Self.image(hash: [UInt8](repeating: 7, count: 32)), Self.image(flags: 0x10),
            Array(Self.image(hasHash: false).dropLast()),
        ] {
            var rig = Rig()
            #expect(try rig.upload(image)["match"]?.flag == true)
            #expect(try Self.carryOut(.testOther, &rig) == nil)
            try rig.reset()
            #expect(try rig.list() == ["1.0.0 confirmed active"])
        }
    }

    @Test func `a device that is reset by a test has its first image`() throws {
        var rig = try Rig.uploaded()
        _ = rig.manager.begin(rig.service)
        #expect(try rig.list() == ["1.0.0 confirmed active"])
    }
}
