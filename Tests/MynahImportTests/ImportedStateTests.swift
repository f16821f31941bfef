import MynahCore
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahImport

/// A write that changes the answers to others becomes a state, if nothing else explains them.
@Suite struct ImportedStateTests {
    typealias Reaction = StateFinder.Reaction

    /// A write of a history in one word: `link:written=reaction`, where `!80` refuses and bytes answer.
    private static func episodes(_ words: String) -> [StateFinder.Episode] {
        words.split(separator: " ").compactMap { word in
            let parts = word.split(separator: "=", omittingEmptySubsequences: false)
            let head = parts[0].split(separator: ":")
            guard let link = Int(head[0]), let value = Hex.decode(String(head[1])) else { return nil }
            let text = parts.count > 1 ? String(parts[1]) : ""
            let bytes = Hex.decode(text.hasPrefix("!") ? String(text.dropFirst()) : text) ?? []
            let reaction: Reaction =
                text.hasPrefix("!")
                ? .refused(bytes[0]) : .answered(bytes.isEmpty ? [] : [.init(handle: 18, value: bytes)])
            return .init(handle: 21, value: value, link: link, reaction: reaction)
        }
    }

    /// A history, and its states: the setter, `…` if it ends with the link, and what was guarded.
    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var history: String
        var states: [String]
    }

    @Test(arguments: [
        Case(
            testDescription: "a lock", history: "1:10=FF10 1:01=81 1:10=9001 1:10=9001", states: ["01: 10"]),
        Case(
            testDescription: "a pump: all doses are refused before the password",
            history: "1:0205=!80 1:01D2=81 1:0205=82 1:020A=82", states: ["01D2: 02 .."]),
        Case(
            testDescription: "another dose only: it may be refused for its value",
            history: "1:0209=!80 1:01D2=81 1:0205=82 1:020A=82", states: []),
        Case(
            testDescription: "two writes in between",
            history: "1:10=FF10 1:01=81 1:02=82 1:10=9001 1:10=9001",
            states: []),
        Case(
            testDescription: "two writes, of which one came before too",
            history: "1:02=82 1:10=FF10 1:01=81 1:02=82 1:10=9001 1:10=9001", states: ["01: 10"]),
        Case(
            testDescription: "the first answer comes again",
            history: "1:10=FF10 1:01=81 1:10=9001 1:10=FF10", states: []),
        Case(
            testDescription: "a number that changes", history: "1:10=9001 1:01=81 1:10=9002 1:10=9002",
            states: []),
        Case(testDescription: "too few writes", history: "1:10=FF10 1:01=81 1:10=9001", states: []),
        Case(
            testDescription: "the write in between was refused",
            history: "1:10=FF10 1:01=!80 1:10=9001 1:10=9001", states: []),
        Case(
            testDescription: "the state ends with the link",
            history: "1:10=FF10 1:01=81 1:10=9001 2:10=FF10 2:01=81 2:10=9001", states: ["01…: 10"]),
        Case(
            testDescription: "the state outlives the link",
            history: "1:10=FF10 1:01=81 1:10=9001 2:10=9001", states: ["01: 10"]),
        Case(
            testDescription: "a link begins in the state after one that did not",
            history: "1:10=FF10 1:01=81 1:10=9001 2:10=9001 3:10=FF10 3:01=81 3:10=9001", states: []),
        Case(
            testDescription: "one write begins what holds for two others",
            history: "1:10=FF10 1:20=!81 1:01=81 1:10=9001 1:20 1:10=9001 1:20",
            states: ["01: 10, 20"]),
        Case(
            testDescription: "no answer at first may be a lost packet",
            history: "1:10 1:01=81 1:10=9001 1:10=9001", states: []),
    ])
    func `a state is found if one write alone explains it`(one: Case) {
        let states = StateFinder.states(of: Self.episodes(one.history)).map { state in
            let guarded = state.guarded.map { Hex.encode($0.written) + ($0.isPrefix ? " .." : "") }
            return Hex.encode(state.setter.value) + (state.endsWithLink ? "…" : "") + ": "
                + guarded.joined(separator: ", ")
        }
        #expect(states == one.states)
    }

    @Test func `a history of many writes is searched in a moment`() {
        let episodes = (0..<50_000).map { number in
            StateFinder.Episode(
                handle: 21, value: [UInt8(number % 251), UInt8(number % 7)], link: number % 5,
                reaction: number % 3 == 0 ? .refused(0x80) : .answered([]))
        }
        #expect(StateFinder.states(of: episodes).isEmpty)
    }

    private static func script(_ steps: [(written: String, response: String, value: String?)]) throws
        -> String
    {
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("12 1300 0100", "13")
        for step in steps {
            script.wait(2000)
            script.exchange("12 1500 " + step.written, step.response)
            if let value = step.value { script.answer("1B 1200 " + value) }
        }
        let text = try script.profile(recordingFile: nil).profile
        #expect(try ProfileLoader.load(text: text, file: "test.yaml").warnings.map(\.message) == [])
        return text
    }

    @Test func `a password is a variable, and what it unlocks has a guard`() throws {
        let text = try Self.script([
            ("02 05", "01 12 1500 80", nil), ("01 D2 04", "13", "81 00"), ("02 05", "13", "82 00"),
            ("02 0A", "13", "82 00"), ("02 0F", "13", "82 00"),
        ])
        #expect(text.contains("variables:\n  state1: 0\n"), "\(text)")
        let rules = """
                        - match: {hex: 02 ..}
                          when: state1 == 0
                          error: 0x80
                        - match: {hex: 01 D2 04}
                          set: {state1: 1}
                          answer:
                            - {to: 2A37, value: {hex: 81 00}, after: 10 ms}
                        - match: {hex: 02 ..}
                          answer:
                            - {to: 2A37, value: {hex: 82 00}, after: 10 ms}
            """
        #expect(text.contains(rules), "\(text)")
        #expect(
            text.contains(
                "# What 02 .. got changed when 01 D2 04 was written; the variable state1 is 1 from then on.\n"
            ))
        #expect(!text.contains("refused"))
    }

    @Test func `an answer before the state is given before it, and a setter needs no answer`() throws {
        let text = try Self.script([
            ("10", "13", "FF 10"), ("01", "13", nil), ("10", "13", "90"), ("10", "13", "90"),
        ])
        let rules = """
                        - match: {hex: 10}
                          when: state1 == 0
                          answer:
                            - {to: 2A37, value: {hex: FF 10}, after: 10 ms}
                        - match: {hex: 01}
                          set: {state1: 1}
                        - match: {hex: 10}
                          answer:
                            - {to: 2A37, value: {hex: 90}, after: 10 ms}
            """
        #expect(text.contains(rules), "\(text)")
    }

    @Test func `a state that ends with the link is set back when it ends`() throws {
        var script = HCIScript()
        for _ in 0..<2 {
            script.connect()
            script.discover()
            for (written, value) in [("10", "FF 10"), ("01", "81"), ("10", "90"), ("10", "90")] {
                script.exchange("12 1300 0100", "13")
                script.wait(2000)
                script.exchange("12 1500 " + written, "13")
                script.answer("1B 1200 " + value)
            }
            script.disconnect()
        }
        let text = try script.profile(recordingFile: nil).profile
        #expect(text.contains("\non: {disconnect: [{set: {state1: 0}}]}\n"), "\(text)")
        _ = try ProfileLoader.load(text: text, file: "test.yaml")
    }
}
