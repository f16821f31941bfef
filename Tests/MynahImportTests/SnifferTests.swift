import MynahCore
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahImport

/// The packets that a sniffer heard on the air become a profile.
@Suite struct SnifferTests {
    static let formats: [AirPacket.Format] = [.bare, .withPseudoHeader, .nordic]

    private static func keys(_ text: String = AirScript.Sample.key) throws -> LongTermKeys {
        try LongTermKeys(Array(text.utf8))
    }

    private static func profile(_ script: AirScript, _ keys: LongTermKeys = LongTermKeys()) throws -> String {
        let text = try CaptureImport.profile(from: script.bytes, named: "test", keys: keys).profile
        _ = try ProfileLoader.load(text: text, file: "test.yaml")
        return text
    }

    /// A strap that is heard, connected and discovered.
    private static func discovered(_ format: AirPacket.Format) -> AirScript {
        var script = AirScript(format)
        for _ in 0..<6 {
            script.time += 100_000
            script.advertise("020106 03030D18")
            script.advertise("0609 5374726170", type: 4)
        }
        script.connect()
        script.discover()
        return script
    }

    private static let used = """
              - uuid: 2A37  # heart-rate-measurement
                properties: [read, notify]
                value: {hex: 00 48}  # 72 bpm
              - uuid: 2A39  # heart-rate-control-point
                properties: [write]
                on:
                  write:
                    - match: {hex: 01}
                      answer:
                        - {to: 2A37, value: {hex: 00 49}
        """

    private static func use(_ script: inout AirScript) {
        script.exchange("12 1300 0100", "13")
        script.exchange("0A 1200", "0B 0048")
        script.exchange("12 1500 01", "13")
        script.att(.peripheral, "1B 1200 0049")
    }

    @Test(arguments: formats)
    func `an open link and its advertisements become a profile`(format: AirPacket.Format) throws {
        var script = Self.discovered(format)
        Self.use(&script)
        let text = try Self.profile(script)
        #expect(text.contains(#"name: "Strap""#) && text.contains("  serviceUUIDs: [180D]"), "\(text)")
        #expect(text.contains(Self.used), "\(text)")
    }

    @Test(arguments: formats)
    func `packets that were repeated count once, and fragments are put together`(
        format: AirPacket.Format
    ) throws {
        var script = Self.discovered(format)
        let letters = Hex.encode(Array("ABCDEFGHIJKLMNOPQRSTU".utf8))
        script.att(.central, "0A 1200", size: 5)
        script.repeatLast()
        script.att(.peripheral, "0B \(letters)", size: 9)
        script.repeatLast()
        script.repeatLast()
        let text = try Self.profile(script)
        #expect(text.contains(#"value: {text: "ABCDEFGHIJKLMNOPQRSTU"}"#), "\(text)")
    }

    @Test(arguments: formats)
    func `an encrypted link is read with its key`(format: AirPacket.Format) throws {
        var script = Self.discovered(format)
        script.encrypt()
        Self.use(&script)
        // The sniffer missed some packets.
        for _ in 0..<3 { script.send(.peripheral, 2, [1, 2, 3], isHeard: false) }
        script.att(.central, "12 1500 02")
        script.att(.peripheral, "01 12 1500 80")
        let keys = "# keys\n\n00112233445566778899AABBCCDDEEFF\n" + AirScript.Sample.key + "\n"
        let profile = try Self.profile(script, Self.keys(keys))
        #expect(profile.contains(Self.used), "\(profile)")
        #expect(profile.contains("error: 0x80") && !profile.contains("could not be read"))
        // With the bytes of the key in the other order.
        let reversed = Hex.encode((Hex.decode(AirScript.Sample.key) ?? []).reversed())
        #expect(try Self.profile(script, Self.keys(reversed)).contains(Self.used))
        let without = try Self.profile(script)
        #expect(
            without.contains("encrypted packets could not be read; --ltk-file takes the key of the bond."))
    }

    @Test func `the encryption is that of the specification's sample`() throws {
        var session = AirCipher.Session(
            centralDiversifier: Hex.decode("1302F1E0DFCEBDAC") ?? [],
            centralVector: Hex.decode("24ABDCBA") ?? [])
        session.peripheralDiversifier = Hex.decode("7968574635241302") ?? []
        session.peripheralVector = Hex.decode("BEBAAFDE") ?? []
        var cipher = AirCipher(session, try Self.keys())
        // LL_START_ENC_RSP of both sides, and a data PDU of each (Vol 6, Part C, 1.1 and 1.2).
        let samples: [(String, AirPacket.Side, String)] = [
            ("0F 05 9FCDA7F448", .central, "06"), ("07 05 A34C13A415", .peripheral, "06"),
            (
                "0E 1F 7A70D664 15226DF2 6B17839A 06040559 6BD6564F 796B5B9C E6FF32 F75A6D33", .central,
                "17 00 636465666768696A6B6C6D6E6F707131323334353637383930"
            ),
            (
                "06 1F F38881E7 BD94C9C3 69B9A668 46DD4786 AA8C39CE 540D0DAE 3ADCDF 89B96088", .peripheral,
                "17 00 3736353433323130414243444546474849 4A4B4C4D4E4F5051"
            ),
        ]
        for (pdu, side, plain) in samples {
            let found = cipher.decrypt(Hex.decode(pdu) ?? [], from: nil)
            #expect(found?.payload == Hex.decode(plain) && found?.1 == side)
        }
    }

    @Test func `a link without its key is an error that names the option`() throws {
        var script = AirScript(.nordic)
        script.advertise("020106 03030D18")
        script.connect()
        script.encrypt()
        script.discover()
        let problem = #expect(throws: ImportProblem.self) { try Self.profile(script) }
        let words =
            "of C0:DE:00:00:00:01 are encrypted; write the long-term key (LTK) of the bond to a file, and"
        #expect(problem?.message.contains(words) == true, "\(problem?.message ?? "")")
        #expect(throws: ImportProblem.self) {
            try Self.profile(script, Self.keys("00112233445566778899AABBCCDDEEFF"))
        }
        #expect(try Self.profile(script, Self.keys()).contains("- uuid: 2A39"))
    }

    @Test func `a link that began before the capture is imported`() throws {
        var script = AirScript(.nordic)
        script.discover()
        #expect(try Self.profile(script).contains("- uuid: 2A37"))
    }

    @Test(arguments: [
        ("1234", "at line 1: a long-term key has 32 hexadecimal digits"),
        ("# none\n", "has no key; write one"),
        ("00112233445566778899AABBCCDDEEFF\nzz", "at line 2: a long-term key has 32"),
    ])
    func `invalid keys are refused with their line`(text: String, words: String) {
        let problem = #expect(throws: ImportProblem.self) { try Self.keys(text) }
        #expect(problem?.description.hasPrefix(words) == true)
    }

    @Test func `damaged packets are left out`() throws {
        var script = Self.discovered(.withPseudoHeader)
        script.add([0x02, 7, 3, 0, 4, 0, 0x0A, 0x12, 0x00], AirScript.access, .central, isRight: false)
        #expect(try Self.profile(script).contains("- uuid: 2A37"))
    }

    @Test func `mutated captures of the air are imported as a valid profile or refused`() throws {
        let files = Self.formats.map { format in
            var script = Self.discovered(format)
            script.encrypt()
            Self.use(&script)
            return script.bytes
        }
        var mutator = PacketMutator(seed: 5, files)
        let keys = try Self.keys()
        var imported = 0
        for _ in 0..<1000 {
            guard let result = try? CaptureImport.profile(from: mutator.next(), named: "test", keys: keys)
            else {
                continue
            }
            imported += 1
            _ = try ProfileLoader.load(text: result.profile, file: "test.yaml")
        }
        #expect(imported > 100)
    }
}
