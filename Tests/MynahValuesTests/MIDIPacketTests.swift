import MynahCore
import Testing

@testable import MynahValues

/// Packets that are worked out by hand from MIDI over Bluetooth Low Energy 1.0a and MIDI 1.0.
@Suite struct MIDIPacketTests {
    static let layout = KnownLayouts.midi

    struct Packet: Sendable, CustomStringConvertible {
        var bytes: [UInt8]
        var timestamps: [Int]
        var messages: String
        /// Whether these fields make the same bytes.
        var isMade = true

        init(_ bytes: [UInt8], _ timestamps: [Int], _ messages: String, isMade: Bool = true) {
            (self.bytes, self.timestamps, self.messages, self.isMade) = (bytes, timestamps, messages, isMade)
        }

        var description: String { messages }
        var fields: [NamedField] {
            (timestamps.isEmpty
                ? [] : [NamedField("timestamps", .list(timestamps.map { .integer($0) }), "ms")])
                + [NamedField("messages", .text(messages))]
        }
    }

    static let packets = [
        // 13 bits: 100101 1010110 is 37 * 128 + 86.
        Packet([0xA5, 0xD6, 0x90, 0x3C, 0x64], [4822], "note on channel 1 note 60 velocity 100"),
        Packet([0x80, 0x80, 0x8F, 0x00, 0x7F], [0], "note off channel 16 note 0 velocity 127"),
        Packet(
            [0x80, 0x81, 0xA1, 0x3C, 0x14], [1], "polyphonic key pressure channel 2 note 60 pressure 20"),
        Packet([0x80, 0x81, 0xB0, 0x07, 0x7F], [1], "control change channel 1 controller 7 value 127"),
        Packet([0xBF, 0xFF, 0xC0, 0x05], [8191], "program change channel 1 program 5"),
        Packet([0x80, 0x81, 0xD0, 0x32], [1], "channel pressure channel 1 pressure 50"),
        // The lower 7 bits come first: 64 * 128 is the middle.
        Packet([0x80, 0x81, 0xE0, 0x00, 0x40], [1], "pitch bend channel 1 value 8192"),
        Packet([0x80, 0x81, 0xF1, 0x23], [1], "quarter frame value 35"),
        Packet([0x80, 0x81, 0xF2, 0x01, 0x02], [1], "song position value 257"),
        Packet([0x80, 0x81, 0xF3, 0x03], [1], "song select song 3"),
        Packet(
            [0x80, 0x81, 0xF6, 0x81, 0xF8, 0x82, 0xFA, 0x82, 0xFB, 0x82, 0xFC, 0x82, 0xFE, 0x83, 0xFF],
            [1, 1, 2, 2, 2, 2, 3],
            "tune request; timing clock; start; continue; stop; active sensing; system reset"),
        // The lower part wraps from 127 to 1, and adds 1 to the upper one; the second status is left out.
        Packet(
            [0x81, 0xFF, 0x90, 0x3C, 0x64, 0x81, 0x40, 0x64], [255, 257],
            "note on channel 1 note 60 velocity 100; note on channel 1 note 64 velocity 100"),
        // So it does at the end of the clock.
        Packet([0xBF, 0xFF, 0xF8, 0x80, 0xF8], [8191, 0], "timing clock; timing clock"),
        // Real time leaves the running status as it is.
        Packet(
            [0x80, 0x81, 0x90, 0x3C, 0x64, 0x82, 0xF8, 0x83, 0x3C, 0x00], [1, 2, 3],
            "note on channel 1 note 60 velocity 100; timing clock; note on channel 1 note 60 velocity 0"),
        // A message with the running status may have the timestamp of the one before it.
        Packet(
            [0x80, 0x81, 0x90, 0x3C, 0x64, 0x40, 0x64], [1, 1],
            "note on channel 1 note 60 velocity 100; note on channel 1 note 64 velocity 100", isMade: false),
        // A status that could be left out, and a running status after a system common message.
        Packet(
            [0x80, 0x81, 0xC0, 0x01, 0x81, 0xC0, 0x02, 0x81, 0xF6, 0x81, 0x03], [1, 1, 1, 1],
            "program change channel 1 program 1; program change channel 1 program 2; tune request; "
                + "program change channel 1 program 3", isMade: false),
        Packet(
            [0x80, 0x81, 0xF0, 0x7E, 0x7F, 0x09, 0x01, 0x81, 0xF7], [1, 1],
            "system exclusive 7E 7F 09 01; end of exclusive"),
        // It goes on in the next packet, without a timestamp, and real time may come between.
        Packet(
            [0x80, 0x01, 0x02, 0x85, 0xF8, 0x03, 0x85, 0xF7], [5, 5, 5],
            "exclusive data 01 02; timing clock; exclusive data 03; end of exclusive", isMade: false),
    ]

    @Test(arguments: packets)
    func `a packet has timestamps and messages`(_ packet: Packet) throws {
        // The rest of a message of an earlier packet has no timestamp of its own.
        let text = packet.messages
        let fields = try #require(Self.layout.decode(packet.bytes))
        #expect(fields == packet.fields)
        #expect(fields.last?.value == .text(text))
        if packet.isMade { #expect(try Self.layout.encode(packet.fields) == packet.bytes) }
    }

    @Test(
        arguments: [
            [0x00], [0x80], [0xC0, 0x80, 0xF8], [0x80, 0x80], [0x80, 0x80, 0x90], [0x80, 0x80, 0x90, 0x3C],
            [0x80, 0x80, 0x90, 0x3C, 0x80], [0x80, 0x80, 0x3C, 0x40], [0x80, 0x80, 0xF4], [0x80, 0x80, 0xFD],
            [0x80, 0x80, 0xF6, 0x01], [0x80, 0x80, 0xF8, 0x80, 0x3C],
        ] as [[UInt8]])
    func `bytes that are no packet have no fields`(_ bytes: [UInt8]) {
        #expect(Self.layout.decode(bytes) == nil)
    }

    @Test func `the layout is that of the characteristic`() {
        #expect(KnownLayouts.layout(of: "7772E5DB-3868-4112-A1A9-F2669D106BF3") == Self.layout)
    }

    @Test func `no bytes have no fields, and any others none or some`() {
        #expect(Self.layout.decode([]) == [])
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 1...12)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = Self.layout.decode([0x80] + bytes)
        }
    }

    @Test func `a timestamp is 0 unless it is given, and wraps`() throws {
        func packet(_ messages: String, _ timestamps: [FieldValue]?) throws -> [UInt8] {
            let times = timestamps.map { [NamedField("timestamps", .list($0))] } ?? []
            return try Self.layout.encode(times + [NamedField("messages", .text(messages))])
        }
        #expect(try packet("start", nil) == [0x80, 0x80, 0xFA])
        #expect(try packet("start", [.integer(8192 + 129)]) == [0x81, 0x81, 0xFA])
        let problems: [(String, [FieldValue]?, String)] = [
            ("", nil, "messages is empty"), ("note on", nil, "note on channel NUMBER note NUMBER"),
            ("note on channel 17 note 1 velocity 1", nil, "channel is 17, and must be 1 to 16"),
            ("note on channel 1 note 128 velocity 1", nil, "note is 128, and must be 0 to 127"),
            ("pitch bend channel 1 value 16384", nil, "must be 0 to 16383"),
            ("note one channel 1", nil, "is no MIDI message"), ("system exclusive 80", nil, "below 80"),
            ("start; stop", [.integer(1)], "for each message: 2"), ("start", [.integer(-1)], "0 or more"),
            ("start; stop", [.integer(0), .integer(128)], "at most 127 ms"),
        ]
        for (messages, timestamps, text) in problems {
            let error = #expect(throws: LayoutProblem.self) { try packet(messages, timestamps) }
            #expect(error?.message.contains(text) == true, "\(messages): \(error?.message ?? "")")
        }
    }
}
