import MynahCore
import MynahProfiles
import MynahSupport
import MynahValues
import Testing

@testable import MynahEmulator

/// The fields of the value in an event.
@Suite struct EventValueTests {
    private static func event(
        _ fields: [JSON.Member], _ layout: ValueLayout? = nil, name: EventName = .notified
    ) -> DeviceEvent {
        var event = DeviceEvent(time: WallTime(microseconds: 0), name: name, fields: fields)
        if let layout, case .attribute(var use) = event.payload {
            use.attribute.layout = layout
            event.payload = .attribute(use)
        }
        return event
    }

    private static func attribute(_ uuid: String, _ value: String) -> [JSON.Member] {
        [
            .init("service", "180D"), .init("characteristic", .string(uuid)), .init("value", .string(value)),
        ]
    }

    private static func fields(_ event: DeviceEvent) -> String? {
        guard case .object(let members) = event.json else { return nil }
        return members.first { $0.key == "fields" }?.value.text
    }

    // The vectors are worked by hand from the GATT Specification Supplement; those of IEEE 11073 floats from
    // the Personal Health Devices Transcoding White Paper.
    @Test(arguments: [
        ("2A37", "0648", #"{"heartRate":72,"contact":true}"#),
        ("00002A37-0000-1000-8000-00805F9B34FB", "0048", #"{"heartRate":72}"#),
        ("2A1C", "006E0100FF", #"{"temperature":36.6}"#),
        ("2A1C", "00FFFF7F00", #"{"temperature":null}"#),
        ("2A1C", "0000008000", #"{"temperature":null}"#),
        ("2A1C", "00FEFF7F00", #"{"temperature":"inf"}"#),
        ("2A1C", "0002008000", #"{"temperature":"-inf"}"#),
        ("2A38", "01", #"{"location":1}"#),
        ("2A24", "4D79", #"{"modelNumber":"My"}"#),
        // A value that does not fit its layout has no fields.
        ("2A37", "", nil), ("2A37", "01", nil), ("2A19", "6400", nil), ("2A24", "FF", nil),
        ("FFF1", "01", nil),
    ])
    func `a value has the fields of the SIG's layout`(uuid: String, value: String, fields: String?) {
        #expect(Self.fields(Self.event(Self.attribute(uuid, value))) == fields)
    }

    @Test func `fields are made when they are read, and stand after the value`() {
        let event = Self.event(Self.attribute("2A19", "64") + [.init("withResponse", .bool(true))])
        #expect(event["fields"] == nil)
        #expect(
            event.json.text.hasSuffix(#""value":"64","fields":{"level":100},"withResponse":true}"#))
    }

    @Test func `the layout of a profile goes before that of the SIG`() {
        let own = ValueLayout([LayoutField("power", .integer(octets: 1, isSigned: true), "W")])
        #expect(Self.fields(Self.event(Self.attribute("2A19", "FF"), own)) == #"{"power":-1}"#)
        #expect(Self.fields(Self.event(Self.attribute("FFF1", "01"), own)) == #"{"power":1}"#)
        #expect(Self.fields(Self.event(Self.attribute("2A19", "0001"), own)) == nil)
    }

    @Test func `a part of a value and a descriptor have no fields`() {
        let level = Self.attribute("2A19", "64")
        #expect(Self.fields(Self.event(level + [.init("offset", .integer(1))], name: .write)) == nil)
        #expect(Self.fields(Self.event(level + [.init("descriptor", "2901")])) == nil)
        #expect(Self.fields(Self.event([.init("characteristic", "2A19"), .init("error", "0x0E")])) == nil)
        #expect(Self.fields(Self.event([.init("value", "64")])) == nil)
    }

    @Test func `an event that was read as JSON keeps its fields`() throws {
        let own = ValueLayout([LayoutField("power", .integer(octets: 1, isSigned: true), "W")])
        let text = Self.event(Self.attribute("FFF1", "01"), own).json.text
        let read = try #require(DeviceEvent(json: JSON(parsing: Array(text.utf8))))
        #expect(read.json.text == text)
    }

    @Test func `an attribute's own layout is in its events`() {
        var table = AttributeTable()
        let own = ValueLayout([LayoutField("power", .integer(octets: 1, isSigned: true), "W")])
        var entry = AttributeTable.Entry(
            service: BluetoothUUID(0x180F as UInt16), characteristic: BluetoothUUID(0x2A19 as UInt16),
            source: .stored([]), maximumLength: 1)
        let (known, mine, descriptor) = (AttributeKey(), AttributeKey(), AttributeKey())
        table.add(entry, as: known)
        entry.layout = own
        table.add(entry, as: mine)
        entry.descriptor = BluetoothUUID(0x2901 as UInt16)
        table.add(entry, as: descriptor)
        #expect(table.layout(of: known)?.names == ["level"])
        #expect(table.layout(of: mine) == own)
        #expect(table.layout(of: descriptor) == nil)
    }

    private static let rate = event(attribute("2A37", "16482C0358035803"))

    @Test(arguments: [
        (#"{"heartRate": 72}"#, true), (#"{"heartRate": 72.0}"#, true), (#"{"heartRate": 71}"#, false),
        (#"{"heartRate": {">": 60}}"#, true), (#"{"heartRate": {">": 60, "<": 70}}"#, false),
        (#"{"heartRate": {">=": 72, "<=": 72}, "contact": true}"#, true),
        (#"{"contact": false}"#, false), (#"{"contact": "true"}"#, true),
        // An item of a list.
        (#"{"rrIntervals": 0.8359}"#, true), (#"{"rrIntervals": 0.9}"#, false),
        (#"{"energyExpended": 1}"#, false), (#"{"energyExpended": {">": 0}}"#, false),
        (#"{"heartRate": null}"#, false), ("{}", true),
    ])
    func `a match takes a value by its fields`(fields: String, isMatch: Bool) throws {
        let text = #"{"event": "notified", "fields": \#(fields)}"#
        let match = try EventMatch(json: JSON(parsing: Array(text.utf8)))
        #expect(match.matches(Self.rate) == isMatch)
        #expect(match.differing(from: Self.rate) == (isMatch ? [] : ["fields"]))
    }

    @Test(arguments: [
        ("2A38", "01", #"{"location": 1}"#, true), ("2A38", "01", #"{"location": "chest"}"#, true),
        ("2A38", "02", #"{"location": "chest"}"#, false), ("2A24", "4D79", #"{"modelNumber": "My"}"#, true),
        ("2A1C", "00FFFF7F00", #"{"temperature": null}"#, true),
        ("2A1C", "00FEFF7F00", #"{"temperature": "inf"}"#, true),
        ("2A1C", "006E0100FF", #"{"temperature": {">": 36.5}}"#, true),
        ("2A1C", "00FFFF7F00", #"{"temperature": {">": 0}}"#, false),
        ("2A52", "0106AB", #"{"operand": "ab"}"#, true), ("FFF1", "01", "{}", false),
    ])
    func `a field is matched as JSON has it, and by its number's name`(
        uuid: String, value: String, fields: String, isMatch: Bool
    ) throws {
        let text = #"{"event": "notified", "fields": \#(fields)}"#
        let match = try EventMatch(json: JSON(parsing: Array(text.utf8)))
        #expect(match.matches(Self.event(Self.attribute(uuid, value))) == isMatch)
    }
}
