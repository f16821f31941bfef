import MynahCore
import MynahHCI
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahImport

/// Periodic advertising trains, as a capture shows them.
@Suite struct ImportedTrainTests {
    private static let address = "C0:DE:00:00:00:01"

    /// Imports the device, and checks that its profile has no warnings.
    private static func profile(_ script: HCIScript, device: String? = address) throws -> String {
        try valid(script.profile(device: device).profile)
    }

    private static func valid(_ text: String) throws -> String {
        let problems = try ProfileLoader.load(text: text, file: "test.yaml").warnings.map(\.message)
        #expect(problems == [], "\(text)")
        return text
    }

    /// The composed sets of a profile.
    private static func sets(_ text: String) throws -> [(set: Advertisement, bytes: ExactAdvertisement)] {
        try #require(try ProfileLoader.load(text: text, file: "t").advertising).advertisement.sets.map {
            ($0, try AccessoryAdvertising.compose($0))
        }
    }

    private static func counted(_ data: String) -> String {
        let bytes = Hex.decode(data) ?? []
        return Hex.encode([UInt8(bytes.count)]) + Hex.encode(bytes)
    }

    /// A report of an extended set that is neither connectable nor scannable, with a train each 100 ms.
    private static func advertise(
        _ set: UInt8, _ data: String, type: String = "0000", interval: String = "5000",
        _ script: inout HCIScript
    ) {
        script.event(
            0x3E,
            "0D 01" + type + "01 01000000DEC0 01 02" + Hex.encode([set]) + "7F C8" + interval
                + "00 000000000000" + counted(data))
    }

    private static func synchronize(_ handle: String, _ set: String, _ script: inout HCIScript) {
        script.event(0x3E, "0E 00 \(handle) \(set) 01 01000000DEC0 02 5000 00")
    }

    private static func report(
        _ handle: String, _ data: String, status: String = "00", _ script: inout HCIScript
    ) {
        script.wait(100)
        script.event(0x3E, "0F \(handle) 7F C8 FF \(status)" + counted(data))
    }

    // MARK: A host that scans

    @Test func `a train that a phone received is the periodic advertising of its set`() throws {
        var script = HCIScript()
        for _ in 0..<6 {
            Self.advertise(0, "04FF341201", &script)
            script.wait(100)
        }
        Self.synchronize("0100", "00", &script)
        for number in 0..<6 { Self.report("0100", "05FF3412AA0\(number)", &script) }
        let text = try Self.profile(script)
        #expect(
            text.contains(
                """
                  periodic:
                    interval: 100 ms
                    value:
                      manufacturerData:
                        0x1234: {layout: [{data: bytes}], fields: {data: {generate: list, values: ["AA00", \
                "AA01", "AA02", "AA03", "AA04", "AA05"]}}}
                """), "\(text)")
        #expect(text.contains("  every: 100 ms\n") && text.contains("  extended: {data: 2M}\n"))
        #expect(!text.contains("left out") && !text.contains("not seen"))
    }

    @Test func `data in pieces is joined, and an event that was received in part is a comment`() throws {
        var script = HCIScript()
        Self.advertise(0, "020106", &script)
        Self.synchronize("0000", "00", &script)
        let bytes = [0xFB, 0xFF, 0x34, 0x12] + [UInt8](repeating: 7, count: 248)
        let (first, second) = (Hex.encode(Array(bytes[..<200])), Hex.encode(Array(bytes[200...])))
        for _ in 0..<3 {
            Self.report("0000", first, status: "01", &script)
            Self.report("0000", second, &script)
        }
        Self.report("0000", first, status: "01", &script)
        Self.report("0000", "", status: "02", &script)
        let text = try Self.profile(script)
        #expect(try Self.sets(text)[0].bytes.periodic.bytes == bytes)
        #expect(
            text.contains("# 1 periodic advertising event was received only in part, and is left out."),
            "\(text)")
    }

    @Test func `a train whose set was not heard is a set, and reports without synchronization a comment`()
        throws
    {
        var script = HCIScript()
        Self.report("0700", "020A00", &script)
        Self.report("0700", "020A00", &script)
        Self.synchronize("0000", "03", &script)
        Self.report("0000", "020A04", &script)
        script.event(0x3E, "10 0000")
        Self.report("0000", "020A05", &script)
        let text = try Self.profile(script)
        let set = try #require(try Self.sets(text).first)
        #expect(set.bytes.periodic.bytes == [2, 0x0A, 4] && set.bytes.data.isEmpty)
        #expect(set.set.extended?.secondaryPHY == .le2M)
        #expect(text.contains("# Only the periodic advertising of this set was seen."), "\(text)")
        #expect(text.contains("# Its Advertising_SID was 3, which is not kept"))
        #expect(
            text.contains(
                "# 3 reports of periodic advertising are left out: the capture does not show which device"
            ))
    }

    @Test func `each of several trains belongs to its own set`() throws {
        var script = HCIScript()
        for _ in 0..<6 {
            Self.advertise(0, "04FF341200", &script)
            Self.advertise(1, "04FF341201", interval: "A000", &script)
            Self.advertise(2, "04FF341202", interval: "0000", &script)
            script.wait(100)
        }
        Self.synchronize("0500", "01", &script)
        Self.synchronize("0600", "00", &script)
        Self.report("0500", "020A01", &script)
        Self.report("0600", "020A00 0409414243", &script)
        let text = try Self.profile(script)
        let sets = try Self.sets(text)
        #expect(
            sets.map { Hex.encode($0.bytes.periodic.bytes) } == ["020A000409414243", "020A01", ""],
            "\(text)")
        #expect(
            sets.map { $0.set.periodic?.interval.lowerBound } == [
                .milliseconds(100), .milliseconds(200), nil,
            ])
        // The synchronization had another interval than the advertisement.
        #expect(text.contains("# The interval of its periodic advertising changed; this is the first."))
    }

    @Test func `an interval alone is a train without data, with a comment`() throws {
        var script = HCIScript()
        Self.advertise(0, "020106", &script)
        let text = try Self.profile(script)
        #expect(text.contains("  periodic:\n    interval: 100 ms\n"), "\(text)")
        #expect(text.contains("# Its periodic advertising data was not seen."))
    }

    @Test func `structures that fields cannot express are raw, in their order`() throws {
        var script = HCIScript()
        Self.advertise(0, "", &script)
        Self.synchronize("0000", "00", &script)
        let data = "0409414243 020106 04FF341201"
        Self.report("0000", data, &script)
        let text = try Self.profile(script)
        #expect(try Self.sets(text)[0].bytes.periodic.bytes == Hex.decode(data), "\(text)")
    }

    @Test func `a set that is connectable at last cannot keep its train`() throws {
        var script = HCIScript()
        Self.advertise(0, "020106", &script)
        Self.synchronize("0000", "00", &script)
        Self.report("0000", "020A04", &script)
        Self.advertise(0, "020106", type: "0100", interval: "0000", &script)
        let text = try Self.profile(script)
        let words =
            "# Its periodic advertising is left out, because the set is connectable or scannable: 020A04."
        #expect(text.contains(words) && !text.contains("periodic:"), "\(text)")
    }

    @Test func `the events of newer controllers and of transferred synchronizations are read`() throws {
        var script = HCIScript()
        // LE Periodic Advertising Sync Established [v2], Sync Transfer Received, and Report [v2].
        script.event(0x3E, "24 00 0000 00 01 01000000DEC0 02 5000 00 00 00 00 00")
        script.event(0x3E, "18 00 4000 3412 0100 01 01 01000000DEC0 02 A000 00")
        script.event(0x3E, "25 0000 7F C8 FF 0100 FF 00 03 020A04")
        script.event(0x3E, "25 0000 7F C8 FF 0200 03 00 03 020A05")
        Self.report("0100", "020A06", &script)
        let text = try Self.profile(script)
        #expect(try Self.sets(text).map { Hex.encode($0.bytes.periodic.bytes) } == ["020A04", "020A06"])
        #expect(
            text.contains("# Its periodic advertising has subevents (PAwR), which are left out."), "\(text)")
    }

    @Test func `advertisements that were received in part are a comment`() throws {
        var script = HCIScript()
        Self.advertise(0, "020106", interval: "0000", &script)
        Self.advertise(0, "0201", type: "4000", interval: "0000", &script)
        let text = try Self.profile(script)
        #expect(text.contains("# 1 advertisement was received only in part, and is left out."), "\(text)")
    }

    // MARK: A host that advertises

    private static func advertised(_ body: (inout HCIScript) -> Void) throws -> String {
        var script = HCIScript(isCentral: false)
        let rest = "07 00 00 000000000000 00 7F 01 00 02"
        script.command(.leSetExtendedAdvertisingParameters, "02 0000 A00000 A00000" + rest + "00 00")
        script.command(.leSetExtendedAdvertisingData, "02 03 01 03 020106")
        body(&script)
        return try Self.profile(script, device: nil)
    }

    @Test func `a host's train has the range of its interval, and the data at each time`() throws {
        let text = try Self.advertised { script in
            script.command(.leSetPeriodicAdvertisingParameters, "02 5000 6000 0000")
            script.command(.leSetPeriodicAdvertisingData, "02 01 03 04FF34")
            script.command(.leSetPeriodicAdvertisingData, "02 02 02 1200")
            script.command(.leSetPeriodicAdvertisingEnable, "01 02")
            script.command(.leSetExtendedAdvertisingEnable, "01 01 02 0000 00")
            for number in 1..<5 {
                script.wait(500)
                script.command(.leSetPeriodicAdvertisingData, "02 03 05 04FF34120\(number)")
            }
            // The data is unchanged; then the train goes on without the set.
            script.command(.leSetPeriodicAdvertisingData, "02 04 00")
            script.command(.leSetExtendedAdvertisingEnable, "00 01 02 0000 00")
            script.wait(500)
            script.command(.leSetPeriodicAdvertisingData, "02 03 05 04FF341205")
            script.command(.leSetPeriodicAdvertisingEnable, "00 02")
            script.command(.leSetPeriodicAdvertisingData, "02 03 05 04FF341206")
        }
        #expect(text.contains("    interval: {min: 100 ms, max: 120 ms}\n"), "\(text)")
        #expect(text.contains(#"values: ["00", "01", "02", "03", "04", "05"]"#))
        #expect(text.contains("  every: 500 ms\n") && !text.contains("left out"))
    }

    @Test func `a train that is not enabled, or whose set never is, is not on the air`() throws {
        let text = try Self.advertised { script in
            script.command(.leSetPeriodicAdvertisingParametersV2, "02 5000 5000 0000 02 06 00 00 00")
            script.command(.leSetPeriodicAdvertisingData, "02 03 03 020A04")
            script.command(.leSetExtendedAdvertisingEnable, "01 01 02 0000 00")
            script.command(
                .leSetExtendedAdvertisingParameters,
                "03 0000 A00000 A00000 07 00 00 000000000000 00 7F 01 00 02 01 00")
            script.command(.leSetPeriodicAdvertisingParameters, "03 5000 5000 0000")
            script.command(.leSetPeriodicAdvertisingEnable, "01 03")
        }
        #expect(!text.contains("periodic") && !text.contains("subevents"), "\(text)")
        let enabled = try Self.advertised { script in
            script.command(.leSetPeriodicAdvertisingParametersV2, "02 5000 5000 0000 02 06 00 00 00")
            script.command(.leSetExtendedAdvertisingEnable, "01 01 02 0000 00")
            script.command(.leSetPeriodicAdvertisingEnable, "03 02")
        }
        #expect(enabled.contains("  periodic:\n    interval: 100 ms\n"), "\(enabled)")
        #expect(enabled.contains("# Its periodic advertising has subevents (PAwR), which are left out."))
    }

    @Test func `a value that changes more slowly than another of its set is a comment`() throws {
        let text = try Self.advertised { script in
            script.command(.leSetPeriodicAdvertisingParameters, "02 5000 5000 0000")
            for number in 0..<9 {
                script.command(.leSetPeriodicAdvertisingData, "02 03 05 04FF34120\(number)")
                if number % 3 == 0 {
                    script.command(.leSetExtendedAdvertisingData, "02 03 01 05 04FF12340\(number)")
                }
                if number == 0 {
                    script.command(.leSetPeriodicAdvertisingEnable, "01 02")
                    script.command(.leSetExtendedAdvertisingEnable, "01 01 02 0000 00")
                }
                script.wait(200)
            }
        }
        #expect(text.contains("  every: 200 ms\n"), "\(text)")
        #expect(text.contains("# The advertising data changed more slowly, every 600 ms."))
    }

    // MARK: A sniffer

    @Test(arguments: SnifferTests.formats)
    func `a sniffer's train is that of the set whose advertisement announced it`(
        format: AirPacket.Format
    ) throws {
        var script = AirScript(format)
        let long = [0xFB, 0xFF, 0x34, 0x12] + [UInt8](repeating: 7, count: 248)
        let data = long + [2, 0x0A, 4]
        for _ in 0..<6 {
            script.advertiseExtended([4, 0xFF, 0x34, 0x12, 1], hasTrain: true)
            script.sync(Array(data[..<200]), hasMore: true)
            script.sync(Array(data[200...]))
            script.time += 97_000
        }
        // The end of this event was not heard.
        script.sync(Array(data[..<200]), hasMore: true)
        script.time += 99_000
        script.sync(Array(data[..<200]), hasMore: true)
        script.sync(Array(data[200...]))
        let text = try Self.valid(CaptureImport.profile(from: script.bytes, named: "test").profile)
        let set = try #require(try Self.sets(text).first)
        #expect(set.bytes.periodic.bytes == data, "\(text)")
        #expect(set.bytes.data.bytes == [4, 0xFF, 0x34, 0x12, 1])
        #expect(set.set.periodic?.interval.lowerBound == .milliseconds(100))
        #expect(text.contains("# 1 periodic advertising event was received only in part, and is left out."))
    }

    @Test func `a sniffer's long and empty advertisements are read, and trains it cannot tell a comment`()
        throws
    {
        var script = AirScript(.withPseudoHeader)
        script.sync([2, 0x0A, 4])
        let data = [0xEF, 0xFF, 0x34, 0x12] + [UInt8](repeating: 9, count: 236)
        for _ in 0..<4 {
            script.advertiseExtended(data, hasTrain: false)
            script.time += 100_000
        }
        let text = try Self.valid(CaptureImport.profile(from: script.bytes, named: "test").profile)
        #expect(try Self.sets(text)[0].bytes.data.bytes == data)
        #expect(
            text.contains(
                "1 report of periodic advertising is left out: the capture does not show which device sent it"
            ),
            "\(text)")

        var empty = AirScript(.nordic)
        for _ in 0..<4 {
            empty.advertiseExtended([], hasTrain: true)
            empty.sync([2, 0x0A, 4])
            empty.time += 98_000
        }
        let second = try Self.valid(CaptureImport.profile(from: empty.bytes, named: "test").profile)
        let set = try #require(try Self.sets(second).first)
        #expect(set.bytes.data.isEmpty && set.bytes.periodic.bytes == [2, 0x0A, 4], "\(second)")
        #expect(!second.contains("Only the periodic advertising"))
    }

    @Test func `mutated captures with trains are imported as a valid profile or refused`() throws {
        var host = HCIScript()
        for number in 0..<4 {
            Self.advertise(0, "04FF34120\(number)", &host)
            Self.synchronize("0000", "00", &host)
            Self.report("0000", "04FF34120\(number)", status: "01", &host)
            Self.report("0000", "04FF34120\(number)", &host)
        }
        var air = AirScript(.withPseudoHeader)
        for number in UInt8(0)..<4 {
            air.advertiseExtended([4, 0xFF, 0x34, 0x12, number], hasTrain: true)
            air.sync([4, 0xFF, 0x34, 0x12, number], hasMore: number % 2 == 0)
        }
        var read = 0
        for (index, file) in [CaptureFormat.pcapng.bytes(host.packets), air.bytes].enumerated() {
            var random = SeededRandom(seed: UInt64(index))
            for _ in 0..<400 {
                var bytes = file
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 24..<bytes.count, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
                guard let result = try? CaptureImport.profile(from: bytes, named: "test") else { continue }
                _ = try ProfileLoader.load(text: result.profile, file: "test.yaml")
                read += 1
            }
        }
        #expect(read > 100)
    }
}
