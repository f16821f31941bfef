import MynahCore
import MynahProfiles
import Testing

@testable import MynahImport

/// A device whose attribute table changes while it is recorded.
@Suite struct ChangedTableTests {
    /// The lines with UUIDs and notes of a profile.
    private static func summary(_ script: HCIScript) throws -> [String] {
        let text = try script.profile().profile
        _ = try ProfileLoader.load(text: text, file: "test.yaml")
        return text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }.filter {
            $0.hasPrefix("- uuid:") || $0.hasPrefix("value:") || $0.contains("attributes changed")
                || $0.contains("later change")
        }.map { String($0.split(separator: "  ")[0]) }
    }

    private static let note =
        "# The device's attributes changed; these are the last that were discovered."

    /// The strap of `HCIScript.discover`, and a value of it.
    private static func first() -> HCIScript {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("10 1700 FFFF 0028", "01 10 1700 0A")
        script.exchange("0A 1200", "0B 0048")
        return script
    }

    /// Another service at the same handles.
    private static func discoverAnother(_ script: inout HCIScript) {
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1500 0A18")
        script.exchange("10 1600 FFFF 0028", "01 10 1600 0A")
        script.exchange("08 1000 1500 0328", "09 07 1100 02 1200 292A")
        script.exchange("0A 1200", "0B 4142")
    }

    @Test func `of two tables of one address the last whole one is imported, with its values`() throws {
        var script = Self.first()
        script.disconnect()
        script.connect()
        Self.discoverAnother(&script)
        #expect(
            try Self.summary(script) == [Self.note, "- uuid: 180A", "- uuid: 2A29", "value: {hex: 41 42}"])
    }

    @Test func `values of another table are counted, with an example`() throws {
        var script = Self.first()
        script.exchange("12 1500 01", "13")
        script.answer("1B 1200 00 48")
        script.answer("1B 1200 00 49")
        script.disconnect()
        script.connect()
        Self.discoverAnother(&script)
        let note = Self.note.dropLast() + "; of others are left out: 1 write and 2 values, such as 00 48."
        #expect(try Self.summary(script).first == String(note))
    }

    @Test func `a table that was discovered in part leaves the whole one before it`() throws {
        var script = Self.first()
        script.disconnect()
        script.connect()
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1500 0A18")
        script.exchange("10 1600 FFFF 0028", "01 10 1600 0A")
        #expect(
            try Self.summary(script) == [
                Self.note, "# A later change was discovered only in part, and is left out.", "- uuid: 180D",
                "- uuid: 2A37", "value: {hex: 00 48}", "- uuid: 2A39",
            ])
    }

    @Test func `a service that is gone is not in the last table`() throws {
        var script = HCIScript()
        script.connect()
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1200 0A18 1300 1500 0F18")
        script.exchange("10 1600 FFFF 0028", "01 10 1600 0A")
        script.exchange("08 1000 1200 0328", "09 07 1100 02 1200 292A")
        script.exchange("08 1300 1500 0328", "09 07 1400 02 1500 192A")
        let whole = script
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1200 0A18")
        script.exchange("10 1300 FFFF 0028", "01 10 1300 0A")
        script.exchange("08 1000 1200 0328", "09 07 1100 02 1200 292A")
        #expect(try Self.summary(script) == [Self.note, "- uuid: 180A", "- uuid: 2A29"])
        // The link is lost in the middle of a discovery of the same table.
        script = whole
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1200 0A18")
        #expect(
            try Self.summary(script) == ["- uuid: 180A", "- uuid: 2A29", "- uuid: 180F", "- uuid: 2A19"])
    }

    @Test func `discoveries of one table are put together`() throws {
        var script = HCIScript()
        script.connect()
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1600 0D18")
        script.exchange("10 1700 FFFF 0028", "01 10 1700 0A")
        script.disconnect()
        script.connect()
        script.discover()
        script.exchange("0A 1200", "0B 0048")
        script.disconnect()
        script.connect()
        // The phone knows the characteristics.
        script.exchange("10 0100 FFFF 0028", "11 06 1000 1600 0D18")
        script.exchange("12 1500 01", "01 12 1500 80")
        let text = try script.profile().profile
        #expect(text.contains("value: {hex: 00 48}") && text.contains("error: 0x80"))
        #expect(!text.contains("changed"))
    }

    @Test func `Service Changed begins another table of the handles in its range`() throws {
        func script(_ rest: (inout HCIScript) -> Void) throws -> [String] {
            var script = HCIScript()
            script.connect()
            script.exchange("10 0100 FFFF 0028", "11 06 0100 0400 0118 1000 1200 0A18 1300 1500 0F18")
            script.exchange("10 1600 FFFF 0028", "01 10 1600 0A")
            script.exchange("08 0100 0400 0328", "09 07 0200 20 0300 052A")
            script.exchange("08 1000 1200 0328", "09 07 1100 02 1200 292A")
            script.exchange("08 1300 1500 0328", "09 07 1400 02 1500 192A")
            script.answer("1D 0300 1300 FFFF")
            script.ask("1E")
            rest(&script)
            return try Self.summary(script)
        }
        let changed = try script { script in
            script.exchange("10 1300 FFFF 0028", "11 06 1300 1500 0D18")
            script.exchange("10 1600 FFFF 0028", "01 10 1600 0A")
            script.exchange("08 1300 1500 0328", "09 07 1400 02 1500 382A")
        }
        #expect(changed == [Self.note, "- uuid: 180A", "- uuid: 2A29", "- uuid: 180D", "- uuid: 2A38"])
        let gone = try script { $0.exchange("10 1300 FFFF 0028", "01 10 1300 0A") }
        #expect(gone == [Self.note, "- uuid: 180A", "- uuid: 2A29"])
        // The phone does not look.
        #expect(try script { _ in }.count == 4)
    }

    /// A table with a service in the middle of whose handles the device says that they changed: 0x10 to 0x12.
    private static func middle(_ range: String = "1000 1200") -> HCIScript {
        var script = HCIScript()
        script.connect()
        discover(&script, middle: "0A18", value: "292A")
        script.answer("1D 0300 \(range)")
        script.ask("1E")
        return script
    }

    private static func discover(_ script: inout HCIScript, middle: String, value: String) {
        script.exchange("10 0100 FFFF 0028", "11 06 0100 0400 0118 1000 1200 \(middle) 1300 1500 0F18")
        script.exchange("10 1600 FFFF 0028", "01 10 1600 0A")
        script.exchange("08 0100 0400 0328", "09 07 0200 20 0300 052A")
        script.exchange("08 1000 1200 0328", "09 07 1100 02 1200 \(value)")
        script.exchange("08 1300 1500 0328", "09 07 1400 02 1500 192A")
    }

    private static let known = ["- uuid: 180A", "- uuid: 2A29", "- uuid: 180F", "- uuid: 2A19"]

    private static let partial = [
        note, "# A later change was discovered only in part, and is left out.", "- uuid: 180A",
        "- uuid: 2A29", "- uuid: 180F", "- uuid: 2A19",
    ]

    static let rediscoveries: [(exchanges: [(String, String)], expected: [String])] = [
        // Nothing is discovered again.
        ([], known),
        // Another service, in the range alone.
        (
            [
                ("10 1000 1200 0028", "11 06 1000 1200 0D18"),
                ("08 1000 1200 0328", "09 07 1100 02 1200 382A"),
            ], [note, "- uuid: 180D", "- uuid: 2A38", "- uuid: 180F", "- uuid: 2A19"]
        ),
        // One without characteristics, after which none begins.
        (
            [("10 1000 1200 0028", "11 06 1000 1000 0D18"), ("10 1100 1200 0028", "01 10 1100 0A")],
            [note, "- uuid: 180D", "- uuid: 180F", "- uuid: 2A19"]
        ),
        // The same one.
        (
            [
                ("10 1000 1200 0028", "11 06 1000 1200 0A18"),
                ("08 1000 1200 0328", "09 07 1100 02 1200 292A"),
            ], known
        ),
        // None.
        ([("10 1000 1200 0028", "01 10 1000 0A")], [note, "- uuid: 180F", "- uuid: 2A19"]),
        // Half of the range: the other half may have a service.
        (
            [("10 1000 1100 0028", "11 06 1000 1100 0D18")], partial
        ),
    ]

    @Test(arguments: rediscoveries)
    func `after a change in the middle, a discovery of its range is enough`(
        exchanges: [(String, String)], expected: [String]
    ) throws {
        var script = Self.middle()
        for (request, response) in exchanges { script.exchange(request, response) }
        #expect(try Self.summary(script) == expected)
    }

    @Test func `after a change in the middle, a whole discovery may show the same table`() throws {
        var script = Self.middle()
        Self.discover(&script, middle: "0A18", value: "292A")
        #expect(try Self.summary(script) == Self.known)
        Self.discover(&script, middle: "0D18", value: "382A")
        #expect(
            try Self.summary(script) == [
                Self.note, "- uuid: 180D", "- uuid: 2A38", "- uuid: 180F", "- uuid: 2A19",
            ])
    }

    @Test func `a change of the first handles is discovered in its range`() throws {
        var script = Self.middle("0100 1200")
        script.exchange("10 0100 1200 0028", "11 06 0100 0400 0118 0800 0A00 0D18")
        script.exchange("10 0B00 1200 0028", "01 10 0B00 0A")
        script.exchange("08 0800 0A00 0328", "09 07 0900 02 0A00 382A")
        #expect(
            try Self.summary(script) == [
                Self.note, "- uuid: 180D", "- uuid: 2A38", "- uuid: 180F", "- uuid: 2A19",
            ])
    }

    @Test func `a table is whole again when all handles that changed were discovered`() {
        var table = ObservedTable()
        table.declare("180A", 0x10...0x12, isPrimary: true)
        table.endServices()
        var changed = table.without(0x10...0x12).without(0x20...0x30)
        #expect(table.hasAllServices && !changed.hasAllServices)
        changed.discovered(0x10...0x1F)
        #expect(!changed.hasAllServices)
        changed.discovered(0x28...0x30)
        changed.discovered(0x20...0x27)
        #expect(changed.hasAllServices)
    }

    @Test func `a write whose answer comes after the table has changed is harmless`() throws {
        var script = Self.first()
        script.ask("12 1500 01")
        script.ask("10 0100 FFFF 0028")
        script.answer("13")
        script.answer("11 06 1000 1500 0A18")
        Self.discoverAnother(&script)
        #expect(try Self.summary(script).contains("- uuid: 180A"))
    }
}
