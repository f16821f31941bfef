import Foundation
import MynahEmulator
import MynahSupport
import Testing

@testable import MynahProfiles

/// The table of events, held against events as programs before it wrote them.
@Suite struct EventTableTests {
    /// An event of each name with each set of fields that the tests and the transcripts had, a JSON object on
    /// each line.
    private static let events: [String] = {
        let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let text = try? String(contentsOfFile: "\(repository)/Tests/Events/events.jsonl", encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }()

    private static func event(_ text: String) throws -> DeviceEvent {
        try #require(DeviceEvent(json: JSON(parsing: Array(text.utf8))), "\(text)")
    }

    @Test func `an event that is read is written byte by byte as it was`() throws {
        for text in Self.events { #expect(try Self.event(text).json.text == text) }
    }

    @Test func `the table has every field of every event`() throws {
        for text in Self.events {
            let event = try Self.event(text)
            let known = EventCatalog.fields(of: event.name.rawValue)
            #expect(Set(event.fields.map(\.key)).subtracting(known + ["fields"]) == [], "\(text)")
            // Nothing but the fields of a value is kept as it was written.
            let rebuilt = DeviceEvent(
                time: event.time, event.name, event.payload, of: event.device, isQueued: event.isQueued)
            #expect(rebuilt.fields == event.fields.filter { $0.key != "fields" }, "\(text)")
        }
    }

    @Test func `every event is among them, and has fields if the table says so`() throws {
        let events = try Self.events.map { try Self.event($0) }
        for name in EventName.allCases {
            let fields = Set(events.filter { $0.name == name }.flatMap(\.fields).map(\.key))
            #expect(events.contains { $0.name == name }, "\(name.rawValue)")
            #expect(
                fields.subtracting(["device", "queued"]).isEmpty == EventTable.fields(of: name).isEmpty,
                "\(name.rawValue)")
        }
    }

    @Test func `every event has one row`() {
        #expect(
            EventTable.rows.map(\.name).sorted { $0.rawValue < $1.rawValue }
                == EventName.allCases.sorted { $0.rawValue < $1.rawValue })
    }
}
