import Testing

@testable import MynahHCI

@Suite struct AirClockTests {
    private func air(_ milliseconds: Int64) -> AirTime { AirTime(microseconds: milliseconds * 1000) }

    @Test func `time goes with the system's where nothing is due, however long nobody looks`() {
        var clock = AirClock(start: 5_000_000)
        #expect(clock.time(at: 5_000_000, due: nil) == air(0))
        #expect(clock.time(at: 3_605_000_000, due: nil) == air(3_600_000))
        #expect(clock.time(at: 3_605_000_000, due: air(4_000_000)) == air(3_600_000))
    }

    @Test func `a delay of up to 100 ms counts in full`() {
        var clock = AirClock(start: 0)
        #expect(clock.time(at: 1_100_000, due: air(1000)) == air(1100))
        #expect(clock.start == 0)
    }

    @Test func `a longer stop counts as 100 ms, and the time goes on from there`() {
        var clock = AirClock(start: 0)
        #expect(clock.time(at: 60_000_000, due: air(1000)) == air(1100))
        #expect(clock.start == 58_900_000)
        #expect(clock.time(at: 60_001_000, due: air(1200)) == air(1101))
        #expect(clock.time(at: 60_100_000, due: nil) == air(1200))
        // And again.
        #expect(clock.time(at: 90_100_000, due: air(1200)) == air(1300))
    }
}
