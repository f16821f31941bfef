import MynahCore
import MynahSupport
import Testing

@testable import MynahValues

/// Values as the SIG's layouts have them, against bytes that were worked out by hand from the GATT
/// Specification Supplement and IEEE 11073-20601.
@Suite struct ValueLayoutTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        var uuid: BluetoothUUID
        var bytes: String
        var fields: [NamedField]
        var text: String

        init(_ uuid: BluetoothUUID, _ bytes: String, _ fields: [NamedField], _ text: String) {
            self.uuid = uuid
            self.bytes = bytes
            self.fields = fields
            self.text = text
        }

        var testDescription: String { "\(uuid) \(bytes)" }
    }

    static let vectors: [Vector] = [
        Vector("2A37", "00 48", [.init("heartRate", .integer(72), "bpm")], "72 bpm"),
        Vector(
            "2A37", "06 48", [.init("heartRate", .integer(72), "bpm"), .init("contact", .boolean(true))],
            "72 bpm, contact"),
        Vector(
            "2A37", "04 48", [.init("heartRate", .integer(72), "bpm"), .init("contact", .boolean(false))],
            "72 bpm, no contact"),
        Vector("2A37", "01 2C 01", [.init("heartRate", .integer(300), "bpm")], "300 bpm"),
        // 850 and 832 parts of 1024 in a second.
        Vector(
            "2A37", "18 48 0C 00 52 03 40 03",
            [
                .init("heartRate", .integer(72), "bpm"), .init("energyExpended", .integer(12), "kJ"),
                .init("rrIntervals", .list([.number(0.8301), .number(0.8125)]), "s"),
            ], "72 bpm, energy expended 12 kJ, RR intervals 0.8301 0.8125 s"),
        Vector("2A38", "01", [.init("location", .named(1, "chest"))], "chest"),
        Vector("2A38", "FE", [.init("location", .integer(254))], "location 254"),
        Vector("2A19", "64", [.init("level", .integer(100), "%")], "100 %"),
        Vector("2A07", "FC", [.init("txPowerLevel", .integer(-4), "dBm")], "-4 dBm"),
        Vector("2A29", "4D 79 6E 61 68", [.init("manufacturerName", .text("Mynah"))], "Mynah"),
        // 366 tenths, and 986 tenths of a degree Fahrenheit.
        Vector("2A1C", "00 6E 01 00 FF", [.init("temperature", .number(36.6), "°C")], "36.6 °C"),
        Vector("2A1C", "01 DA 03 00 FF", [.init("temperature", .number(98.6), "°F")], "98.6 °F"),
        Vector(
            "2A1C", "06 6E 01 00 FF EA 07 01 1F 0C 05 09 02",
            [
                .init("temperature", .number(36.6), "°C"), .init("timestamp", .text("2026-01-31T12:05:09")),
                .init("temperatureType", .named(2, "body")),
            ], "36.6 °C, timestamp 2026-01-31T12:05:09, temperature type body"),
        Vector("2A6E", "64 09", [.init("temperature", .number(24.04), "°C")], "24.04 °C"),
        Vector("2A6E", "0C FE", [.init("temperature", .number(-5), "°C")], "-5 °C"),
        Vector("2A6D", "CD 76 0F 00", [.init("pressure", .number(101_345.3), "Pa")], "101345.3 Pa"),
        // Speed is there although its bit is 0: the bit says that more follows.
        Vector(
            "2AD2", "44 00 C4 09 B4 00 C8 00",
            [
                .init("instantaneousSpeed", .number(25), "km/h"),
                .init("instantaneousCadence", .number(90), "rpm"),
                .init("instantaneousPower", .integer(200), "W"),
            ], "25 km/h, instantaneous cadence 90 rpm, instantaneous power 200 W"),
        Vector("2AD2", "01 00", [], ""),
        // 55 ten-thousandths of a mole a litre.
        Vector(
            "2A18", "07 01 00 EA 07 01 1F 0C 00 00 F6 FF 37 C0 11",
            [
                .init("sequenceNumber", .integer(1)), .init("baseTime", .text("2026-01-31T12:00:00")),
                .init("timeOffset", .integer(-10), "min"), .init("concentration", .number(5.5), "mmol/L"),
                .init("contextFollows", .boolean(false)), .init("type", .named(1, "capillary whole blood")),
                .init("sampleLocation", .named(1, "finger")),
            ],
            """
            sequence number 1, base time 2026-01-31T12:00:00, time offset -10 min, concentration 5.5 mmol/L, \
            no context follows, type capillary whole blood, sample location finger
            """),
        Vector(
            "2A52", "04 03 01 05 00",
            [
                .init("opcode", .named(4, "report number of stored records")),
                .init("operator", .named(3, "greater than or equal to")),
                .init("operand", .bytes([1, 5, 0])),
            ], "report number of stored records, operator greater than or equal to, operand 010500"),
        // Nordic's secure DFU: requests, and a response.
        Vector(
            "8EC90001-F315-4F60-9FB8-838830DAEA50", "01 02 00 10 00 00",
            [
                .init("opcode", .integer(1)), .init("objectType", .named(2, "firmware")),
                .init("size", .integer(4096)),
            ], "opcode 1, object type firmware, size 4096"),
        Vector(
            "8EC90001-F315-4F60-9FB8-838830DAEA50", "06 01",
            [.init("opcode", .integer(6)), .init("selectedType", .named(1, "init packet"))],
            "opcode 6, selected type init packet"),
        Vector(
            "8EC90001-F315-4F60-9FB8-838830DAEA50", "60 04 08",
            [
                .init("opcode", .integer(96)), .init("requestOpcode", .integer(4)),
                .init("result", .named(8, "operation not permitted")),
            ], "opcode 96, request opcode 4, result operation not permitted"),
        Vector(
            "2AD9", "05 C8 00", [.init("opcode", .integer(5)), .init("targetPower", .integer(200), "W")],
            "opcode 5, target power 200 W"),
        Vector(
            "2A5B", "03 0A 00 00 00 00 04 05 00 00 02",
            [
                .init("cumulativeWheelRevolutions", .integer(10)),
                .init("lastWheelEventTime", .number(1), "s"),
                .init("cumulativeCrankRevolutions", .integer(5)),
                .init("lastCrankEventTime", .number(0.5), "s"),
            ],
            """
            cumulative wheel revolutions 10, last wheel event time 1 s, cumulative crank revolutions 5, \
            last crank event time 0.5 s
            """),
        Vector(
            "2A9D", "01 10 27", [.init("weight", .number(100), "lb")], "100 lb"),
        // 1233, 925 and 633 tenths.
        Vector(
            "2A35", "1E D1 F4 4E 00 9D F3 EA 07 01 1F 0C 05 09 79 F2 01 02 00",
            [
                .init("systolic", .number(123.3), "mmHg"), .init("diastolic", .number(78), "mmHg"),
                .init("meanArterialPressure", .number(92.5), "mmHg"),
                .init("timestamp", .text("2026-01-31T12:05:09")), .init("pulseRate", .number(63.3), "bpm"),
                .init("userID", .integer(1)), .init("bodyMovement", .boolean(false)),
                .init("cuffTooLoose", .boolean(true)), .init("irregularPulse", .boolean(false)),
                .init("pulseRateRange", .named(0, "within the range")),
                .init("improperPosition", .boolean(false)),
            ],
            """
            123.3 mmHg, diastolic 78 mmHg, mean arterial pressure 92.5 mmHg, timestamp 2026-01-31T12:05:09, \
            pulse rate 63.3 bpm, user ID 1, no body movement, cuff too loose, no irregular pulse, pulse rate \
            range within the range, no improper position
            """),
        Vector(
            "2A36", "01 14 00 00 00 00 00",
            [
                .init("currentCuffPressure", .number(20), "kPa"), .init("diastolic", .number(0)),
                .init("meanArterialPressure", .number(0)),
            ], "20 kPa, diastolic 0, mean arterial pressure 0"),
        // 685 tenths.
        Vector(
            "2A5E", "01 61 00 AD F2 EA 07 01 1F 0C 05 09",
            [
                .init("spO2", .number(97), "%"), .init("pulseRate", .number(68.5), "bpm"),
                .init("timestamp", .text("2026-01-31T12:05:09")), .init("clockNotSet", .boolean(false)),
            ], "97 %, pulse rate 68.5 bpm, timestamp 2026-01-31T12:05:09, no clock not set"),
        // 42 tenths.
        Vector(
            "2A5F", "13 61 00 44 00 60 00 46 00 62 00 43 00 2A F0",
            [
                .init("spO2", .number(97), "%"), .init("pulseRate", .number(68), "bpm"),
                .init("spO2Fast", .number(96), "%"), .init("pulseRateFast", .number(70), "bpm"),
                .init("spO2Slow", .number(98), "%"), .init("pulseRateSlow", .number(67), "bpm"),
                .init("pulseAmplitudeIndex", .number(4.2), "%"),
            ],
            """
            97 %, pulse rate 68 bpm, SpO2 fast 96 %, pulse rate fast 70 bpm, SpO2 slow 98 %, pulse rate slow \
            67 bpm, pulse amplitude index 4.2 %
            """),
        Vector(
            "2A60", "4C 00",
            [
                .init("spotCheckStorage", .boolean(true)), .init("spotCheckTimestamp", .boolean(true)),
                .init("fastMeasurement", .boolean(false)), .init("slowMeasurement", .boolean(false)),
                .init("pulseAmplitudeIndex", .boolean(true)), .init("multipleBonds", .boolean(false)),
            ],
            """
            spot check storage, spot check timestamp, no fast measurement, no slow measurement, pulse \
            amplitude index, no multiple bonds
            """),
        // 210 tenths, 8500 and 14480 parts of 200 in a kilogram, and 1800 mm.
        Vector(
            "2A9C", "0C 0D D2 00 01 F4 1A 34 21 90 38 08 07",
            [
                .init("bodyFatPercentage", .number(21), "%"), .init("userID", .integer(1)),
                .init("basalMetabolism", .integer(6900), "kJ"), .init("bodyWaterMass", .number(42.5), "kg"),
                .init("weight", .number(72.4), "kg"), .init("height", .number(1.8), "m"),
                .init("multiplePacketMeasurement", .boolean(false)),
            ],
            """
            21 %, user ID 1, basal metabolism 6900 kJ, body water mass 42.5 kg, weight 72.4 kg, \
            height 1.8 m, no multiple packet measurement
            """),
        Vector(
            "2A9E", "BF 01 00 00",
            [
                .init("timestamp", .boolean(true)), .init("multipleUsers", .boolean(true)),
                .init("bmi", .boolean(true)), .init("weightResolution", .integer(7)),
                .init("heightResolution", .integer(3)),
            ], "timestamp, multiple users, bmi, weight resolution 7, height resolution 3"),
    ]

    @Test(arguments: vectors) func `a value is read and written as the layout says`(vector: Vector) throws {
        let layout = try #require(KnownLayouts.layout(of: vector.uuid))
        let bytes = try #require(Hex.decode(vector.bytes))
        let fields = try #require(layout.decode(bytes))
        #expect(fields == vector.fields)
        #expect(FieldsText.of(fields) == vector.text)
        #expect(try layout.encode(vector.fields) == bytes)
    }

    @Test(arguments: vectors) func `a value cut short, or one byte too long, has no fields or other ones`(
        vector: Vector
    )
        throws
    {
        let layout = try #require(KnownLayouts.layout(of: vector.uuid))
        let bytes = try #require(Hex.decode(vector.bytes))
        for length in 0..<bytes.count { #expect(layout.decode(Array(bytes.prefix(length))) != vector.fields) }
        #expect(layout.decode(bytes + [0]) != vector.fields)
    }

    @Test(arguments: [
        ("FEFFFFFFFFFFFFFF", "18446744073709551614"), ("0100000000000080", "9223372036854775809"),
        ("FFFFFFFFFFFFFF7F", "9223372036854775807"),
    ])
    func `a number of 64 bits is not rounded`(hex: String, digits: String) throws {
        let layout = ValueLayout([LayoutField("number", .integer(octets: 8, isSigned: false))])
        let bytes = try #require(Hex.decode(hex))
        let fields = try #require(layout.decode(bytes))
        #expect(FieldsText.of(fields) == "number \(digits)")
        #expect(fields.json.text == #"{"number":\#(digits)}"#)
        #expect(try JSON(parsing: Array(fields.json.text.utf8)) == fields.json)
        #expect(try layout.encode(fields) == bytes)
    }

    @Test(arguments: [
        (FieldValue.integer(.max), "9223372036854775807"), (.unsigned(.max), "18446744073709551615"),
        (.number(1.5e6), "1500000"),
    ])
    func `a number that does not fit is named with its digits`(value: FieldValue, digits: String) {
        let layout = ValueLayout([LayoutField("number", .integer(octets: 2, isSigned: true))])
        #expect(throws: LayoutProblem("number", "number is \(digits), and sint16 holds -32768 to 32767")) {
            try layout.encode([NamedField("number", value)])
        }
    }

    @Test func `the limits of a number of 64 bits are whole`() {
        for (isSigned, limits) in [
            (false, "uint64 holds 0 to 18446744073709551615"),
            (true, "sint64 holds -9223372036854775808 to 9223372036854775807"),
        ] {
            let layout = ValueLayout([LayoutField("number", .integer(octets: 8, isSigned: isSigned))])
            #expect(throws: LayoutProblem("number", "number is 1e+20, and \(limits)")) {
                try layout.encode([NamedField("number", .number(1e20))])
            }
        }
    }

    @Test(
        arguments: [
            (36.6, 0xFF00_016E), (0, 0), (-5, 0x00FF_FFFB), (.infinity, 0x007F_FFFE),
            (-.infinity, 0x0080_0002),
            (8_388_605, 0x007F_FFFD), (83_886_050, 0x017F_FFFD),
        ] as [(Double, UInt64)])
    func `a FLOAT has the exponent nearest to zero that keeps the number`(number: Double, bits: UInt64) {
        #expect(MedicalFloat.long.bits(of: number) == bits)
        #expect(MedicalFloat.long.number(bits) == number)
    }

    @Test(
        arguments: [
            (36.6, 0xF16E), (0.0055, 0xC037), (2045, 0x07FD), (-2045, 0x0803), (.infinity, 0x07FE),
            (-.infinity, 0x0802),
            (20_450_000_000, 0x77FD),
        ] as [(Double, UInt64)])
    func `an SFLOAT has the exponent nearest to zero that keeps the number`(number: Double, bits: UInt64) {
        #expect(MedicalFloat.short.bits(of: number) == bits)
        #expect(MedicalFloat.short.number(bits) == number)
    }

    @Test func `NaN is one bit pattern when written, and three when read`() {
        #expect(MedicalFloat.short.bits(of: .nan) == 0x07FF)
        #expect(MedicalFloat.long.bits(of: .nan) == 0x007F_FFFF)
        for bits: UInt64 in [0x07FF, 0x0800, 0x0801] { #expect(MedicalFloat.short.number(bits).isNaN) }
        #expect(MedicalFloat.short.bits(of: 1e300) == nil)
        // Pi has more digits than a mantissa.
        #expect(MedicalFloat.short.number(MedicalFloat.short.bits(of: .pi) ?? 0) == 3.14)
    }

    @Test(
        arguments: [
            (
                "2A37", [NamedField("heartRate", .integer(70_000), "bpm")],
                "heartRate is 70000, and uint16 holds 0 to 65535"
            ),
            ("2A37", [], "heartRate is missing"),
            (
                "2A37", [.init("heartRat", .integer(1))],
                "there is no field \"heartRat\"; did you mean \"heartRate\"?"
            ),
            ("2A37", [.init("heartRate", .text("fast"))], "heartRate is a number"),
            (
                "2A37", [.init("heartRate", .integer(1)), .init("rrIntervals", .integer(1))],
                "rrIntervals is a list, as in [1, 2]"
            ),
            (
                "2A37", [.init("heartRate", .integer(1)), .init("contact", .integer(1))],
                "contact is true or false"
            ),
            (
                "2A6E", [.init("temperature", .number(400))],
                "temperature is 400, and sint16 holds -327.68 to 327.67"
            ),
            (
                "2A38", [.init("location", .text("chests"))],
                """
                location has no value "chests"; did you mean "chest"? (it has other, chest, wrist, finger, \
                hand, ear lobe, foot)
                """
            ),
            (
                "2A5B", [.init("cumulativeWheelRevolutions", .integer(1))],
                "lastWheelEventTime is missing: it comes with cumulativeWheelRevolutions"
            ),
            (
                "2AD9", [.init("opcode", .integer(1)), .init("targetPower", .integer(1))],
                "targetPower is present only if opcode == 5"
            ),
            (
                "2A35",
                [
                    .init("systolic", .integer(120), "mmHg"), .init("diastolic", .integer(10), "kPa"),
                    .init("meanArterialPressure", .integer(90)),
                ], "systolic, diastolic, meanArterialPressure are all in kPa, or none is"
            ),
            (
                "2A2B", [.init("time", .text("2026-13-01T00:00:00"))],
                "time is a date and a time, as in 2026-01-31T12:00:00"
            ),
        ] as [(BluetoothUUID, [NamedField], String)])
    func `a value that does not fit is reported with its field`(
        uuid: BluetoothUUID, fields: [NamedField], message: String
    ) throws {
        let layout = try #require(KnownLayouts.layout(of: uuid))
        let problem = #expect(throws: LayoutProblem.self) { _ = try layout.encode(fields) }
        #expect(problem?.message == message)
    }

    @Test func `each layout has names of its own, and reads back what it writes`() throws {
        for number in UInt16(0x2A00)...0x2BFF {
            guard let layout = KnownLayouts.layout(of: BluetoothUUID(number)) else { continue }
            #expect(Set(layout.names).count == layout.names.count, "\(number)")
            // All bits clear, all set, and all kinds of lengths: what is read is written again the same.
            for length in 0..<40 {
                for byte: UInt8 in [0, 1, 0x55, 0xFF] {
                    let bytes = [UInt8](repeating: byte, count: length)
                    guard let fields = layout.decode(bytes), let again = try? layout.encode(fields) else {
                        continue
                    }
                    #expect(layout.decode(again) == fields, "\(BluetoothUUID(number)) \(Hex.encode(bytes))")
                }
            }
        }
    }

    @Test(arguments: [
        ("energyExpended", "energy expended"), ("rrIntervals", "RR intervals"), ("GPS", "GPS"),
        ("vendorIDSource", "vendor ID source"), ("userID", "user ID"), ("Level", "level"),
    ])
    func `a field's name is shown in words`(name: String, words: String) {
        #expect(FieldsText.words(name) == words)
    }
}
