import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct StationTableTests {
    @Test func `a station keeps its value while others come and go`() {
        var random = SeededRandom(seed: 7)
        var table = StationTable<UInt64>()
        var expected: [Station: UInt64] = [:]
        for _ in 0..<2000 {
            let station = Station(UInt64.random(in: 1...200, using: &random))
            if let index = table.index(of: station) {
                #expect(table.station(at: index) == station)
                #expect(table[at: index] == expected[station])
                if Bool.random(using: &random) {
                    table[at: index] += 1
                    expected[station, default: 0] += 1
                } else {
                    table.remove(station)
                    expected[station] = nil
                }
            } else {
                let value = random.next()
                table.add(station, value)
                expected[station] = value
            }
            #expect(table.count == expected.count)
        }
        for (station, value) in expected { #expect(table.index(of: station).map { table[at: $0] } == value) }
        table.remove(Station(999))
        #expect(table.count == expected.count)
    }
}
