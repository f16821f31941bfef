import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@Suite struct NearestEventsTests {
    /// Events with their numbers, and the nearest ones to `write value=01 characteristic=2A39`.
    @Test(
        arguments: [
            ([], []), ([Events.event(.read)], []),
            ([Events.write("02"), Events.write("03")], ["2 value", "1 value"]),
            (
                [
                    Events.write("02", of: "2A38"), Events.write("02"), Events.write("01", of: "2A38"),
                    Events.event(.write), Events.event(.read), Events.write("03"),
                ], ["6 value", "3 characteristic", "2 value"]
            ),
            ([Events.event(.write), Events.write("01")], ["2 ", "1 value+characteristic"]),
            (
                [Events.write("02"), Events.write("02"), Events.write("02"), Events.write("03", of: "2A38")],
                ["3 value", "2 value", "1 value"]
            ),
        ] as [([DeviceEvent], [String])])
    func `the nearest events have the fewest differences, and of those are the latest`(
        events: [DeviceEvent], expected: [String]
    ) throws {
        var nearest = NearestEvents(to: try EventMatch(parsing: "write value=01 characteristic=2A39"))
        for (index, event) in events.enumerated() {
            nearest.add(.init(seq: UInt64(index + 1), event: event))
        }
        let found = nearest.candidates.map { "\($0.entry.seq) \($0.differs.joined(separator: "+"))" }
        #expect(found == expected)
    }

    @Test func `an event is shown whole, and says what it differs in`() throws {
        var nearest = NearestEvents(to: try EventMatch(parsing: "read value=01"))
        nearest.add(.init(seq: 3, event: Events.event(.read, [("value", .string("02"))])))
        let json = """
            [{"seq":3,"time":"1970-01-01T00:00:00.000000Z","event":"read","device":"lock","value":"02",\
            "differs":["value"]}]
            """
        #expect(nearest.json.text == json)
    }
}
