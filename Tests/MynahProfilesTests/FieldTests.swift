import MynahCore
import MynahSupport
import Testing

@testable import MynahProfiles
@testable import MynahValues

/// Values that a profile writes as fields, against bytes that were worked out by hand.
@Suite struct FieldTests {
    static func first(_ text: String) throws -> Profile.Characteristic {
        try #require(try profile(text).services.first?.characteristics.first)
    }

    /// A profile with one characteristic and this value; its line 8 is the value.
    static func typed(_ uuid: String, _ value: String) -> String {
        head(
            "services:\n  - uuid: battery\n    characteristics:\n      - uuid: \(uuid)\n        "
                + "properties: [read, notify]\n        value: \(value)\n")
    }

    static func bytes(_ uuid: String, _ value: String) throws -> String? {
        guard case .bytes(let bytes) = try first(typed(uuid, value)).value else { return nil }
        return Hex.encode(bytes)
    }

    static func generator(
        _ uuid: String, _ value: String, seed: UInt64 = 1, every: Duration = .seconds(1), start: Int64? = nil
    ) throws -> any ValueGenerator {
        guard case .generated(let definition) = try first(typed(uuid, value)).value else {
            throw NotGenerated()
        }
        return definition.makeGenerator(
            for: GeneratorRun(seed: seed, interval: every, start: start ?? GeneratorRun.repeatableStart))
    }

    struct NotGenerated: Error {}

    @Test(
        "constants are scaled to the layout's resolution and unit",
        arguments: [
            ("2A37", "{fields: {heartRate: 72, contact: true}}", "0648"),
            ("2A37", "{fields: {heartRate: 300 bpm}}", "012C01"),
            // 850 and 832 parts of 1024 in a second.
            ("2A37", "{fields: {heartRate: 0x48, rrIntervals: [0.83 s, 812.5 ms]}}", "104852034003"),
            ("2A38", "{fields: {location: chest}}", "01"), ("2A38", "{fields: {location: 254}}", "FE"),
            ("2A19", "{fields: {level: 50%}}", "32"), ("2A07", "{fields: {txPowerLevel: -4 dBm}}", "FC"),
            ("2A1C", "{fields: {temperature: 36.6 °C}}", "006E0100FF"),
            // Fahrenheit is a unit of its own there, and converted where it is not.
            ("2A1C", "{fields: {temperature: 98.6 °F}}", "01DA0300FF"),
            ("2A6E", "{fields: {temperature: 77 °F}}", "C409"),
            ("2A6E", "{fields: {temperature: 268.15 K}}", "0CFE"),
            ("2A6D", "{fields: {pressure: 1013.453 hPa}}", "CD760F00"),
            // 25 km/h are 2500 hundredths.
            ("2AD2", "{fields: {instantaneousSpeed: 25 km/h}}", "0000C409"),
            ("2AD2", "{fields: {instantaneousSpeed: 10 m/s}}", "0000100E"),
            ("2A21", "{fields: {measurementInterval: 2 min}}", "7800"),
            ("2A1C", "{fields: {temperature: nan}}", "00FFFF7F00"),
            ("2A29", "{fields: {manufacturerName: 2901}}", "32393031"),
            ("2A08", "{fields: {dateTime: 2026-01-31T12:05:09Z}}", "EA07011F0C0509"),
            ("2A52", "{fields: {opcode: response code, operator: 0, operand: 01 06}}", "06000106"),
        ])
    func constants(uuid: String, value: String, bytes: String) throws {
        #expect(try Self.bytes(uuid, value) == bytes)
    }

    private static let nordic = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"

    @Test(
        "a layout is written down with types, bits, counts, conditions, units and resolutions",
        arguments: [
            (
                "{layout: [{opcode: uint8}, {level: uint16}, {temperature: medfloat16, when: opcode == 2}, "
                    + "{name: utf8}], fields: {opcode: 1, level: 258, name: ab}}", "0102016162"
            ),
            (
                "{layout: [{opcode: uint8}, {temperature: medfloat16, when: opcode == 2}], "
                    + "fields: {opcode: 2, temperature: 36.6}}", "026EF1"
            ),
            (
                "{layout: [{flags: [contact, wet]}, {rate: uint16, bigEndian: true}], "
                    + "fields: {wet: true, rate: 258}}", "020102"
            ),
            (
                "{layout: [{flags: [wet]}, {rate: uint8, when: wet == true}], fields: {wet: true, rate: 7}}",
                "0107"
            ),
            (
                "{layout: [{n: uint8}, {list: sint8, count: n}, {end: uint8}], fields: "
                    + "{list: [-1, 2], end: 3}}",
                "02FF0203"
            ),
            ("{layout: [{list: uint16, count: rest}], fields: {list: [1, 2]}}", "01000200"),
            (
                "{layout: [{list: uint16, count: 2}, {end: uint8}], fields: {list: [1, 2], end: 3}}",
                "0100020003"
            ),
            ("{layout: [{id: bytes, count: 3}, {end: uint8}], fields: {id: AB CD EF, end: 3}}", "ABCDEF03"),
            // 101325 Pa are 51325 above 50000, and a field may still be called offset.
            (
                "{layout: [{pressure: uint16, unit: Pa, offset: 50000, bigEndian: true}, {offset: uint8}], "
                    + "fields: {pressure: 1013.25 hPa, offset: 7}}", "C87D07"
            ),
            // Ruuvi's own test vector of data format 5: 22 steps of 2 dBm above -40 in the lower five bits,
            // and 1377 mV above 1.6 V in the others.
            (
                "{layout: [{power: [{txPower: 5, unit: dBm, resolution: 2, offset: -40}, "
                    + "{battery: 11, unit: V, resolution: 0.001, offset: 1.6}], bigEndian: true}], "
                    + "fields: {txPower: 4, battery: 2.977}}", "AC36"
            ),
            ("{layout: [{flags: [on, {level: 3}, off]}], fields: {level: 5, off: true}}", "1A"),
            (
                "{layout: [{speed: uint16, unit: km/h, resolution: 0.01}, {time: uint24, unit: s, "
                    + "resolution: 1/1024}], fields: {speed: 1 m/s, time: 500 ms}}", "6801000200"
            ),
            ("{layout: [{n: uint64}], fields: {n: 18446744073709551615}}", "FFFFFFFFFFFFFFFF"),
            ("{layout: [{n: uint64}], fields: {n: 9223372036854775809}}", "0100000000000080"),
            ("{layout: [{n: sint64}], fields: {n: -9223372036854775808}}", "0000000000000080"),
            ("{layout: [{n: sint64}], fields: {n: 9223372036854775807}}", "FFFFFFFFFFFFFF7F"),
            ("{layout: [{n: sint64}], fields: {n: 9223372036854775806}}", "FEFFFFFFFFFFFF7F"),
            // A float is the nearest one.
            ("{layout: [{n: float32}], fields: {n: 18446744073709551617}}", "0000805F"),
            (
                "{layout: [{pi: float32}, {t: dateTime}], fields: {pi: 1.5, t: \"2026-01-31T12:05:09\"}}",
                "0000C03FEA07011F0C0509"
            ),
        ])
    func layouts(value: String, bytes: String) throws {
        #expect(try Self.bytes(Self.nordic, value) == bytes)
    }

    @Test func `numbers with an offset and in bits are read as they are written`() throws {
        let own = try Self.first(
            Self.typed(
                Self.nordic,
                "{layout: [{level: uint8, offset: 0.5}, {whole: uint16, resolution: 2, offset: -40}, "
                    + "{bits: [on, {low: 3, unit: V, resolution: 0.1, offset: 1.6}]}]}"))
        #expect(
            own.layout?.decode([2, 3, 0, 0x0B]) == [
                .init("level", .number(2.5)), .init("whole", .integer(-34)), .init("on", .boolean(true)),
                .init("low", .number(2.1), "V"),
            ])
    }

    @Test func `a counter with an offset begins there, and wraps at the type's width`() throws {
        let text = "{layout: [{n: uint8, offset: 100}], fields: {n: {generate: counter, by: 2}}}"
        let values = try Self.generator(Self.nordic, text)
        #expect([0, 1, 127, 128].map { values.value(at: $0) } == [[0], [2], [254], [0]])
        let late = "{layout: [{n: uint8, offset: 100}], fields: {n: {generate: counter, from: 103}}}"
        #expect(try Self.generator(Self.nordic, late).value(at: 1) == [4])
    }

    @Test func `a layout alone describes what is written`() throws {
        let own = try Self.first(Self.typed(Self.nordic, "{layout: [{opcode: uint8}, {rest1: bytes}]}"))
        #expect(own.layout?.decode([1, 2])?.map(\.name) == ["opcode", "rest1"])
        #expect(own.layout?.names == ["opcode", "rest1"])
        let written = characteristic(
            "properties: [write]\n        value: {layout: [{opcode: uint8}]}\n")
        #expect(MynahProfilesTests.problems(written) == [])
        let known = try Self.first(Self.typed("2A19", "{hex: 64}"))
        #expect(known.layout == KnownLayouts.layout(of: "2A19"))
        #expect(try Self.first(Self.typed(Self.nordic, "{hex: 64}")).layout == nil)
    }

    @Test func `constants alone are static, and one generator makes the value change`() throws {
        #expect(try Self.bytes("2A19", "{fields: {level: 100}}") == "64")
        #expect(try Self.bytes("2A19", "{fields: {level: {generate: toggle}}}") == nil)
        let generator = try Self.generator(
            "2A37", "{fields: {heartRate: {generate: list, values: [60, 300]}, contact: true}}")
        #expect((0..<3).map { Hex.encode(generator.value(at: $0)) } == ["063C", "072C01", "063C"])
    }

    @Test(
        "a problem of a field or a layout has its place and the nearest name",
        arguments: [
            (
                "2A37", "{fields: {hartRate: 72}}",
                "26: unknown key \"hartRate\" in fields; did you mean \"heartRate\"?"
            ),
            (
                "2A37", "{fields: {heartRate: 70000}}",
                "37: heartRate must be between 0 and 65535 bpm, which uint16 holds, not 70000"
            ),
            (
                "2A6E", "{fields: {temperature: 400 °C}}",
                "39: temperature must be between -327.68 and 327.67 °C, which sint16 holds, not 400 °C"
            ),
            (
                "2A37", "{fields: {heartRate: fast}}",
                "37: heartRate must be a number, as 72 or 0.5 bpm, not \"fast\""
            ),
            (
                "2A37", "{fields: {heartRate: 72, energyExpended: 3 kg}}",
                "57: energyExpended is in kJ, J or kcal, not in \"kg\"; did you mean \"kJ\"?"
            ),
            (
                "2A38", "{fields: {location: cest}}",
                "36: location has no value \"cest\"; did you mean \"chest\"? (it has "
                    + "other, chest, wrist, finger, hand, ear lobe, foot)"
            ),
            ("2A37", "{fields: {contact: true}}", "25: heartRate is missing"),
            ("2A37", "{fields: {contact: 1, heartRate: 72}}", "35: contact must be true or false, not \"1\""),
            (
                "2A37", "{fields: {heartRate: 1, rrIntervals: 0.8 s}}",
                "53: rrIntervals is a list, as in [1, 2], not \"0.8 s\""
            ),
            (
                "3001", "{fields: {level: 1}}",
                "17: the fields of 3001 are not known: describe them, as in layout: [{level: uint8}]"
            ),
            (
                "2A37", "{hex: 00, fields: {heartRate: 1}}",
                "16: a value has one form, and this one has hex and fields"
            ),
            ("3001", "{layout: [{level: uint8}], hex: 00}", "43: a layout is used alone or with fields"),
            ("3001", "{layout: []}", "25: a layout needs at least one field, as in [{level: uint8}]"),
            ("3001", "{layout: [{level: unit8}]}", "34: unknown type \"unit8\"; did you mean \"uint8\"?"),
            (
                "3001", "{layout: [{Level: uint8}]}",
                "27: the name of a field is letters and digits and begins with a small "
                    + "letter, as in targetPower, not \"Level\""
            ),
            ("3001", "{layout: [{a: uint8}, {a: uint8}]}", "39: the layout has the field a twice"),
            (
                "3001", "{layout: [{name: utf8}, {a: uint8}]}",
                "26: name runs to the end of the value, so it must be the last field, "
                    + "or have a count, as in count: length"
            ),
            (
                "3001", "{layout: [{a: uint8, count: rest}, {b: uint8}]}",
                "26: a runs to the end of the value, so it must be the last field, or "
                    + "have a count, as in count: length"
            ),
            (
                "3001", "{layout: [{a: uint8, when: b == 1}, {b: uint8}]}",
                "43: when names \"b\", and no earlier field has that name"
            ),
            (
                "3001", "{layout: [{opcode: uint8}, {b: uint8, when: opcde == 1}]}",
                "60: when names \"opcde\", and no earlier field has that name; did you mean \"opcode\"?"
            ),
            (
                "3001", "{layout: [{a: uint8}, {b: uint8, when: a = 1}]}",
                "55: when must be a field, one of ==, !=, <, <=, > and >=, and a "
                    + "number, as in opcode == 2, not \"a = 1\""
            ),
            (
                "3001", "{layout: [{a: uint8}, {b: utf8, count: c}]}",
                "55: count names \"c\", and no earlier field has that name"
            ),
            (
                "3001", "{layout: [{a: float32}, {b: utf8, count: a}]}",
                "57: count must be rest, a number or a field that is a whole number, and a is none"
            ),
            (
                "3001", "{layout: [{a: uint8, resolution: 0}]}",
                "49: resolution must be a number above 0, as 0.01 or 1/1024, not \"0\""
            ),
            (
                "3001", "{layout: [{a: uint8, offset: much}]}",
                "45: offset must be a number, as -40 or 1.6, not \"much\""
            ),
            ("3001", "{layout: [{a: float32, offset: 1}]}", "39: offset has no effect on a float"),
            ("3001", "{layout: [{a: bytes, count: 0}]}", "44: count must be between 1 and 512, not 0"),
            (
                "3001", "{layout: [{a: bytes, count: 3}], fields: {a: AB CD}}",
                "61: a has 2 of the 3 that its layout counts"
            ),
            (
                "3001", "{layout: [{a: [{b: 33}]}]}",
                "35: the number of bits of b must be between 1 and 32, not 33"
            ),
            (
                "3001", "{layout: [{a: [{b: 4}, c, {d: 32}, {e: 32}]}]}",
                "30: a must have 1 to 64 bits, not 69"
            ),
            (
                "3001", "{layout: [{a: [{b: 3, resolution: 2, offset: -4}]}], fields: {b: 11}}",
                "81: b must be between -4 and 10, which 3 bits holds, not 11"
            ),
            (
                "3001", "{layout: [{n: sint64}], fields: {n: -9223372036854775809}}",
                "52: n must be between -9223372036854775808 and 9223372036854775807, which sint64 holds, not "
                    + "-9223372036854775809"
            ),
            (
                "3001", "{layout: [{a: uint8}, {b: uint8, when: a == 256}]}",
                "55: a is never 256: it is 0 to 255 (uint8)"
            ),
            ("3001", "{layout: [{a: utf8, unit: s}]}", "36: unit has no effect: a is not a number"),
            (
                "3001", "{layout: [{a: uint8, wen: b}]}",
                "26: a field of a layout has one name, and this one has a and wen; "
                    + "known words besides the name are when, count, unit, resolution, offset and bigEndian"
            ),
            (
                "3001", "{layout: [{a: uint8}, {b: uint8, when: a == 2}], fields: {a: 1, b: 2}}",
                "83: b is present only if a == 2"
            ),
            (
                "3001", "{layout: [{a: uint8}, {b: uint8, when: a == 2}], fields: {a: {generate: toggle}}}",
                "77: a cannot be generated: it decides whether there is a field b"
            ),
        ] as [(String, String, String)])
    func problems(uuid: String, value: String, message: String) {
        #expect(
            MynahProfilesTests.problems(Self.typed(uuid, value)) == [
                "8:" + message.replacing(": ", with: ": error: ", maxReplacements: 1)
            ])
    }

    @Test func `a layout has at most 512 fields`() {
        let list = (0..<513).map { "{a\($0): uint8}" }.joined(separator: ", ")
        #expect(
            MynahProfilesTests.problems(Self.typed("3001", "{layout: [\(list)]}")) == [
                "8:25: error: a layout has at most 512 fields, not 513"
            ])
    }

    @Test func `only the value of a characteristic has fields`() {
        let text = characteristic(
            "properties: [read]\n        descriptors: [{uuid: 2901, value: {fields: {a: 1}}}]\n")
        #expect(
            MynahProfilesTests.problems(text) == [
                "8:43: error: only the value of a characteristic of a service has fields"
            ])
    }

    @Test(
        "a number is read with its unit",
        arguments: [
            ("72", 72, nil), ("-4 dBm", -4, "dBm"), ("0x1F", 31, nil), ("36.6°C", 36.6, "°C"),
            ("50%", 50, "%"),
            ("1e3", 1000, nil), ("1e-3 s", 0.001, "s"), ("5 eV", 5, "eV"), (".5 s", 0.5, "s"), ("+2", 2, nil),
        ] as [(String, Double, String?)])
    func numbers(text: String, number: Double, unit: String?) throws {
        let written = try #require(WrittenNumber(text))
        #expect(written.number == number && written.unit == unit)
    }

    @Test(arguments: ["", "s", "-", "1.2.3", "--1", "1e999", "inf", "nan", "0xZZ"])
    func `a text that is no number is none`(text: String) {
        #expect(WrittenNumber(text) == nil)
    }

    @Test func `units of one quantity are converted, exactly if possible`() {
        #expect(Units.convert(830, from: "ms", to: "s") == 0.83)
        #expect(Units.convert(36, from: "km/h", to: "m/s") == 10)
        #expect(Units.convert(212, from: "°F", to: "°C").map { abs($0 - 100) < 1e-9 } == true)
        #expect(Units.convert(9, from: "°F", to: "°C", isDifference: true) == 5)
        #expect(Units.convert(2, from: "h", to: "min") == 120)
        #expect(Units.convert(1, from: "s", to: "m") == nil)
        #expect(Units.convert(1, from: "x", to: "m") == nil)
    }
}
