import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahSupport
import Testing

@testable import MynahConsole
@testable import MynahRun

@Suite struct ScanModelTests {
    /// A scan that hears each packet, as a central manager puts them together.
    private struct Scan {
        var model: ScanModel
        var coalescer = DiscoveryCoalescer()
        var time: Int64 = 1_000_000

        init(wanted: String? = nil) {
            model = ScanModel(place: "on the virtual radio", known: [], wanted: wanted)
            var scan = AppScan(allowsDuplicates: true)
            scan.awaitsScanResponses = false
            coalescer.start(scan)
        }

        /// Hears a PDU of a device, and returns its line if it is news.
        mutating func hear(_ kind: ScanReport.Kind, _ hex: String, of number: Int = 1) throws -> String? {
            time += 1000
            let bytes = (0..<6).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            let report = ScanReport(
                address: try #require(DeviceAddress(littleEndian: bytes, kind: .random)), kind: kind,
                data: try #require(Hex.decode(hex)), rssi: -50)
            var heard: [DiscoveryCoalescer.Discovery] = []
            coalescer.heard(report, into: &heard)
            let found = try #require(heard.first)
            let sighting = Sighting(
                report, advertisement: found.advertisement, data: found.data,
                scanResponse: found.scanResponse, isConnectable: found.isConnectable)
            return model.note(sighting, at: WallTime(microseconds: time)).map { model.text(of: $0) }
        }
    }

    private static let advertising = "0A0942756D626C6520485203030D18"

    @Test func `a scan response as Bumble's controller sends it is no news`() throws {
        var scan = Scan()
        // The advertising data once more, after each advertising PDU.
        let line = try #require(try scan.hear(.connectable, Self.advertising))
        #expect(line == "00:00:00:00:00:01  Bumble HR                  -50  heart-rate")
        #expect(try scan.hear(.scanResponse, Self.advertising) == nil)
        #expect(try scan.hear(.connectable, Self.advertising) == nil)
        #expect(try scan.hear(.scanResponse, Self.advertising) == nil)
        // Data that changes is news once.
        #expect(try scan.hear(.connectable, "020106") != nil)
        #expect(try scan.hear(.scanResponse, "020106") == nil)
        #expect(try scan.hear(.connectable, "020106") == nil)
    }

    @Test func `an empty scan response is no news, first or later`() throws {
        var scan = Scan()
        #expect(try scan.hear(.scanResponse, "") == nil)
        #expect(try scan.hear(.connectable, "020106") != nil)
        #expect(try scan.hear(.scanResponse, "") == nil)
        #expect(try scan.hear(.scanResponse, "03094142")?.contains("  AB  ") == true)
        for response in ["", "03094142", ""] { #expect(try scan.hear(.scanResponse, response) == nil) }
        #expect(try scan.hear(.connectable, "02011A") != nil)
        #expect(try scan.hear(.scanResponse, "03094143") != nil)
        // That no central may connect any more is news too.
        #expect(try scan.hear(.nonConnectable, "02011A")?.contains("not connectable") == true)
    }

    @Test func `a name in the scan response shows a device that is looked for by its name`() throws {
        var scan = Scan(wanted: "ab")
        let first = try #require(try scan.hear(.connectable, "020106"))
        #expect(!first.contains("AB"))
        #expect(scan.model.summary(width: 80) == [])
        #expect(try scan.hear(.scanResponse, "03094142") != nil)
        #expect(scan.model.summary(width: 80).count == 1)
    }

    /// Thirty devices, of which one has a wide name.
    private func crowd() throws -> ScanModel {
        var scan = Scan()
        for number in 1...30 {
            let name = number == 30 ? Array("心拍計モニ".utf8) : Array("Strap \(number)".utf8)
            _ = try scan.hear(
                .connectable, Hex.encode([UInt8(name.count + 1), 9] + name) + "03030D18", of: number)
        }
        return scan.model
    }

    @Test func `more devices than rows are counted as hidden, and the last that was heard is shown`() throws {
        let lines = try crowd().lines(
            width: 80, height: 24, now: WallTime(microseconds: 1_030_000), digits: "")
        #expect(lines.count == 24)
        #expect(lines[2] == "address            name        RSSI  heard     advertises")
        #expect(lines[3].hasPrefix("00:00:00:00:00:0E  Strap 14     -50  now       heart-rate"))
        #expect(lines[19].hasPrefix("00:00:00:00:00:1E  心拍計モニ   -50  now       heart-rate"))
        #expect(
            lines[20...] == [
                "and 13 more devices", "", "  in a new terminal: mynah connect '心拍計モニ'",
                "  Ctrl-C ends the scan",
            ])
    }

    @Test func `a low terminal keeps its rows while all devices are heard, and then drops the silent ones`()
        throws
    {
        var scan = Scan()
        func rows() -> [String] {
            scan.model.lines(width: 20, height: 10, now: WallTime(microseconds: scan.time), digits: "")
                .filter { $0.contains(":00:00") }.map { String($0.prefix(2)) }
        }
        // Addresses that begin with the number.
        for number in [0x10, 0x20, 0x30, 0x40, 0x50] {
            _ = try scan.hear(.connectable, "020106", of: number << 40)
        }
        #expect(rows() == ["40", "50"])
        _ = try scan.hear(.connectable, "020106", of: 0x10 << 40)
        #expect(rows() == ["40", "50"])
        scan.time += 10_000_000
        _ = try scan.hear(.connectable, "020106", of: 0x10 << 40)
        #expect(rows() == ["10", "50"])
    }

    @Test(arguments: [120, 80, 65, 44, 40, 20, 5])
    func `no line is wider than the terminal`(width: Int) throws {
        let model = try crowd()
        for height in [60, 24, 8, 4] {
            let lines = model.lines(
                width: width, height: height, now: WallTime(microseconds: 9_000_000), digits: "")
            #expect(lines.count <= height)
            #expect(
                lines.map { $0.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "") }
                    .allSatisfy { DisplayWidth.of($0) <= width })
        }
        let summary = model.summary(width: width)
        #expect(summary.count == 30)
        #expect(summary.allSatisfy { DisplayWidth.of($0) <= width })
    }

    @Test func `a narrow terminal shows names, and addresses of what has none`() throws {
        var scan = Scan()
        _ = try scan.hear(.connectable, "0709E5BF83E68B8D", of: 1)
        _ = try scan.hear(.connectable, "020106", of: 2)
        #expect(
            scan.model.summary(width: 24) == ["心拍                 -50", "00:00:00:00:00:02    -50"])
    }

    // MARK: Crowds

    private static func name(_ number: Int) -> String {
        let text = "Tag \(number)".utf8
        return Hex.encode([UInt8(text.count + 1), 0x09] + text)
    }

    @Test func `each device of a crowd is news once`() throws {
        var scan = Scan()
        for number in 1...10_000 {
            #expect(try scan.hear(.nonConnectable, Self.name(number), of: number) != nil)
        }
        for number in 1...10_000 {
            #expect(try scan.hear(.nonConnectable, Self.name(number), of: number) == nil)
        }
        #expect(scan.model.devices.count == 10_000)
    }

    @Test func `past the limit the devices that were heard longest ago are forgotten, and no other`() throws {
        var scan = Scan()
        for number in 1...ScanModel.limit + 1 {
            _ = try scan.hear(.nonConnectable, Self.name(number), of: number)
        }
        #expect(scan.model.devices.count <= ScanModel.limit)
        // The one that came last is shown.
        let last = "Tag \(ScanModel.limit + 1)"
        let lines = scan.model.lines(
            width: 80, height: 24, now: WallTime(microseconds: scan.time), digits: "")
        #expect(lines.contains { $0.contains(last) })
    }

    @Test(arguments: [(80, 24, 17), (80, 8, 1), (40, 5, 1), (120, 50, 43)])
    func `a low terminal shows the devices that were heard last, and how many more there are`(
        width: Int, height: Int, count: Int
    ) throws {
        var scan = Scan()
        for number in 1...1000 { _ = try scan.hear(.nonConnectable, Self.name(number), of: number) }
        // One that was heard first is heard once more, long after the others.
        scan.time += 60_000_000
        _ = try scan.hear(.nonConnectable, Self.name(5), of: 5)
        let lines = scan.model.lines(
            width: width, height: height, now: WallTime(microseconds: scan.time), digits: "")
        #expect(lines.count <= height)
        let shown = lines.filter { $0.contains("Tag ") && !$0.contains("mynah") }
        #expect(shown.count == count)
        #expect(shown.first?.contains("Tag 5 ") == true)
        #expect(count == 1 || shown.last?.contains("Tag 1000") == true)
        #expect(lines.contains("and \(1000 - count) more devices"))
    }

    @Test func `a crowd leaves the first devices on the terminal, and the number of the others`() throws {
        var scan = Scan()
        for number in 1...1000 { _ = try scan.hear(.nonConnectable, Self.name(number), of: number) }
        let summary = scan.model.summary(width: 80)
        #expect(summary.count == ScanModel.summaryLimit + 1)
        #expect(summary.first?.contains("Tag 1 ") == true)
        #expect(summary.last == "and 800 more devices")
    }
}
