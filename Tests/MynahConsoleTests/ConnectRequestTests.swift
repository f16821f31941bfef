import Mynah
import MynahCore
import MynahEmulator
import Testing

@testable import MynahConsole
@testable import MynahRun

@Suite struct ConnectRequestTests {
    @Test(
        arguments: [
            ("services", .services), ("  MTU\t", .mtu), ("exit", .quit), ("q", .quit), ("?", .help),
            ("wait 5 s", .wait(.seconds(5))), ("wait 10s", .wait(.seconds(10))),
            ("rssi", .rssi), ("pair", .pair), ("forget", .forget), ("connect", .connect),
            ("disconnect", .disconnect), ("", nil), ("   ", nil), ("# a comment", nil), ("#", nil),
        ] as [(String, ConnectRequest?)])
    func `a line is a command, or nothing`(line: String, request: ConnectRequest?) throws {
        #expect(try ConnectRequest.parse(line) == request)
    }

    @Test func `commands name an attribute, and some a value`() throws {
        let path = try AttributePath(parsing: "180D/2A39")
        #expect(try ConnectRequest.parse("read 180D/2A39") == .read(path))
        #expect(try ConnectRequest.parse("Subscribe 180D/2A39") == .subscribe(path))
        #expect(try ConnectRequest.parse("unsubscribe 180D/2A39") == .unsubscribe(path))
        for (value, bytes) in [
            ("01 02", [1, 2]), ("0102", [1, 2]), ("0x01", [1]), ("hex:0A 0b", [10, 11]),
            ("text:a  b", [0x61, 0x20, 0x20, 0x62]), ("text:", []), ("text:é", [0xC3, 0xA9]),
        ] as [(String, [UInt8])] {
            #expect(
                try ConnectRequest.parse("write 180D/2A39 \(value)")
                    == .write(path, bytes, withResponse: true))
            #expect(
                try ConnectRequest.parse("command 180D/2A39 \(value)")
                    == .write(path, bytes, withResponse: false))
        }
    }

    @Test(arguments: [
        ("raed 2A37", #"there is no command "raed"; did you mean "read"?"#),
        ("zzz", #"there is no command "zzz"; "help" lists them"#),
        ("z\u{1B}z", "there is no command \"z\u{FFFD}z\"; \"help\" lists them"),
        ("read", #""read" needs a UUID or a name, as in "read 2A37""#),
        ("write 2A39", #""write" needs a value, as in "write 2A39 01" or "write 2A00 text:Mynah""#),
        ("command 2A39 0", #""0" is not hexadecimal; for text, write text: before it"#),
        ("read 2A37 2A38", #"remove "2A38": the command ends before it"#),
        ("wait", #""wait" needs a time, as in "wait 5 s""#),
    ])
    func `an invalid line is reported with what to do`(line: String, message: String) {
        #expect(throws: ConnectRequest.Problem(message: message)) { try ConnectRequest.parse(line) }
    }

    @Test(arguments: [
        ("re", ["read"]), ("d", ["disconnect"]),
        ("read ", ["battery~1/battery-level", "battery~2/battery-level", "heart-rate-measurement"]),
        ("read BATTERY~2", ["battery~2/battery-level"]), ("read 2A", ["2A37"]),
        ("subscribe h", ["heart-rate-measurement"]),
        ("write ", ["heart-rate-control-point"]), ("command ", []), ("rssi ", []), ("read 2A19 ", []),
    ])
    func `the Tab key offers commands, and attributes that fit the command`(
        typed: String, candidates: [String]
    ) throws {
        #expect(ConnectRequest.completions(of: typed, in: try SampleServices.all()) == candidates)
    }

    @Test func `a path leads to a characteristic or a descriptor, or says what to name instead`() throws {
        let services = try SampleServices.all()
        func target(_ text: String) throws -> AttributePath.Target {
            try AttributePath(parsing: text).target(in: services)
        }
        #expect(try target("2A37").name == "heart-rate-measurement")
        #expect(try target("180D/heart-rate-measurement").name == "heart-rate-measurement")
        #expect(
            try target("2A37/2902").name
                == "heart-rate-measurement / client-characteristic-configuration")
        #expect(throws: ConnectRequest.Problem.self) { try target("2A19") }
        #expect(throws: ConnectRequest.Problem.self) { try target("2A00") }
        #expect(throws: ConnectRequest.Problem.self) { try AttributePath(parsing: "hart-rate-measurement") }
    }
}
