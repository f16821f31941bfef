import MynahCore
import MynahSupport
import Testing

@testable import Mynah

@Suite struct DiscoveryTableTests {
    private func report(
        _ number: Int, _ kind: ScanReport.Kind, _ hex: String
    ) throws -> ScanReport {
        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return ScanReport(
            address: try #require(DeviceAddress(littleEndian: bytes, kind: .random)), kind: kind,
            data: try #require(Hex.decode(hex)))
    }

    @Test func `advertising and scan response are put together, each as it was heard last`() throws {
        var table = DiscoveryTable()
        #expect(try table.take(report(1, .connectable, "020106"), among: nil)?.advertisement.localName == nil)
        let both = try #require(try table.take(report(1, .scanResponse, "03094142"), among: nil))
        #expect(both.advertisement.localName == "AB")
        #expect(both.advertisement.flags == 6)
        #expect(both.isConnectable)
        #expect(both.data == [2, 1, 6] && both.scanResponse == [3, 9, 0x41, 0x42])
        let later = try #require(try table.take(report(1, .nonConnectable, "02011A"), among: nil))
        #expect(later.advertisement.flags == 0x1A)
        #expect(later.advertisement.localName == "AB")
        #expect(!later.isConnectable)
        #expect(try table.take(report(2, .connectable, "020106"), among: nil)?.advertisement.localName == nil)
    }

    @Test func `a scan response that repeats the advertising data adds nothing`() throws {
        var table = DiscoveryTable()
        for kind in [ScanReport.Kind.connectable, .scanResponse] {
            let found = try #require(try table.take(report(1, kind, "05FF59000102"), among: nil))
            #expect(found.advertisement.manufacturerData.count == 1)
        }
    }

    @Test func `only what advertises a service that is looked for is told, or may by its bit`() throws {
        var table = DiscoveryTable()
        #expect(try table.take(report(1, .connectable, "020106"), among: ["180D"]) == nil)
        #expect(try table.take(report(1, .scanResponse, "03030D18"), among: ["180D"]) != nil)
        #expect(try table.take(report(1, .connectable, "020106"), among: ["180D"]) != nil)
        let area = Hex.encode([OverflowArea(["180D"]).structure].bytes)
        #expect(try table.take(report(2, .connectable, area), among: ["180D"]) != nil)
        #expect(try table.take(report(2, .connectable, area), among: ["180F"]) == nil)
    }

    @Test func `addresses without end are forgotten, the longest unheard first`() throws {
        var table = DiscoveryTable()
        for number in 0..<10_000 { _ = try table.take(report(number, .connectable, "03094142"), among: nil) }
        #expect(table.size <= DiscoveryTable.limit)
        let last = try #require(try table.take(report(9_999, .scanResponse, "020106"), among: nil))
        #expect(last.advertisement.localName == "AB")
    }
}
