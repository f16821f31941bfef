import MynahDBus
import Testing

@Suite(.timeLimit(.minutes(15))) struct ValueTests {
    static let values: [DBusValue] = [
        .byte(0xFF), .bool(true), .bool(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max),
        .int64(.min), .uint64(.max), .double(-0.5), .string(""), .string("Grüße 🐦"),
        .objectPath("/org/bluez/hci0"),
        .signature("a{sv}(ii)"), .signature(""), .bytes([]), .bytes(Array(0...255)), .strings([]),
        .strings(["read", "notify"]), .array(of: "ay", [.bytes([1]), .bytes([])]),
        .array(of: "(sb)", [.structure(["a", true])]), .options([:]),
        .options(["UUID": "180d", "Handle": .uint16(0), "Value": .bytes([1, 2])]),
        .dictionary(key: "q", value: "v", [.init(.uint16(0x59), .variant(.bytes([1, 2, 3])))]),
        .dictionary(key: "o", value: "a{sa{sv}}", []),
        .structure([.byte(1), "x", .structure([.uint64(1), .variant(.bytes([9]))])]),
        .variant(.variant(.variant("deep"))), .objectPaths(["/", "/a"]),
        .array(of: "v", [.variant("a"), .variant(.byte(1))]),
    ]

    @Test func `every type travels there and back`() async throws {
        let pair = try await Pair()
        for value in Self.values {
            let answer = try await pair.call("EchoVariant") { $0.append(.variant(value)) }.values()
            #expect(answer == [.variant(value)])
        }
    }

    @Test func `values keep a signature that fits`() {
        let signatures = [
            "y", "b", "b", "n", "q", "i", "u", "x", "t", "d", "s", "s", "o", "g", "g", "ay", "ay", "as", "as",
            "aay",
            "a(sb)", "a{sv}", "a{sv}", "a{qv}", "a{oa{sa{sv}}}", "(ys(tv))", "v", "ao", "av",
        ]
        #expect(Self.values.map(\.signature) == signatures)
    }

    static let wrong: [DBusValue] = [
        .string("a\0b"), .signature("a"), .signature("nope!"), .array(of: "s", [.byte(1)]),
        .array(of: "", []),
        .array(of: "ss", []), .array(of: "!", []), .dictionary(key: "v", value: "s", []),
        .dictionary(key: "s", value: "v", [.init("a", "not in a variant")]),
        .dictionary(key: "s", value: "", []), .structure([]), .variant(.structure([])),
        .array(of: "y", [.string("a")]), .signature(String(repeating: "y", count: 256)),
        .structure(Array(repeating: .byte(0), count: 300)),
        (0..<40).reduce(DBusValue.byte(1)) { inner, _ in .structure([inner]) },
        (0..<40).reduce(DBusValue.byte(1)) { inner, _ in .variant(inner) },
        .fileDescriptor(DBusFileDescriptor(owning: -1)),
    ]

    @Test func `a value that cannot travel is an error, and harms nothing`() async throws {
        let pair = try await Pair()
        for value in Self.wrong {
            let failure = await error { () async throws(DBusError) in
                _ = try await pair.call("EchoVariant") { $0.append(.variant(value)) }
            }
            #expect(failure != nil, "\(value)")
        }
        // The same in an answer becomes an error there.
        pair.object.answer { $0.reply(.string("a\0b")) }
        #expect(await error { () async throws(DBusError) in _ = try await pair.call("Nothing") } != nil)
        pair.object.answer { $0.reply() }
        _ = try await pair.call("Nothing")
    }

    @Test func `a value is looked at by type`() {
        let options = DBusValue.options([
            "mtu": .uint16(247), "link": "LE", "device": .objectPath("/d"), "on": true,
        ])
        #expect(options["mtu"]?.integer(as: UInt16.self) == 247)
        #expect(options["mtu"]?.integer(as: UInt8.self) == 247)
        #expect(options["mtu"]?.integer(as: Int8.self) == nil)
        #expect(options["mtu"]?.stringValue == nil)
        #expect(options["link"]?.stringValue == "LE")
        #expect(options["device"]?.objectPathValue == "/d")
        #expect(options["on"]?.boolValue == true)
        #expect(options["none"] == nil)
        #expect(DBusValue.bytes([1, 2]).arrayValue == [.byte(1), .byte(2)])
        #expect(DBusValue.strings(["a"]).stringsValue == ["a"])
    }

    @Test func `a reader refuses what is of another type, and tells what it found`() async throws {
        let pair = try await Pair()
        let message = try await pair.call("EchoVariant") { $0.append(.variant(.uint16(5))) }
        let readings: [@Sendable (inout MessageReader) throws -> Void] = [
            { _ = try $0.readByte() }, { _ = try $0.readBool() }, { _ = try $0.readInt16() },
            { _ = try $0.readUInt16() }, { _ = try $0.readInt32() }, { _ = try $0.readUInt32() },
            { _ = try $0.readInt64() }, { _ = try $0.readUInt64() }, { _ = try $0.readDouble() },
            { _ = try $0.readString() }, { _ = try $0.readObjectPath() }, { _ = try $0.readSignature() },
            { _ = try $0.readBytes() }, { _ = try $0.readFileDescriptor() },
            { try $0.readArray { _ in } }, { try $0.readOptions { _, _ in } },
            { try $0.readStructure { _ in } },
        ]
        for read in readings {
            var reader = message.reader()
            #expect(throws: DBusError.self) { try read(&reader) }
        }
        var reader = message.reader()
        #expect(reader.nextSignature == "v")
        #expect(try reader.readVariant { value throws(DBusError) in try value.readUInt16() } == 5)
        #expect(reader.isAtEnd)
        #expect(throws: DBusError.self) { try reader.readByte() }
        #expect(throws: DBusError.self) { try reader.readValue() }
    }

    @Test func `options are read key by key, and what is not wanted is skipped`() async throws {
        let pair = try await Pair()
        let sent = DBusValue.options([
            "device": .objectPath("/d"), "unknown": .strings(["x"]), "offset": .uint16(3),
        ])
        let message = try await pair.call("EchoVariant") { $0.append(.variant(sent)) }
        var reader = message.reader()
        var found: [String] = []
        var offset: UInt16?
        try reader.readVariant { value throws(DBusError) in
            try value.readOptions { key, value throws(DBusError) in
                found.append(key)
                if key == "offset" { offset = try value.readUInt16() }
            }
        }
        #expect(found == ["device", "unknown", "offset"])
        #expect(offset == 3)
    }
}
