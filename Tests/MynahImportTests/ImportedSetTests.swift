import MynahCore
import MynahHCI
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahImport

/// Several advertising sets of one device, as a capture shows them.
@Suite struct ImportedSetTests {
    /// An extended report with a type, the PHYs and the set's identifier.
    private static func extended(
        _ type: String, _ phys: String, _ identifier: UInt8, _ data: String, _ script: inout HCIScript
    ) {
        let bytes = Hex.decode(data) ?? []
        script.event(
            0x3E,
            "0D 01" + type + "01 01000000DEC0" + phys + Hex.encode([identifier])
                + "7F C8 0000 00 000000000000"
                + Hex.encode([UInt8(bytes.count)]) + Hex.encode(bytes))
    }

    private static func profile(_ script: HCIScript, device: String? = "C0:DE:00:00:00:01") throws -> String {
        let text = try script.profile(device: device).profile
        #expect(try ProfileLoader.load(text: text, file: "test.yaml").warnings.map(\.message) == [])
        return text
    }

    @Test func `sets with identifiers are a list, with their PHYs`() throws {
        var script = HCIScript()
        for _ in 0..<8 {
            Self.extended("0000", "03 02", 0, "020106 06FF99040A0B0C", &script)
            script.wait(30)
            Self.extended("0000", "01 01", 1, "05FF59000A0B", &script)
            script.wait(30)
            script.advert("020106 03030D18")
            script.wait(10)
            script.advert("040941424C", isScanResponse: true)
            script.wait(35)
        }
        let text = try Self.profile(script)
        #expect(
            text.contains(
                """
                advertising:
                  - localName: ""
                    extended: {data: 2M, primary: coded}
                    connectable: false
                    interval: 100 ms
                    manufacturerData:
                      0x0499: 0A 0B 0C  # Ruuvi Innovations Ltd.
                  - localName: ""
                    flags: none
                    extended: true
                    connectable: false
                    interval: 100 ms
                    manufacturerData:
                      0x0059: 0A 0B  # Nordic Semiconductor ASA
                  - localName: ""
                    interval: 100 ms
                    serviceUUIDs: [180D]  # heart-rate
                    scanResponse:
                      localName: "ABL"

                """), "\(text)")
        let sets = try #require(try ProfileLoader.load(text: text, file: "t").advertising).advertisement.sets
        #expect(
            try sets.map { Hex.encode(try AccessoryAdvertising.compose($0).data.bytes) } == [
                "02010606FF99040A0B0C", "05FF59000A0B", "02010603030D18",
            ])
    }

    @Test func `an identifier that a set does not get is a comment`() throws {
        var script = HCIScript()
        for _ in 0..<4 {
            Self.extended("0000", "01 01", 7, "020106", &script)
            script.wait(100)
        }
        let text = try Self.profile(script)
        #expect(text.contains("# Its Advertising_SID was 7, which is not kept"), "\(text)")
        #expect(text.contains("\n  extended: true\n"))
    }

    @Test func `legacy sets that alternate are divided by their kind and data`() throws {
        var script = HCIScript()
        for _ in 0..<8 {
            script.advert("020106 03030D18")
            script.wait(5)
            script.advert("040941424C", isScanResponse: true)
            script.wait(45)
            // ADV_NONCONN_IND of the same address.
            script.event(0x3E, "02 01 03 01 01000000DEC0 05 04FF3412AA C8")
            script.wait(50)
        }
        let text = try Self.profile(script)
        #expect(text.contains("    serviceUUIDs: [180D]"), "\(text)")
        #expect(text.contains("    connectable: false\n    scannable: false\n"))
        #expect(text.split(separator: "\n  - ").count == 3 && !text.contains("left out"))
    }

    @Test func `a device that changes its data at times has one set`() throws {
        var script = HCIScript()
        for state in ["020106 03030D18", "020106 03030F18", "020106 03030D18"] {
            for _ in 0..<10 {
                script.advert(state)
                script.wait(100)
            }
        }
        let text = try Self.profile(script)
        #expect(text.contains("and left out is 02010603030F18."), "\(text)")
        #expect(!text.contains("\n  - "))
    }

    @Test func `a comment says which parts a set cannot keep`() throws {
        var script = HCIScript()
        for number in 0..<6 {
            Self.extended(number < 3 ? "0000" : "0100", number < 3 ? "01 01" : "01 02", 0, "020106", &script)
            script.event(0x3E, "02 01 01 01 01000000DEC0 00 C8")
            script.wait(100)
        }
        let text = try Self.profile(script)
        #expect(text.contains("# Its events were connectable or scannable at times, and not at others"))
        #expect(text.contains("# Its PHYs changed; these are the last."))
        #expect(text.contains("# 6 directed advertising events were seen, and left out."), "\(text)")
    }

    @Test func `a host's sets at one time are a list, and those one after the other are one`() throws {
        func play(_ isTogether: Bool) throws -> String {
            var script = HCIScript(isCentral: false)
            let rest = "07 00 00 000000000000 00 7F 03 00 02"
            script.command(.leSetExtendedAdvertisingParameters, "00 0000 A00000 A00000" + rest + "00 00")
            script.command(.leSetExtendedAdvertisingData, "00 03 01 03 020106")
            script.command(.leSetExtendedAdvertisingEnable, "01 01 00 0000 00")
            if !isTogether { script.command(.leSetExtendedAdvertisingEnable, "00 01 00 0000 00") }
            script.command(.leSetExtendedAdvertisingParameters, "01 1300 A00000 A00000" + rest + "01 00")
            script.command(.leSetExtendedAdvertisingData, "01 03 01 07 020106 03030F18")
            script.command(.leSetExtendedAdvertisingEnable, "01 01 01 0000 00")
            script.connect()
            script.discover()
            return try Self.profile(script, device: nil)
        }
        let together = try play(true)
        #expect(together.contains("\n    extended: {data: 2M, primary: coded}\n"), "\(together)")
        #expect(together.contains("\n    serviceUUIDs: [180F]"))
        #expect(try !play(false).contains("\n  - localName"))
    }

    @Test(
        arguments: [
            (Array(repeating: 1000, count: 9) + [600_000] + Array(repeating: 1000, count: 9), 1000),
            ([990, 1010, 1000, 998, 1002, 3_600_000, 1000, 1000], 1000),
            ([1, 1, 1, 2000, 1, 1, 2000, 1, 2000, 1, 1, 1, 2000], 616), ([500], 500),
        ] as [([Int64], Int64)])
    func `a pause or a clock that is set does not change the usual time`(gaps: [Int64], usual: Int64) {
        #expect(UsualTime.between(gaps) == usual)
    }

    @Test func `a pause does not stretch the changes of an advertisement and of a value`() throws {
        var script = HCIScript()
        for number in 0..<12 {
            script.advert("06FF3412 AB" + Hex.encode([0, UInt8(number)]))
            script.wait(number == 5 ? 600_000 : 1000)
        }
        #expect(try Self.profile(script).contains("  every: 1 s\n"))

        var strap = HCIScript()
        strap.connect()
        strap.discover()
        strap.exchange("12 1300 0100", "13")
        for number in 0..<10 {
            strap.wait(number == 5 ? 3_600_000 : 990)
            strap.answer("1B 1200 00" + Hex.encode([0x50 + UInt8(number)]))
        }
        let text = try strap.profile().profile
        #expect(text.contains("        every: 1 s\n"), "\(text)")
    }

    @Test(arguments: [("020106 05FF", 1000), ("06FF3412 AB00", 400 * 86_400_000)] as [(String, Int64)])
    func `changes that a profile cannot repeat are a comment`(start: String, pause: Int64) throws {
        var script = HCIScript()
        for number in 0..<4 {
            // The end of the first one is no AD structure, and the second one changes once in 400 days.
            script.advert(start + "0\(number)")
            script.wait(pause)
        }
        let text = try Self.profile(script)
        #expect(text.contains("# The advertising data changed; ") && !text.contains("every:"), "\(text)")
    }

    @Test func `the time between changes is that of all changes, without the first one`() throws {
        var script = HCIScript()
        for number in 0..<24 {
            script.advert("06FF3412 AB" + Hex.encode([0, UInt8((number + 1) / 2 % 4)]))
            script.wait(500)
        }
        #expect(try Self.profile(script).contains("  every: 1 s\n"))
    }

    @Test func `keys without an encrypted link are a warning`() throws {
        let keys = try LongTermKeys(Array("000102030405060708090A0B0C0D0E0F".utf8))
        let bytes = CaptureFormat.pcapng.bytes(HCIScript.strap().packets)
        let result = try CaptureImport.profile(from: bytes, named: "test", keys: keys)
        #expect(
            result.warnings == [
                "--ltk-file has no effect: the file has no encrypted link that a sniffer heard"
            ])
    }
}
