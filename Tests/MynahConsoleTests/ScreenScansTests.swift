import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahConsole

@Suite struct ScreenScansTests {
    private static func event(
        _ name: DeviceEvent.Name, _ app: String, _ services: [String], duplicates: Bool = false,
        interval: Double? = 40
    ) -> DeviceEvent {
        DeviceEvent(
            time: WallTime(microseconds: 0), name: name,
            fields: [
                .init("device", .string(app)), .init("services", .array(services.map { .string($0) })),
                .init("allowDuplicates", .bool(duplicates)),
                .init("intervalMilliseconds", interval.map { .number($0) } ?? .null),
                .init("windowMilliseconds", interval.map { _ in .number(30) } ?? .null),
            ])
    }

    private static func lines(_ events: [DeviceEvent]) -> [String] {
        var scans = ScreenScans()
        for event in events { scans.note(event) }
        return scans.lines.map { "\($0.app): \($0.text)" }
    }

    @Test func `a manager's scan goes on when another manager of the app stops`() {
        let started = [Self.event(.scanStarted, "One", ["180A"]), Self.event(.scanStarted, "One", ["180D"])]
        #expect(
            Self.lines(started) == [
                "One: scanning for device-information · 30 of 40 ms",
                "One: scanning for heart-rate · 30 of 40 ms",
            ])
        let stopped = started + [Self.event(.scanStopped, "One", ["180A"])]
        #expect(Self.lines(stopped) == ["One: scanning for heart-rate · 30 of 40 ms"])
        #expect(Self.lines(stopped + [Self.event(.scanStopped, "One", ["180D"])]) == [])
    }

    @Test func `active scans come before paused ones`() {
        let events = [
            Self.event(.scanPaused, "Fore", [], interval: nil), Self.event(.scanStarted, "Both", ["180D"]),
        ]
        #expect(
            Self.lines(events) == [
                "Both: scanning for heart-rate · 30 of 40 ms", "Fore: scan paused for every device",
            ])
    }

    @Test func `a scan that pauses, starts again or changes stays one`() {
        let events = [
            Self.event(.scanStarted, "A", ["180D"]), Self.event(.scanPaused, "A", ["180D"], interval: nil),
            Self.event(.scanStarted, "A", ["180D"]), Self.event(.scanChanged, "A", ["180D"], interval: 300),
        ]
        #expect(Self.lines(events) == ["A: scanning for heart-rate · 30 of 300 ms"])
        #expect(Self.lines(events + [Self.event(.scanStopped, "A", ["180D"], interval: 300)]) == [])
    }

    @Test func `two managers that scan for the same are one line until both have stopped`() {
        let two = [
            Self.event(.scanStarted, "A", ["180D"], duplicates: true),
            Self.event(.scanStarted, "A", ["180D"]),
        ]
        let one = two + [Self.event(.scanStopped, "A", ["180D"], duplicates: true)]
        #expect(Self.lines(one) == ["A: scanning for heart-rate · 30 of 40 ms"])
        let slow = [1, 2].map { _ in Self.event(.scanChanged, "A", ["180D"], interval: 300) }
        #expect(Self.lines(two + slow) == ["A: scanning for heart-rate · 30 of 300 ms"])
        let stop = Self.event(.scanStopped, "A", ["180D"], interval: 300)
        #expect(Self.lines(two + slow + [stop]) == ["A: scanning for heart-rate · 30 of 300 ms"])
        #expect(Self.lines(two + slow + [stop, stop]) == [])
    }
}
