import MynahCore
import Testing

@testable import MynahProfiles

/// `generate: recorded` and its files.
@Suite struct RecordingTests {
    private static func line(_ at: String, _ value: String, _ rest: String = "") -> String {
        #"{"at":\#(at),"service":"180f","characteristic":"2A19"\#(rest),"value":"\#(value)"}"# + "\n"
    }

    private static func text(
        _ recording: TemporaryFile, _ rest: String = "", notify: String = "notify"
    ) -> String {
        characteristic(
            "properties: [\(notify)]\n        value: {generate: recorded, file: \(recording.path)}\n\(rest)")
    }

    private static func problems(
        _ lines: String, _ rest: String = "", notify: String = "notify"
    ) throws -> [String] {
        let recording = try TemporaryFile(Array(lines.utf8))
        return try TemporaryFile(Array(text(recording, rest, notify: notify).utf8)).problems().map {
            $0.replacing(recording.path, with: "R")
        }
    }

    @Test func `ticks have the times of the file, and begin again after the mean time between two`() throws {
        let recording = try TemporaryFile(
            Array(
                ("\n" + Self.line("0.25", "01")
                    + #"{"at":0.3,"service":"180D","characteristic":"2A37","value":"FF"}"# + "\n"
                    + Self.line("1", "") + Self.line("1.25", "0203")).utf8))
        let file = try TemporaryFile(Array(Self.text(recording).utf8))
        let profile = try ProfileLoader.load(path: file.path)
        guard case .generated(let generator) = profile.services[0].characteristics[0].value else {
            Issue.record("the value is not generated")
            return
        }
        let values = try #require((generator as? RecordedDefinition)?.values)
        #expect((0...4).map { values.value(of: $0) } == [[1], [1], [], [2, 3], [1]])
        #expect(
            (0...5).map { values.due($0) } == [
                nil, .milliseconds(250), .seconds(1), .milliseconds(1250), .seconds(2), .milliseconds(2750),
            ])
        #expect(generator.maximumLength == 2)
    }

    @Test func `reads have the initial value until the first is sent`() throws {
        let lines = try RecordedLine.lines(of: Array((Self.line("0", "01") + Self.line("1", "02")).utf8))
        let values = try #require(RecordedValues(lines, initial: [7, 8]))
        #expect((0...3).map { values.value(of: $0) } == [[7, 8], [1], [2], [1]])
        let recording = try TemporaryFile(Array(Self.line("1", "00").utf8))
        for (initial, problem) in [
            ("07", nil), ("x", "initial must be pairs of hexadecimal digits"),
            ("07 08", "8:16: error: the value has 2 bytes, more than its maxLength of 1"),
        ] {
            let value = "{generate: recorded, file: \(recording.path), initial: \(initial)}"
            let text = characteristic(
                "properties: [notify, write]\n        value: \(value)\n        maxLength: 1\n")
            let problems = try TemporaryFile(Array(text.utf8)).problems()
            #expect(problems.count == (problem == nil ? 0 : 1))
            #expect(problem.map { problems.first?.contains($0) == true } ?? true, "\(problems)")
        }
    }

    @Test func `one value is sent once, and values of one moment a millisecond apart on average`() throws {
        let one = try #require(RecordedValues(RecordedLine.lines(of: Array(Self.line("3", "01").utf8))))
        #expect(one.due(1) == .seconds(3) && one.due(2) == nil && one.due(.max) == nil)
        let two = Self.line("0", "01") + Self.line("0", "02")
        let close = try #require(RecordedValues(RecordedLine.lines(of: Array(two.utf8))))
        #expect(close.due(3) == .milliseconds(2) && close.due(.max) == nil)
        #expect(RecordedValues([]) == nil)
    }

    static let bad: [(lines: String, rest: String, problem: String)] = [
        ("", "", #"8:16: error: the file "R" has no value of 180F/2A19"#),
        ("x\n", "", #"8:43: error: the file "R" is not JSON in line 1: a value is expected"#),
        ("\n{}\n", "", #"8:43: error: the file "R" has no value in line 2; write {"at": 1.5,"#),
        (line("-1", "00"), "", #"8:43: error: the file "R" has no value in line 1; write"#),
        (line("1e300", "00"), "", #"8:43: error: the file "R" has no value in line 1; write"#),
        (line("1", "0"), "", #"8:43: error: the file "R" has no value in line 1; write"#),
        (line("2", "00") + line("1", "00"), "", #"8:43: error: the file "R" goes back in time in line 2"#),
        (
            line("1", "0011"), "        maxLength: 1\n",
            #"8:16: error: the file "R" has a value of 2 bytes, and 180F/2A19 can have 1"#
        ),
        (
            line("1", "00"), "        every: 1 s\n",
            "9:16: error: every has no effect: the values of a recording have their own times"
        ),
    ]

    @Test(arguments: bad)
    func `a problem of a recording is reported with its line`(
        lines: String, rest: String, problem: String
    ) throws {
        let problems = try Self.problems(lines, rest)
        #expect(problems.contains { $0.hasPrefix(problem) }, "\(problems)")
    }

    @Test func `a recording needs a file, a profile that is a file, and somebody to send to`() throws {
        #expect(
            try Self.problems(Self.line("1", "00"), notify: "read") == [
                "8:16: error: generate: recorded has no effect: 180F/2A19 has neither notify nor indicate"
            ])
        let head = "properties: [notify]\n        value: "
        #expect(
            MynahProfilesTests.problems(characteristic(head + "{generate: recorded}\n")).first
                == "8:16: error: generate: recorded needs file")
        #expect(
            MynahProfilesTests.problems(characteristic(head + "{generate: recorded, file: x}\n")).first
                == "8:43: error: only a profile that is a file itself can name another file")
        let file = try TemporaryFile(
            Array(characteristic(head + "{generate: recorded, file: /none}\n").utf8))
        #expect(try file.problems().contains { $0.contains(#"the file "/none" does not exist"#) })
    }
}
