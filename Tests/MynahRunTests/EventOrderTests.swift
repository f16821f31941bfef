import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahRun

/// The times of a run's events, in the order in which they are passed on.
@Suite struct EventOrderTests {
    private static func times(_ microseconds: [Int64]) -> [Int64] {
        var order = EventOrder()
        return microseconds.map { order.time(of: WallTime(microseconds: $0)).microseconds }
    }

    @Test func `a time does not go back, unless the calendar was set back`() {
        #expect(Self.times([5, 7, 6, 7, 3, 8]) == [5, 7, 7, 7, 7, 8])
        let late: Int64 = 20_000_000
        #expect(
            Self.times([late, 10_000_000, 9_999_999, 10_000_000]) == [late, late, 9_999_999, 10_000_000])
    }

    @Test func `events of two devices have one order and times that do not go back`() throws {
        let (log, journal) = (RunLog(), Journal())
        let clock = RunClock.real
        let plan = try RunRig.plan([RunRig.lock])
        let events = RunEvents(
            RunOutputs([log]) { _ in }, RunWatch(plan, Interruption(), clock: clock), journal, clock: clock)
        let writer = FileWriter(clock)
        let (one, other) = (events.observer(of: "One", writer), events.observer(of: "Two", writer))
        func report(_ microseconds: Int64, _ observer: (@Sendable (DeviceEvent) -> Void)?) {
            observer?(DeviceEvent(time: WallTime(microseconds: microseconds), .advertisingStopped))
        }
        report(2, one)
        report(1, other)
        report(3, one)
        let entries = journal.read(from: 1).entries
        #expect(entries.map(\.event.time.microseconds) == [2, 2, 3])
        #expect(log.events(.advertisingStopped).map(\.time.microseconds) == [2, 2, 3])
        #expect(entries.map { $0.event.string("device") } == ["One", "Two", "One"])
    }
}
