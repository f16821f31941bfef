import MynahCore
import MynahHCI
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahImport

/// A device's exchange with a phone becomes a profile.
@Suite struct CaptureImportTests {
    /// The lines of the services of a profile.
    private static func services(_ script: HCIScript) throws -> [String] {
        let text = try script.profile().profile
        _ = try ProfileLoader.load(text: text, file: "test.yaml")
        let lines = text.split(separator: "\n").map(String.init)
        return Array(lines.drop { $0 != "services:" }.dropFirst())
    }

    private static func problem(_ script: HCIScript, device: String? = nil) -> String? {
        do throws(ImportProblem) {
            _ = try script.profile(device: device)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a strap becomes a commented profile`() throws {
        let result = try HCIScript.strap().profile(recordingFile: "strap.jsonl")
        #expect(
            result.profile == """
                # Imported from test. A comment says what the file does not show.
                mynah: 1
                name: "Strap"

                # No scan response was seen.
                advertising:
                  interval: 100 ms
                  serviceUUIDs: [180D]  # heart-rate

                services:
                  - uuid: 180D  # heart-rate
                    characteristics:
                      - uuid: 2A37  # heart-rate-measurement
                        properties: [read, notify]
                        value: {generate: recorded, file: "strap.jsonl"}  # 5 values were sent
                      - uuid: 2A39  # heart-rate-control-point
                        properties: [write]

                """)
        #expect(
            result.recording.text.split(separator: "\n").first
                == #"{"at":1,"service":"180D","characteristic":"2A37","value":"0040"}"#)
        #expect(result.recording.text.split(separator: "\n").count == 5)
        #expect(result.name == "Strap" && result.lostValues == 0 && result.warnings == [])
    }

    @Test func `a capture on the device's side is the same`() throws {
        let ours = try HCIScript.strap(isCentral: false).profile(recordingFile: "x.jsonl")
        let theirs = try HCIScript.strap().profile(recordingFile: "x.jsonl")
        #expect(ours.recording.text == theirs.recording.text)
        #expect(
            ours.profile.split(separator: "\n").drop { $0 != "services:" }
                == theirs.profile.split(separator: "\n").drop { $0 != "services:" })
    }

    @Test func `without a recording the values are constant, and the profile is valid`() throws {
        let result = try HCIScript.strap().profile()
        #expect(result.lostValues == 5 && result.recording.isEmpty)
        #expect(result.profile.contains("        value: {hex: 00 40}\n        every: 1 s\n"))
        let profile = try ProfileLoader.load(text: result.profile, file: "test.yaml")
        #expect(profile.warnings.map(\.message) == [])
        #expect(profile.services[0].characteristics.map(\.uuid) == ["2A37", "2A39"])
    }

    @Test func `long values are put together, and values in parts are written`() throws {
        var script = HCIScript()
        script.connect()
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1200 0A18")
        script.exchange("08 1000 1200 0328", "09 07 1100 0A 1200 292A")
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGH".utf8)
        script.exchange("0A 1200", "0B" + Hex.encode(letters[..<22]))
        script.exchange("0C 1200 1600", "0D" + Hex.encode(letters[22...]))
        script.exchange("0C 1200 2C00", "01 0C 1200 07")
        for offset in [0, 18] {
            let part = "1200" + Hex.encode([UInt8(offset), 0]) + Hex.encode(letters[offset..<(offset + 18)])
            script.exchange("16" + part, "17" + part)
        }
        script.exchange("18 01", "01 18 1200 80")
        let lines = try Self.services(script)
        #expect(lines.contains(#"        value: {text: "\#(String(decoding: letters, as: UTF8.self))"}"#))
        #expect(lines.contains("            - match: {hex: \(Hex.encode(letters[..<36]))}"))
        #expect(lines.contains("              error: 0x80"))
    }

    @Test func `the answers to a write become a rule, with their times`() throws {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("12 1300 0100", "13")
        script.exchange("12 1500 01", "13")
        script.wait(40)
        script.answer("1B 1200 0048")
        script.wait(190)
        script.answer("1B 1200 0049")
        script.wait(5000)
        script.exchange("12 1500 02", "01 12 1500 80")
        let lines = try Self.services(script)
        let rules = lines.drop { $0 != "        on:" }
        #expect(
            rules.joined(separator: "\n") == """
                        on:
                          write:
                            - match: {hex: 01}
                              answer:
                                - {to: 2A37, value: {hex: 00 48}, after: 50 ms}
                                - {to: 2A37, value: {hex: 00 49}, after: 250 ms}
                            - match: {hex: 02}
                              error: 0x80
                """)
        #expect(!lines.contains { $0.contains("recorded") })
    }

    @Test func `a value that overtakes the response to its write answers that write`() throws {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("12 1300 0100", "13")
        script.exchange("12 1500 01", "13")
        script.wait(40)
        script.answer("1B 1200 0048")
        script.wait(50)
        script.ask("12 1500 02")
        script.answer("1B 1200 0049")
        script.answer("13")
        script.wait(20)
        script.answer("1B 1200 0050")
        let lines = try Self.services(script)
        #expect(
            lines.drop { !$0.contains("match") }.joined(separator: "\n") == """
                            - match: {hex: 01}
                              answer:
                                - {to: 2A37, value: {hex: 00 48}, after: 50 ms}
                            - match: {hex: 02}
                              answer:
                                - {to: 2A37, value: {hex: 00 49}}
                                - {to: 2A37, value: {hex: 00 50}, after: 30 ms}
                """)
    }

    static let refusals: [(exchanges: [(String, String)], has: [String], hasNot: [String])] = [
        // A write is tried again.
        (
            [("12 1500 01", "01 12 1500 80"), ("12 1500 01", "13")],
            ["      # A value that was refused was accepted at another time; the profile accepts it."],
            ["error: 0x80", "errors:"]
        ),
        // Another value is accepted.
        (
            [("12 1500 01", "01 12 1500 80"), ("12 1500 02", "01 12 1500 80"), ("12 1500 02", "13")],
            ["            - match: {hex: 01}", "              error: 0x80"], ["errors:", "{hex: 02}"]
        ),
        ([("12 1500 01", "01 12 1500 80"), ("12 1500 02", "01 12 1500 80")], ["errors: {write: 0x80}"], []),
        // Temporary conditions.
        (
            [("12 1500 01", "01 12 1500 FE"), ("12 1500 02", "01 12 1500 FE")],
            ["got the error 0xFE (Procedure Already in Progress), a temporary condition, which is left out."],
            ["error: 0x", "errors:"]
        ),
        (
            [("12 1500 01", "01 12 1500 FD")],
            ["got the error 0xFD (Client Characteristic Configuration Descriptor Improperly Configured), a"],
            ["error: 0x", "errors:"]
        ),
        ([("0A 1200", "01 0A 1200 FE")], ["      # A read got the error 0xFE", "never read"], ["errors:"]),
        ([("12 1500 01", "01 12 1500 FF")], ["              error: 0xFF"], []),
    ]

    @Test(arguments: refusals)
    func `only what a device always refuses is refused by the profile`(
        exchanges: [(String, String)], has: [String], hasNot: [String]
    ) throws {
        var script = HCIScript()
        script.connect()
        script.discover()
        for (request, response) in exchanges { script.exchange(request, response) }
        let text = try Self.services(script).joined(separator: "\n")
        for words in has { #expect(text.contains(words), "\(text)") }
        for words in hasNot { #expect(!text.contains(words), "\(text)") }
    }

    @Test func `a value that was read before the subscription is the initial one`() throws {
        func script(_ read: String, afterwards: Bool) throws -> CaptureImport.Result {
            var script = HCIScript()
            script.connect()
            script.discover()
            if !afterwards { script.exchange("0A 1200", "0B \(read)") }
            script.exchange("12 1300 0100", "13")
            for beat in 0..<3 {
                script.wait(990)
                script.answer("1B 1200 00 4\(beat)")
            }
            if afterwards { script.exchange("0A 1200", "0B \(read)") }
            return try script.profile(recordingFile: "x.jsonl")
        }
        let first = try script("0033", afterwards: false).profile
        #expect(first.contains(#"value: {generate: recorded, file: "x.jsonl", initial: 00 33}  # 3 values"#))
        // The first that was sent, and a later one.
        for result in [try script("0040", afterwards: false), try script("0033", afterwards: true)] {
            #expect(result.profile.contains(#"value: {generate: recorded, file: "x.jsonl"}"#))
        }
    }

    @Test func `the MTU is the link's, whichever side asked for it`() throws {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        for (request, response) in [("02 0002", "03 0002"), (nil, nil)] {
            var script = HCIScript()
            script.connect()
            if let request, let response {
                // The peripheral's client asks.
                script.send(Hex.decode(request) ?? [], on: 4, isFromHost: false)
                script.send(Hex.decode(response) ?? [], on: 4, isFromHost: true)
            } else {
                // The capture lacks the exchange, but not a longer PDU.
                script.exchange("0A 1200", "0B" + Hex.encode(letters + letters))
            }
            script.exchange("10 0100 FFFF 0028", "11 06 1000 1200 0A18")
            script.exchange("08 1000 1200 0328", "09 07 1100 0A 1200 292A")
            script.exchange("08 1000 1200 0328", "09 07 1100 0A 1200 292A")
            script.exchange("0A 1100", "0B" + Hex.encode(letters))
            script.exchange("0A 1200", "0B" + Hex.encode(letters))
            let isKnown = request != nil
            #expect(try Self.services(script).contains { $0.contains("Only the beginning") } != isKnown)
        }
    }

    @Test func `extended adverts in pieces are put together`() throws {
        var script = HCIScript()
        func piece(_ status: UInt8, _ data: String, _ set: UInt8 = 1) {
            let bytes = Hex.decode(data) ?? []
            let type = Hex.encode([1 | status << 5, 0])
            script.event(
                0x3E,
                "0D 01 \(type) 01 0000DEC00000"
                    + "01 00 \(Hex.encode([set])) 7F C8 0000 00 000000000000"
                    + Hex.encode([UInt8(bytes.count)]) + data)
        }
        for round in 0..<6 {
            script.wait(105)
            piece(1, "020106 0303")
            // Another set in between, and data whose rest is lost.
            if round == 3 { piece(0, "020106", 2) }
            piece(0, "0D18 0609 5374726170")
            piece(2, "020106", 3)
        }
        let device = DeviceAddress(value: 0xC0DE_0000, kind: .random)
        script.connect(device)
        script.discover()
        let text = try script.profile().profile
        #expect(text.contains("name: \"Strap\"\n") && text.contains("  serviceUUIDs: [180D]"), "\(text)")
    }

    @Test func `Flags are as they were on the air`() throws {
        for (data, words) in [
            ("02011A 03030D18", "  flags: 0x1A\n"),
            ("03030D18", "  flags: none\n"), ("020106 03030D18", nil),
        ] {
            var script = HCIScript()
            script.advert(data)
            script.connect()
            script.discover()
            let text = try script.profile().profile
            #expect(text.contains(words ?? "serviceUUIDs") && text.contains("flags:") == (words != nil))
        }
    }

    @Test func `attributes over Enhanced ATT are said to be so`() throws {
        var script = HCIScript()
        script.connect()
        // Two channels to the SPSM 0x0027.
        script.send([0x17, 1, 12, 0, 0x27, 0, 64, 0, 64, 0, 5, 0, 0x40, 0, 0x41, 0], on: 5, isFromHost: true)
        var refused = script
        let answer: [UInt8] = [0x18, 1, 12, 0, 64, 0, 64, 0, 5, 0, 0, 0, 0x40, 0, 0x41, 0]
        script.send(answer, on: 5, isFromHost: false)
        let problem = try #require(Self.problem(script))
        #expect(problem.hasPrefix("the attributes of C0:DE:00:00:00:01 went over Enhanced ATT (EATT), which"))
        script.discover()
        #expect(try script.profile().profile.contains("# Some requests went over Enhanced ATT (EATT), which"))
        refused.send([0x18, 1, 8, 0, 0, 0, 0, 0, 0, 0, 4, 0], on: 5, isFromHost: false)
        #expect(Self.problem(refused)?.contains("EATT") == false)
    }

    /// The device displays and asks for protection against a man in the middle; the central types or has
    /// neither input nor output, which makes the pairing Just Works.
    @Test(arguments: [(0x02 as UInt8, "authenticated"), (0x03, "encrypted")])
    func `a value that any key opens is encrypted`(io: UInt8, permission: String) throws {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("0A 1200", "01 0A 1200 05")
        script.send([0x01, io, 0x00, 0x05, 0x10, 0, 0], on: 6, isFromHost: true)
        script.send([0x02, 0x00, 0x00, 0x05, 0x10, 0, 0], on: 6, isFromHost: false)
        script.encrypt()
        script.exchange("0A 1200", "0B 0048")
        #expect(try script.profile().profile.contains("permissions: {read: \(permission)}"))
    }

    @Test func `errors of security become permissions`() throws {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("0A 1200", "01 0A 1200 05")
        script.exchange("12 1300 0100", "01 12 1300 0F")
        // The device has a display, and asks for protection against a man in the middle.
        script.send([0x02, 0x00, 0x00, 0x05, 0x10, 0, 0], on: 6, isFromHost: false)
        script.encrypt()
        script.exchange("0A 1200", "0B 0048")
        script.exchange("12 1500 01", "01 12 1500 08")
        let text = try script.profile().profile
        #expect(text.contains("\nsecurity: {io: displayOnly}\n"))
        #expect(text.contains("permissions: {read: authenticated, notify: encrypted}"))
        #expect(text.contains("permissions: {write: authorized}"))
        #expect(text.contains("value: {hex: 00 48}  # 72 bpm"))
    }

    static let encryptions: [(before: Bool, between: Bool, note: String?)] = [
        (false, false, nil),
        (
            true, false,
            "# The link was encrypted from the beginning, so it is not known what needs encryption."
        ),
        (
            false, true,
            "# Some attributes were used only while the link was encrypted, so it is not known whether they "
        ),
    ]

    @Test(arguments: encryptions)
    func `values that were used only on an encrypted link are said to be so`(
        before: Bool, between: Bool, note: String?
    ) throws {
        var script = HCIScript()
        script.connect()
        if before { script.encrypt() }
        script.discover()
        script.exchange("0A 1200", "0B 0048")
        if between { script.encrypt() }
        script.exchange("12 1300 0100", "13")
        let text = try script.profile().profile
        #expect(text.contains("ncrypt") == (note != nil))
        #expect(text.contains(note ?? "services:"), "\(text)")
    }

    @Test func `a recorded profile speaks of no capture and no import`() throws {
        let capture = LiveCapture()
        for packet in HCIScript.strap().packets {
            capture.add(packet.packet, isFromController: packet.isFromController, at: packet.time)
        }
        let text = try capture.profile(of: HCIScript.peer).profile
        #expect(text.contains("5 values were sent; mynah record --output DIR keeps them and their times."))
        #expect(!text.contains("capture") && !text.contains("import"), "\(text)")
    }

    @Test func `includes, secondary services and repeated services keep their places`() throws {
        var script = HCIScript()
        script.connect()
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1300 0F18 1400 1700 0F18")
        script.exchange("10 1800 FFFF 0028", "01 10 1800 0A")
        // The first battery includes a secondary service with a UUID of 128 bits, and the second the first.
        script.exchange("08 1000 1300 0228", "09 06 1100 2000 2200")
        script.exchange("0A 2000", "0B" + "FF EE DD CC BB AA 99 88 77 66 55 44 33 22 11 00")
        script.exchange("08 1400 1700 0228", "09 08 1500 1000 1300 0F18")
        script.exchange("08 1100 1300 0328", "09 07 1200 02 1300 192A")
        script.exchange("08 1500 1700 0328", "09 07 1600 02 1700 192A")
        script.exchange("0A 1300", "0B 64")
        let lines = try Self.services(script)
        let uuid = "00112233-4455-6677-8899-AABBCCDDEEFF"
        #expect(lines.contains("    includes: [\(uuid)]"))
        #expect(lines.contains("    includes: [180F~1]"))
        #expect(lines.contains("  - uuid: \(uuid)"))
        #expect(lines.contains("    primary: false"))
        #expect(lines.contains("        value: {hex: 64}  # 100 %"))
        #expect(lines.contains("      # Its value was never read."))
        #expect(lines.contains("  # Its characteristics were never discovered."))
    }

    @Test func `descriptors and extended properties are found`() throws {
        var script = HCIScript()
        script.connect()
        script.exchange("06 0100 FFFF 0028 0F18", "07 1000 1600")
        script.exchange("08 1000 1600 0328", "09 07 1100 8A 1200 192A")
        script.exchange("04 1300 1600", "05 01 1300 0029 1400 0129 1500 0429")
        script.exchange("0A 1300", "0B 0200")
        script.exchange("0A 1400", "0B 4C6576656C")
        let lines = try Self.services(script)
        #expect(lines.contains("        properties: [read, write, writableAuxiliaries]"))
        #expect(lines.contains("          - uuid: 2901  # characteristic-user-description"))
        #expect(lines.contains("            properties: [read, write]"))
        #expect(lines.contains(#"            value: {text: "Level"}"#))
        #expect(lines.contains("          # Its value was never read."))
    }

    @Test func `a host's own advertising has the interval that it set`() throws {
        var script = HCIScript(isCentral: false)
        script.command(.leSetExtendedAdvertisingParameters, "01 1300 F40000 F40000 07 00" + "00000000000000")
        script.command(.leSetExtendedAdvertisingData, "01 03 01 07 020106 03030F18")
        script.command(.leSetExtendedScanResponseData, "01 03 01 05 0409 426F78")
        script.command(.leSetExtendedAdvertisingEnable, "01 01 01 0000 00")
        script.connect()
        script.discover()
        let text = try script.profile().profile
        #expect(text.contains("name: \"Box\"\n"))
        #expect(text.contains("  interval: 152.5 ms\n"))
        #expect(
            text.contains("  localName: \"\"\n") && text.contains("  scanResponse:\n    localName: \"Box\"\n")
        )
    }

    @Test func `several devices are listed, and one is chosen by its address or name`() throws {
        var first = HCIScript.strap()
        var second = HCIScript(handle: 0x41)
        let other = DeviceAddress(value: 0xC0DE_0000_0002, kind: .random)
        second.advert("0409 426F78", from: other)
        second.connect(other)
        second.exchange("10 0100 FFFF 0028", "11 06 1000 1200 0F18")
        for packet in second.packets { first.append(packet) }
        #expect(
            Self.problem(first) == """
                the capture shows the services of 2 devices; choose one with --device ADDRESS or NAME:
                  C0:DE:00:00:00:01  Strap  1 service
                  C0:DE:00:00:00:02  Box  1 service
                """)
        for name in ["box", "Bo", "c0:de:00:00:00:02"] {
            #expect(try first.profile(device: name).name == "Box")
        }
        #expect(Self.problem(first, device: "Watch")?.hasPrefix("the capture shows no device Watch;") == true)
        #expect(Self.problem(first, device: "C0")?.hasPrefix("2 devices are called C0;") == true)
    }

    @Test func `two hosts of one capture are chosen by their numbers`() throws {
        var both = HCIScript(isCentral: false)
        both.connect()
        both.discover()
        var second = HCIScript(isCentral: false, source: 1)
        second.connect()
        second.exchange("10 0100 FFFF 0028", "11 06 1000 1200 0F18")
        for packet in second.packets { both.append(packet) }
        #expect(
            Self.problem(both) == """
                the capture shows the services of 2 devices; choose one with --device ADDRESS or NAME:
                  host 1  (no name)  1 service
                  host 2  (no name)  1 service
                """)
        #expect(try both.profile(device: "host 1").profile.contains("uuid: 180D"))
        #expect(try both.profile(device: "Host 2").profile.contains("uuid: 180F"))
    }

    @Test func `a capture without what is needed says what to record`() throws {
        var script = HCIScript()
        script.wait(1)
        script.event(0x0E, "01 0000")
        #expect(Self.problem(script)?.contains("shows no Bluetooth LE device; record from before") == true)
        script.connect()
        script.answer("1B 1200 0048")
        #expect(Self.problem(script)?.contains("forget the device on the phone and record again") == true)
        var adverts = HCIScript()
        for number in 1...30 {
            adverts.advert("020106", from: DeviceAddress(value: UInt64(number), kind: .random))
        }
        let problem = try #require(Self.problem(adverts))
        #expect(problem.contains("only advertisements of 30 devices") && problem.hasSuffix("  and 10 more"))
        let text = try adverts.profile(device: "00:00:00:00:00:01").profile
        #expect(text.contains("# No connection to the device was seen.\n"))
    }

    @Test func `names from the air have no control characters in a profile`() throws {
        var script = HCIScript()
        script.advert("0709 410A1B 5B2242")
        script.connect()
        script.discover()
        #expect(try script.profile().profile.contains(#"name: "A[\"B""#))
        _ = try Self.services(script)
    }

    @Test(arguments: [20_000, 100_000, 152_500] as [Int64], [10_000, 0] as [Int64])
    func `the interval is found in spite of the random delay and of losses`(
        interval: Int64, delay: Int64
    ) {
        var advertising = ObservedAdvertising()
        var random = SeededRandom(seed: 7)
        var time: Int64 = 0
        for number in 0..<200 {
            time += interval + Int64.random(in: 0...delay, using: &random)
            if number % 4 != 3 { advertising.hear([2, 1, 6], at: time) }
        }
        #expect(advertising.interval == interval)
    }

    @Test(arguments: [1_285_000, 2_000_000, 2_500_000] as [Int64])
    func `three adverts tell the interval of a slow device to who listens all the time`(interval: Int64) {
        var advertising = ObservedAdvertising()
        for number in 0..<3 { advertising.hear([2, 1, 6], at: interval * Int64(number)) }
        #expect(advertising.interval == nil)
        advertising.neededGaps = 2
        #expect(advertising.interval == interval)
    }

    @Test(arguments: [20_000, 100_000, 250_000] as [Int64])
    func `the interval is found if reports come late`(interval: Int64) {
        var advertising = ObservedAdvertising()
        var random = SeededRandom(seed: 7)
        var time: Int64 = 0
        for _ in 0..<30 {
            time += interval + Int64.random(in: 0...10_000, using: &random)
            // A busy host takes them all later, and some much later.
            let late = Int64.random(in: 0...9000, using: &random)
            advertising.hear([2, 1, 6], at: time + late)
        }
        #expect(advertising.interval == interval)
    }
}
