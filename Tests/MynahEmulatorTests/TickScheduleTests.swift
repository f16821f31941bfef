import MynahCore
import Testing

@testable import MynahEmulator

@Suite struct TickScheduleTests {
    let key = AttributeKey()
    var schedule = TickSchedule()

    @Test mutating func `the first tick is the next one due after somebody listens`() {
        schedule.start(key, every: .seconds(1), now: .milliseconds(2500))
        #expect(schedule.earliest == .init(attribute: key, number: 3, due: .seconds(3)))
    }

    @Test mutating func `on the very moment of a tick the next one is the first`() {
        schedule.start(key, every: .seconds(1), now: .seconds(2))
        #expect(schedule.earliest?.number == 3)
    }

    @Test mutating func `ticks that were missed follow one by one`() throws {
        schedule.start(key, every: .milliseconds(1), now: .zero)
        var numbers: [Int64] = []
        while let tick = schedule.earliest, tick.due <= .milliseconds(5) {
            numbers.append(tick.number)
            schedule.sent(tick)
        }
        #expect(numbers == [1, 2, 3, 4, 5])
    }

    @Test mutating func `listening again does not repeat or skip a tick`() {
        schedule.start(key, every: .seconds(1), now: .zero)
        schedule.start(key, every: .seconds(1), now: .milliseconds(10_500))
        #expect(schedule.earliest?.number == 1)
        schedule.stop(key)
        #expect(schedule.earliest == nil)
        schedule.start(key, every: .seconds(1), now: .milliseconds(10_500))
        #expect(schedule.earliest?.number == 11)
    }

    @Test mutating func `of two at one time the earlier definition comes first`() {
        let later = AttributeKey()
        schedule.start(later, every: .seconds(2), now: .zero)
        schedule.start(key, every: .seconds(1), now: .seconds(1))
        #expect(schedule.earliest?.attribute == key)
    }

    @Test mutating func `a thousand ticks a second for a month are still counted exactly`() {
        let month = Duration.seconds(30 * 24 * 3600)
        #expect(TickSchedule.number(at: month, every: .milliseconds(1)) == 2_592_000_000)
        schedule.start(key, every: .milliseconds(1), now: month)
        #expect(schedule.earliest?.due == month + .milliseconds(1))
    }
}
