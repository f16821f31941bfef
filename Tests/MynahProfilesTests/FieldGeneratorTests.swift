import MynahCore
import MynahSupport
import Testing

import Glibc

@testable import MynahProfiles
@testable import MynahValues

/// Fields that change from tick to tick.
@Suite struct FieldGeneratorTests {
    /// The first field of the values of ticks.
    static func numbers(
        _ uuid: String, _ value: String, _ ticks: some Sequence<UInt64>, every: Duration = .seconds(1),
        seed: UInt64 = 1, start: Int64? = nil
    ) throws -> [FieldValue] {
        let generator = try FieldTests.generator(uuid, value, seed: seed, every: every, start: start)
        let layout = try #require(try FieldTests.first(FieldTests.typed(uuid, value)).layout)
        return try ticks.map { tick in
            try #require(layout.decode(generator.value(at: tick))?.first).value
        }
    }

    private static func level(_ generator: String) -> String { "{fields: {level: {generate: \(generator)}}}" }

    @Test(
        "each generator makes its numbers",
        arguments: [
            ("constant, value: 7", [7, 7, 7, 7, 7]),
            ("ramp, from: 0, to: 100, period: 10 s", [0, 10, 20, 30, 40]),
            ("sine, min: 0, max: 100, period: 4 s", [50, 100, 50, 0, 50]),
            ("square, min: 1, max: 2, period: 4 s", [1, 1, 2, 2, 1]), ("counter", [0, 1, 2, 3, 4]),
            ("counter, from: 10, by: -3", [10, 7, 4, 1, 254]), ("counter, from: 254", [254, 255, 0, 1, 2]),
            ("list, values: [3, 1 %, 2]", [3, 1, 2, 3, 1]), ("toggle", [0, 1, 0, 1, 0]),
            ("randomWalk, min: 5, max: 5, step: 1", [5, 5, 5, 5, 5]),
            ("uniform, min: 8, max: 8", [8, 8, 8, 8, 8]),
            ("noise, around: 8, by: 0", [8, 8, 8, 8, 8]), ("normal, mean: 8, deviation: 0", [8, 8, 8, 8, 8]),
        ])
    func kinds(generator: String, numbers: [Int]) throws {
        #expect(try Self.numbers("2A19", Self.level(generator), 0..<5) == numbers.map { .integer($0) })
    }

    @Test func `a clock goes on from its start, or the run's`() throws {
        let value = "{fields: {dateTime: {generate: clock, start: 2024-02-28T23:59:58Z}}}"
        #expect(
            try Self.numbers("2A08", value, 0..<3, every: .milliseconds(1500)) == [
                .text("2024-02-28T23:59:58"), .text("2024-02-28T23:59:59"), .text("2024-02-29T00:00:01"),
            ])
        let run = "{fields: {dateTime: {generate: clock}}}"
        #expect(try Self.numbers("2A08", run, [0]) == [.text("2026-01-01T00:00:00")])
        #expect(try Self.numbers("2A08", run, [0], start: 0) == [.text("1970-01-01T00:00:00")])
        let seconds = "{layout: [{now: uint32}], fields: {now: {generate: clock}}}"
        #expect(try Self.numbers("3001", seconds, [1]) == [.integer(1_767_225_601)])
        #expect(try Self.numbers("2A08", run, [.max]) == [.text("9999-12-31T23:59:59")])
    }

    @Test(
        arguments: [
            ("1582-01-01T00:00:00", -12_244_089_600), ("1969-12-31T23:59:59", -1),
            ("2000-02-29T00:00:00", 951_782_400),
            ("2026-01-01T00:00:00", GeneratorRun.repeatableStart), ("9999-12-31T23:59:59", CivilTime.last),
        ] as [(String, Int64)])
    func `a date is the seconds since 1970 and back`(text: String, seconds: Int64) {
        #expect(CivilTime.seconds(of: text) == seconds)
        #expect(CivilTime.text(of: seconds) == text)
    }

    @Test(arguments: ["2026-02-29T00:00:00", "2026-01-01", "x", "2026-13-01T00:00:00", "1000-01-01T00:00:00"])
    func `a day that is not in the calendar is no date`(text: String) {
        #expect(CivilTime.seconds(of: text) == nil)
    }

    @Test func `lists can have generators, names, texts and truths in them`() throws {
        let intervals =
            "{fields: {heartRate: 60, rrIntervals: [{generate: uniform, min: 800 ms, max: 0.9 s}, 1 s]}}"
        let generator = try FieldTests.generator("2A37", intervals)
        let values = try (0..<50 as Range<UInt64>).map { tick -> [FieldValue] in
            let fields = try #require(KnownLayouts.layout(of: "2A37")?.decode(generator.value(at: tick)))
            guard case .list(let list) = fields[1].value else { return [] }
            return list
        }
        #expect(values.allSatisfy { $0.count == 2 && $0.last?.number == 1 })
        let first = values.map { $0.first?.number ?? 0 }
        #expect(first.allSatisfy { number in number > 0.799 && number < 0.901 })
        #expect(Set(first).count > 20)
        let places = "{fields: {location: {generate: list, values: [chest, wrist]}}}"
        #expect(try Self.numbers("2A38", places, 0..<2) == [.named(1, "chest"), .named(2, "wrist")])
        let names = "{fields: {manufacturerName: {generate: list, values: [a, b]}}}"
        #expect(try Self.numbers("2A29", names, 0..<3) == [.text("a"), .text("b"), .text("a")])
        let truths = "{layout: [{flags: [wet]}], fields: {wet: {generate: toggle}}}"
        #expect(try Self.numbers("3001", truths, 0..<2) == [.boolean(false), .boolean(true)])
    }

    @Test func `noise beyond the type's range is clamped to it`() throws {
        let value = Self.level("constant, value: 255, noise: 1, outliers: 100 %")
        let levels = try Self.numbers("2A19", value, 0..<500).map { $0.number ?? -1 }
        #expect(levels.contains(255) && levels.allSatisfy { (0...255).contains($0) })
        for type in ["float32", "medfloat16", "medfloat32", "uint64", "sint64", "sint8"] {
            let wide = try FieldTests.generator(
                "3001",
                "{layout: [{a: \(type)}], fields: {a: {generate: normal, mean: 1, deviation: 100, noise: 1, "
                    + "outliers: 1}}}")
            #expect(Set((0..<200).map { wide.value(at: $0).count }).count == 1, "\(type)")
        }
    }

    @Test(
        arguments: [
            ("uint16", 1, 65_535, [65_535, 0, 1]), ("sint8", 1, 127, [127, -128, -127]),
            ("uint32", 4_294_967_295, 1, [1, 0, 4_294_967_295]), ("uint8", 256 - 1, 0, [0, 255, 254]),
        ] as [(String, Int, Int, [Int])])
    func `a counter wraps at its type's width`(type: String, by: Int, from: Int, numbers: [Int]) throws {
        let value = "{layout: [{a: \(type)}], fields: {a: {generate: counter, from: \(from), by: \(by)}}}"
        #expect(try Self.numbers("3001", value, 0..<3) == numbers.map { .integer($0) })
    }

    @Test func `a counter in a unit wraps where its integers do`() throws {
        // 65536 parts of 1024 in a second are 64 s.
        let value =
            "{fields: {cumulativeCrankRevolutions: 1, lastCrankEventTime: {generate: counter, by: 20 s}}}"
        let generator = try FieldTests.generator("2A5B", value)
        let layout = try #require(KnownLayouts.layout(of: "2A5B"))
        let times = try (0..<5).map {
            try #require(layout.decode(generator.value(at: $0))?.last?.value.number)
        }
        #expect(times == [0, 20, 40, 60, 16])
    }

    @Test func `any tick can be asked for`() throws {
        for kind in FieldGeneratorKind.allCases where kind != .csv {
            let keys: [String: String] = [
                "value": "1", "from": "1", "to": "9", "min": "0", "max": "255", "step": "255", "around": "9",
                "by": "200", "mean": "1", "deviation": "255", "values": "[1, 2]",
            ]
            let given = kind.fields.filter(\.isRequired).map { ", \($0.name): \(keys[$0.name] ?? "1")" }
                .joined()
            let generator = try FieldTests.generator(
                "2A19", Self.level("\(kind.rawValue)\(given), \(kind == .clock ? "" : "outliers: 1")"),
                every: .nanoseconds(1))
            for tick: UInt64 in [0, 1, 1 << 53, 1 << 63, .max] {
                #expect(generator.value(at: tick).count == 1)
            }
        }
    }

    // MARK: Repeating a run

    @Test
    func `a seed gives the same values at each of 10,000 ticks, in any order, and another gives others`()
        throws
    {
        let value = """
            {fields: {heartRate: {generate: randomWalk, from: 62, min: 50, max: 180, step: 3, noise: 2 %}, \
            energyExpended: {generate: counter}, \
            rrIntervals: [{generate: normal, mean: 0.8, deviation: 0.1}]}}
            """
        let (one, two) = (try FieldTests.generator("2A37", value), try FieldTests.generator("2A37", value))
        let forwards = (0..<10_000).map { one.value(at: $0) }
        #expect((0..<10_000).reversed().map { two.value(at: $0) } == forwards.reversed())
        let other = try FieldTests.generator("2A37", value, seed: 2)
        #expect((0..<100).map { other.value(at: $0) } != Array(forwards[..<100]))
    }

    @Test func `one generator more shifts no other`() throws {
        func seeds(_ text: String, _ place: (Int, Int)) throws -> UInt64 {
            try profile(text).valueSeeds(5)[place.0][place.1]
        }
        func level(_ more: String = "") -> String {
            "{uuid: 2A19, properties: [notify], value: {generate: heart-rate}\(more)}"
        }
        let small = head("services: [{uuid: 180F, characteristics: [\(level())]}]\n")
        let large = head(
            "services: [{uuid: 180D, characteristics: [\(level())]}, {uuid: 180F, characteristics: "
                + "[{uuid: 2A37, properties: [notify], value: {generate: heart-rate}}, "
                + "\(level()), \(level())]}, "
                + "{uuid: 180F, characteristics: [\(level())]}]\n")
        let own = try seeds(small, (0, 0))
        #expect(try seeds(large, (1, 1)) == own)
        let others = try [
            seeds(large, (0, 0)), seeds(large, (1, 0)), seeds(large, (1, 2)), seeds(large, (2, 0)),
        ]
        #expect(Set(others + [own]).count == 5)
        // And within a value by the field's name.
        let two = "{layout: [{a: uint8}, {b: uint8}], fields: {a: {generate: uniform, min: 0, max: 255}, b: "
        let alone = try FieldTests.generator("3001", two + "7}}")
        let beside = try FieldTests.generator("3001", two + "{generate: uniform, min: 0, max: 255}}}")
        #expect((0..<50).map { alone.value(at: $0)[0] } == (0..<50).map { beside.value(at: $0)[0] })
        #expect((0..<50).map { beside.value(at: $0)[0] } != (0..<50).map { beside.value(at: $0)[1] })
    }

    // MARK: Problems

    @Test(
        "a problem of a generator has its place and the nearest name",
        arguments: [
            ("sin, min: 1, max: 2", "44: unknown generator \"sin\" of a field; did you mean \"sine\"?"),
            ("sine", "33: generate: sine needs min and max"),
            ("sine, min: 9, max: 2", "55: min is 9 and max is 2; swap them"),
            ("sine, min: 1, mx: 2", "58: unknown key \"mx\" in generate: sine; did you mean \"max\"?"),
            ("uniform, min: 0, max: 256", "66: max must be between 0 and 255 %, which uint8 holds, not 256"),
            ("uniform, min: a, max: 2", "58: min must be a number, as 72 or 0.5 %, not \"a\""),
            ("uniform, min: 1 s, max: 2", "58: min is in %, not in \"s\""),
            ("randomWalk, from: 9, min: 1, max: 5, step: 1", "62: from must be between min and max, 1 and 5"),
            (
                "randomWalk, min: 1, max: 5, step: -1",
                "78: step must be between 0 and 255 %, which uint8 holds, not -1"
            ),
            (
                "ramp, from: 1, to: 2, period: 5",
                "74: period has no unit; write 5 us, 5 ms, 5 s, 5 min or 5 h"
            ),
            ("list, values: []", "58: values needs at least one value"),
            ("counter, noise: 2", "60: noise must be between 0 and 1, or 0 % and 100 %, not 2"),
            ("counter, outliers: 1 s", "63: outliers must be a part, as 0.02 or 2 %, not \"1 s\""),
            ("counter, by: 300", "57: by must be between -255 and 255 %, which uint8 holds, not 300"),
            ("csv, file: x.csv", "55: only a profile that is a file itself can name another file"),
        ])
    func problems(generator: String, message: String) {
        let text = FieldTests.typed("2A19", Self.level(generator))
        let said = MynahProfilesTests.problems(text).filter {
            !$0.contains("generate: sine needs") || generator == "sine"
        }
        #expect(said.first == "8:" + message.replacing(": ", with: ": error: ", maxReplacements: 1))
    }

    @Test func `a generator makes only what the field takes`() {
        let text = FieldTests.typed("2A29", "{fields: {manufacturerName: {generate: sine, min: 1, max: 2}}}")
        #expect(
            MynahProfilesTests.problems(text) == [
                """
                8:55: error: manufacturerName is text, which sine does not make; constant or list does; \
                for a text with numbers write the value as {text: "counter {n}", n: {generate: counter}}
                """
            ])
        let clock = FieldTests.typed("2A08", "{fields: {dateTime: {generate: clock, noise: 1, start: x}}}")
        #expect(
            MynahProfilesTests.problems(clock) == [
                "8:54: error: noise has no effect: it is a clock",
                "8:71: error: start is a date and a time, as in 2026-01-31T12:00:00Z, not \"x\"",
            ])
    }

    @Test func `a list is as long as its longest text, and each must fit`() throws {
        func value(_ length: Int) -> String {
            let text = String(repeating: "x", count: length)
            return
                "{layout: [{n: uint8}, {a: utf8, count: n}], "
                + "fields: {a: {generate: list, values: [a, \(text)]}}}"
        }
        guard case .generated(let definition) = try FieldTests.first(FieldTests.typed("3001", value(9))).value
        else { throw FieldTests.NotGenerated() }
        #expect(definition.maximumLength == 10)
        #expect(
            MynahProfilesTests.problems(FieldTests.typed("3001", value(300))) == [
                "8:68: error: n is 300, and uint8 holds 0 to 255"
            ])
    }

    @Test func `after the last problem that is reported, an empty list is no crash`() {
        let wrong = (0..<120).map { _ in "{uuid: 2A19, properties: [raed]}" }.joined(separator: ", ")
        let empty =
            "{uuid: 2A19, properties: [read], value: \(Self.level("list, values: []"))}, "
            + "{uuid: 2A29, properties: [read], "
            + "value: {fields: {manufacturerName: {generate: list, values: []}}}}"
        let text = head("services: [{uuid: 180F, characteristics: [\(wrong), \(empty)]}]\n")
        #expect(MynahProfilesTests.problems(text).count == 101)
    }

    // MARK: Files

    @Test func `a file of comma-separated values is read beside the profile`() throws {
        let file = try TemporaryFile(Array("time,level\n0,5\n1, \"6\"\n\n2,7\n".utf8))
        let name = String(file.path.split(separator: "/").last ?? "")
        let value = Self.level("csv, file: \(name), column: level")
        let profile = try TemporaryFile(Array(FieldTests.typed("2A19", value).utf8))
        let loaded = try ProfileLoader.load(path: profile.path)
        guard case .generated(let definition) = loaded.services[0].characteristics[0].value else {
            throw FieldTests.NotGenerated()
        }
        let generator = definition.makeGenerator(for: GeneratorRun(seed: 1, interval: .seconds(1)))
        #expect((0..<4).map { generator.value(at: $0) } == [[5], [6], [7], [5]])
    }

    @Test(
        arguments: [
            ("", "has no numbers"), ("a\n", "has no numbers"),
            ("1\nx\n", "has \"x\" in line 2, not a number"),
            ("1\nnan\n", "has \"nan\" in line 2, not a number"), ("300\n", nil),
            (String(repeating: "1\n", count: 100_001), "has over 100000 rows"),
            (String(repeating: "1", count: 1 << 20) + "1", "is larger than 1 MiB"), ("\u{7F}\u{0}\n1", nil),
        ] as [(String, String?)])
    func `a file that gives no numbers is a problem with a place`(text: String, message: String?) throws {
        let file = try TemporaryFile(Array(text.utf8))
        let profile = try TemporaryFile(
            Array(FieldTests.typed("2A19", Self.level("csv, file: \(file.path)")).utf8))
        let problems = try profile.problems()
        if let message { #expect(problems == ["8:55: error: the file \"\(file.path)\" \(message)"]) }
        if text == "300\n" {
            #expect(
                problems == [
                    "8:55: error: a number of \"\(file.path)\" must be between 0 and "
                        + "255 %, which uint8 holds, not 300"
                ])
        }
    }

    @Test func `a file that is missing, a folder, or endless is refused at once`() throws {
        for (path, message) in [
            ("/nowhere/x.csv", "does not exist"), ("/tmp", "is not a file"), ("/dev/zero", "is not a file"),
        ] {
            let profile = try TemporaryFile(
                Array(FieldTests.typed("2A19", Self.level("csv, file: \(path)")).utf8))
            #expect(try profile.problems() == ["8:55: error: the file \"\(path)\" \(message)"])
        }
    }

    @Test func `a column is found by its number or its name`() throws {
        let bytes = Array("a,b\n1,2\n3,4\n".utf8)
        #expect(try CSVColumn(bytes, .number(2)).numbers == [2, 4])
        #expect(try CSVColumn(bytes, .word("a")).numbers == [1, 3])
        #expect(throws: CSVColumn.Problem.self) { try CSVColumn(bytes, .word("c")) }
        #expect(throws: CSVColumn.Problem.self) { try CSVColumn(bytes, .number(3)) }
        #expect(throws: CSVColumn.Problem.self) { try CSVColumn([0xFF, 0x0A], .number(1)) }
    }
}
