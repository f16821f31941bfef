import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

/// Events and times that are read back from JSON.
@Suite(.timeLimit(.minutes(5))) struct EventReadingTests {
    @Test(
        arguments: [
            0, 1, 999_999, 1_000_000, 951_782_400_000_000, 1_767_268_800_123_456, 253_402_300_799_999_999,
            -1, -62_135_596_800_000_000,
        ] as [Int64])
    func `a time is read as it is written`(microseconds: Int64) {
        let time = WallTime(microseconds: microseconds)
        #expect(WallTime(rfc3339: time.rfc3339) == time, "\(time.rfc3339)")
    }

    @Test func `the time of a virtual clock is in UTC, wherever the user is`() {
        let clock = RunClock(VirtualTime(.manual))
        #expect(WallTime.now(clock).localClock == "00:00:00.000")
        #expect(WallTime.now(clock).isVirtual && !WallTime.now().isVirtual)
    }

    @Test(arguments: [
        "", "Z", "2026-01-01T12:00:00Z", "2026-01-01T12:00:00.000000", "2026-01-01T12:00:00.000000+",
        "2026-13-01T12:00:00.000000Z", "2026-02-30T12:00:00.000000Z", "2026-01-01T25:00:00.000000Z",
        "2026-01-01x12:00:00.000000Z", "2026-01-01T12:00:00,000000Z", "20261-1-01T12:00:00.000000Z",
        "99999999999-1-1-1-1-1-1-1-Z",
        "2147483647-01-01T1:1:1.123Z", "2026-01-2147483647T1:1:1.1Z", "2026-01-01T12:00:00.00000é",
    ])
    func `a text that is no time is not read`(text: String) {
        #expect(WallTime(rfc3339: text) == nil)
    }

    @Test func `an event is read as it is written, without the members that the journal adds`() throws {
        let event = DeviceEvent(
            time: WallTime(microseconds: 1_767_268_800_123_456), name: .write,
            fields: [
                .init("device", "Lock"), .init("value", "01"), .init("mtu", .integer(23)),
                .init("list", .array([.null, .bool(true)])), .init("queued", .bool(true)),
            ])
        #expect(DeviceEvent(json: event.json) == event)
        let parsed = try JSON(parsing: Array(event.json.text.utf8))
        #expect(DeviceEvent(json: parsed) == event)
        guard case .object(let members) = parsed else { return }
        let kept = JSON.object(
            [.init("seq", .integer(7))] + members + [.init("differs", .array(["value"]))])
        #expect(DeviceEvent(json: kept) == event)
    }

    @Test(arguments: [
        "null", "[]", "{}", #"{"event": "write"}"#, #"{"time": "2026-01-01T12:00:00.000000Z"}"#,
        #"{"time": "2026-01-01T12:00:00.000000Z", "event": "writes"}"#, #"{"time": 1, "event": "write"}"#,
    ])
    func `an object that is no event of this version is not read`(text: String) throws {
        #expect(DeviceEvent(json: try JSON(parsing: Array(text.utf8))) == nil)
    }
}
