import MynahCore
import MynahSupport
import Testing

@testable import MynahValues

@Suite struct FieldShapeTests {
    private func shapes(_ uuid: BluetoothUUID) throws -> [FieldShape] {
        try #require(KnownLayouts.layout(of: uuid)).shapes
    }

    @Test func `a number has the bounds of its integer, and the shorter form's if it has two`() throws {
        let shapes = try shapes("2A37")
        #expect(
            shapes.first
                == FieldShape(
                    "heartRate", .number(lower: 0, upper: 65535, step: 1, short: 255), unit: "bpm"))
        let energy = try #require(shapes.first { $0.name == "energyExpended" })
        #expect(energy.isOptional && energy.unit == "kJ")
        let intervals = try #require(shapes.first { $0.name == "rrIntervals" })
        guard case .list(.number(0, let upper, let step, nil)) = intervals.content else {
            Issue.record("\(intervals.content)")
            return
        }
        #expect(upper == 65535.0 / 1024 && step == 1.0 / 1024)
        #expect(shapes.last == FieldShape("contact", .boolean, isOptional: true))
    }

    @Test func `bounds are in the unit that people see`() throws {
        #expect(
            try shapes("2A6E") == [
                FieldShape(
                    "temperature", .number(lower: -327.68, upper: 327.67, step: 0.01, short: nil),
                    unit: "°C")
            ])
    }

    @Test func `a choice has names, and a float has no bounds`() throws {
        guard case .choice(let names)? = try shapes("2A38").first?.content else {
            Issue.record("it is no choice")
            return
        }
        #expect(names.prefix(2) == ["other", "chest"])
        #expect(try shapes("2A1C").first?.content == .float)
    }

    @Test func `bits with a meaning are fields, and so are texts, bytes and dates`() {
        let layout = ValueLayout([
            LayoutField(
                "flags",
                .bits(
                    octets: 1,
                    [.announces(["when"], isInverted: false), .number("level", width: 3), .reserved(4)])),
            LayoutField("when", .dateTime), LayoutField("label", .utf8), LayoutField("rest", .bytes),
            LayoutField("plain", .enumeration(octets: 1, names: [])),
        ])
        #expect(
            layout.shapes == [
                FieldShape("when", .dateTime, isOptional: true), FieldShape("label", .text),
                FieldShape("rest", .bytes),
                FieldShape("plain", .number(lower: 0, upper: 255, step: 1, short: nil)),
                FieldShape("level", .number(lower: 0, upper: 7, step: 1, short: nil)),
            ])
    }

    @Test func `every value that fits a layout has fields of its shapes alone`() {
        for (uuid, bytes) in ValueLayoutTests.vectors.map({ ($0.uuid, $0.bytes) }) {
            guard let layout = KnownLayouts.layout(of: uuid),
                let bytes = Hex.decode(bytes.replacing(" ", with: "")), let fields = layout.decode(bytes)
            else { continue }
            let names = layout.shapes.map(\.name)
            #expect(fields.allSatisfy { names.contains($0.name) }, "\(uuid)")
            #expect(Set(names).count == names.count)
        }
    }
}
