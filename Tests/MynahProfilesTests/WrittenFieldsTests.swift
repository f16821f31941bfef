import MynahCore
import MynahSupport
import MynahValues
import Testing

@testable import MynahProfiles

@Suite struct WrittenFieldsTests {
    private static func encode(_ text: String, _ uuid: BluetoothUUID = "2A37") throws -> [UInt8] {
        let layout = try #require(KnownLayouts.layout(of: uuid))
        return try WrittenFields.encode(JSON(parsing: Array(text.utf8)), in: layout)
    }

    @Test(arguments: [
        (#"{"heartRate": 72}"#, "0048"), (#"{"heartRate": "72 bpm"}"#, "0048"),
        (#"{"heartRate": 72, "contact": true, "rrIntervals": [0.5, "500 ms"]}"#, "164800020002"),
        (#"{"heartRate": 72, "contact": false, "rrIntervals": []}"#, "0448"),
    ])
    func `fields are written as in a profile`(text: String, bytes: String) throws {
        #expect(Hex.encode(try Self.encode(text)) == bytes)
    }

    @Test func `null is not a number, and a number is in the unit that is written`() throws {
        #expect(try Self.encode(#"{"temperature": null}"#, "2A1C") == [0, 0xFF, 0xFF, 0x7F, 0x00])
        #expect(
            try Self.encode(#"{"temperature": "98.6 °F"}"#, "2A1C")
                == [1] + [0xDA, 0x03, 0x00, 0xFF] as [UInt8])
    }

    @Test(arguments: [
        ("[]", "fields is an object, as in {\"heartRate\": 72}"),
        (#"{"heartRate": 70, "heartRate": 71}"#, "heartRate is given twice"),
        (#"{"heartrate": 70}"#, "unknown key \"heartrate\" in fields; did you mean \"heartRate\"?"),
        (
            #"{"heartRate": 70000}"#,
            "heartRate must be between 0 and 65535 bpm, which uint16 holds, not 70000"
        ),
        (#"{"heartRate": {"generate": "counter"}}"#, "heartRate must be a value that does not change"),
        (#"{"contact": true}"#, "heartRate is missing"),
        (#"{"heartRate": 70, "rrIntervals": 1}"#, "rrIntervals is a list, as in [1, 2]"),
        (#"{"heartRate": true}"#, "heartRate must be a number"),
    ])
    func `fields that fit no value are refused`(text: String, message: String) {
        do {
            _ = try Self.encode(text)
            Issue.record("\(text) was taken")
        } catch let problem as LayoutProblem {
            #expect(problem.message.hasPrefix(message), "\(problem.message)")
        } catch {
            Issue.record(error)
        }
    }

    @Test func `fields in the form of a profile become JSON`() throws {
        #expect(
            try WrittenFields.json(parsing: "{heartRate: 72, contact: true, rrIntervals: [0.83 s, 1]}").text
                == #"{"heartRate":72,"contact":true,"rrIntervals":["0.83 s",1]}"#)
        #expect(try WrittenFields.json(parsing: "heartRate: '72'").text == #"{"heartRate":"72"}"#)
        // The instance names a number that does not fit with all its digits.
        #expect(
            try WrittenFields.json(parsing: "{n: 18446744073709551616}").text
                == #"{"n":"18446744073709551616"}"#)
        for text in ["", "72", "[1]", "{a: {b", "a: *b"] {
            #expect(throws: LayoutProblem.self) { try WrittenFields.json(parsing: text) }
        }
    }
}
