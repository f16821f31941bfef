import Testing

@testable import MynahBlueZ

@Suite struct NotificationPacerTests {
    /// How many go through at one moment.
    private func burst(_ pacer: inout NotificationPacer, at now: Duration) -> Int {
        var count = 0
        while count < 10_000, pacer.spend(at: now) { count += 1 }
        return count
    }

    @Test(arguments: [(1, 1), (5, 1), (10, 1), (100, 10), (2000, 200)])
    func `a tenth of a second's worth goes at once, and one at least`(rate: Int, atOnce: Int) {
        var pacer = NotificationPacer(rate: rate)
        #expect(burst(&pacer, at: .seconds(1)) == atOnce)
        #expect(burst(&pacer, at: .seconds(1)) == 0)
        #expect(burst(&pacer, at: .seconds(100)) == atOnce)
    }

    @Test(arguments: [1, 5, 100, 2000])
    func `after the pause there is room`(rate: Int) {
        var pacer = NotificationPacer(rate: rate)
        _ = burst(&pacer, at: .zero)
        let pause = pacer.pause
        #expect(pause > .zero)
        let limit: Duration = .seconds(1) / rate * max(1, rate / 100)
        #expect(pause <= limit + .microseconds(1))
        #expect(burst(&pacer, at: pause) >= 1)
    }

    @Test func `time that runs backwards gives nothing`() {
        var pacer = NotificationPacer(rate: 10)
        #expect(burst(&pacer, at: .seconds(10)) == 1)
        #expect(burst(&pacer, at: .seconds(5)) == 0)
    }
}
