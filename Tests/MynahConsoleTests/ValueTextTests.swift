import MynahCore
import MynahEmulator
import MynahSupport
import MynahTestSupport
import MynahValues
import Testing

@testable import MynahConsole

@Suite struct ValueTextTests {
    private static func text(_ uuid: UInt16, _ hex: String) -> ValueText {
        let bytes = Hex.decode(hex) ?? []
        return ValueText(bytes, KnownLayouts.layout(of: BluetoothUUID(uuid))?.decode(bytes))
    }

    @Test(
        arguments: [
            (0x2A37, "0648", "0648  72 bpm, contact", "72 bpm, contact"),
            (0x2A37, "0448", "0448  72 bpm, no contact", "72 bpm, no contact"),
            (0x2A37, "1048AA02", "1048AA02  72 bpm, RR intervals 0.666 s", "72 bpm, RR intervals 0.666 s"),
            (0x2A38, "01", "01  chest", "chest"), (0x2A19, "64", "64  100 %", "100 %"),
            (0x2A1C, "006E0100FF", "006E0100FF  36.6 °C", "36.6 °C"),
            (0x2A1C, "00FFFF7F00", "00FFFF7F00  not a number", "not a number"),
            // Text is quoted once.
            (0x2A24, "4D79", "4D79 \"My\"", "\"My\""),
            (0x2A24, "43616666C3A9", "43616666C3A9 \"Caffé\"", "\"Caffé\""),
            (0xFFF1, "4D79", "4D79 \"My\"", "\"My\""), (0xFFF1, "41", "41", "41"),
            (0x2A24, "1B5B324A", "1B5B324A \"\u{FFFD}[2J\"", "\"\u{FFFD}[2J\""),
            // Fields are no text, even if all bytes are printable.
            (0x2A6E, "4141", "4141  167.05 °C", "167.05 °C"),
            // A value that does not fit its layout has only bytes.
            (0x2A37, "01", "01", "01"), (0x2A19, "", "(empty)", "(empty)"),
            (0x2A24, "", "(empty)", "(empty)"),
        ] as [(UInt16, String, String, String)])
    func `a value has its fields beside its bytes`(uuid: UInt16, hex: String, text: String, brief: String) {
        let value = Self.text(uuid, hex)
        #expect(value.text == text)
        #expect(value.brief == brief)
    }

    @Test func `many bytes are cut, and counted`() {
        let value = ValueText([UInt8](repeating: 0, count: 40), nil)
        #expect(value.text == String(repeating: "00", count: 32) + "… (40 bytes)")
    }

    @Test func `a value of any bytes has a text and JSON`() throws {
        var generator = SeededGenerator(seed: 5)
        for (number, layout) in KnownLayouts.all {
            for count in 0...40 {
                for _ in 0..<8 {
                    let high = Bool.random(using: &generator)
                    let bytes = (0..<count).map { _ in
                        high
                            ? UInt8.random(in: 0xF0...0xFF, using: &generator)
                            : UInt8.random(in: 0...0xFF, using: &generator)
                    }
                    let fields = layout.decode(bytes)
                    #expect(!ValueText(bytes, fields).text.isEmpty, "\(number)")
                    let json = fields?.json ?? .null
                    #expect(try JSON(parsing: Array(json.text.utf8)).text == json.text, "\(number)")
                }
            }
        }
    }

    private static func event(_ json: String) throws -> DeviceEvent {
        let text = #"{"time": "2026-01-01T12:00:00.000000Z", "event": "notified", "#
        return try #require(DeviceEvent(json: JSON(parsing: Array((text + json).utf8))))
    }

    @Test(arguments: [
        (#""characteristic": "2A37", "value": "0648"}"#, "0648  72 bpm, contact"),
        // As the control API has it: the units are those of the SIG's layout.
        (
            #""characteristic": "2A37", "value": "0648", "fields": {"heartRate": 72, "contact": true}}"#,
            "0648  72 bpm, contact"
        ),
        // A layout that only the device knows.
        (
            #""characteristic": "FFF1", "value": "0102", "fields": {"opcode": 1, "level": 2.5, "on": false,"#
                + #" "list": [1, 2], "none": null, "name": "a\u001b"}}"#,
            "0102  opcode 1, level 2.5, no on, list 1 2, none not a number, name a\u{FFFD}"
        ),
        (
            #""characteristic": "2A19", "value": "01", "fields": {"power": 1}}"#, "01  power 1"
        ),
    ])
    func `an event's fields are those that its device has`(json: String, text: String) throws {
        let event = try Self.event(json)
        #expect(ValueText(event)?.text == text)
        #expect(EventText.detail(of: event).hasSuffix(text))
    }
}
