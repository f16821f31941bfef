import MynahSupport
import Testing

@testable import MynahControl

/// Bodies of requests, and the problems with them.
@Suite(.timeLimit(.minutes(15))) struct ControlBodyTests {
    @Test func `a body that is not UTF-8 is refused`() async {
        let problem = await thrown { () throws(ControlProblem) in
            _ = try ControlBody(
                parsing: Array(#"{"name": ""#.utf8) + [0xFF] + Array(#""}"#.utf8), known: ["name"])
        }
        #expect(problem?.status == 400 && problem?.detail == "the body is not UTF-8")
    }

    @Test func `a whole number may be written with a fraction of zero`() throws {
        let body = try ControlBody(
            parsing: Array(#"{"a": 2.0, "b": 2.5, "c": 1e300}"#.utf8), known: ["a", "b", "c"])
        #expect(try body.number("a", in: 0...3) == 2)
        for name in ["b", "c"] {
            #expect(throws: ControlProblem.self) { try body.number(name, in: 0 ... .max) }
        }
    }

    @Test(arguments: [
        (String(repeating: "a", count: 200), 200, false), (String(repeating: "a", count: 201), 200, true),
        (String(repeating: "é", count: 200), 200, true),
        ("a" + String(repeating: "é", count: 100), 199, true),
        // One character of 401 bytes is left out whole.
        ("b" + "a" + String(repeating: "\u{301}", count: 200), 1, true),
    ])
    func `a client's text is shortened to 200 bytes, and no character is cut`(
        text: String, length: Int, isCut: Bool
    ) {
        let shortened = ControlProblem.shortened(text)
        #expect(shortened.hasSuffix("…") == isCut)
        #expect((isCut ? String(shortened.dropLast()) : shortened).utf8.count == length)
        #expect(text.hasPrefix(isCut ? String(shortened.dropLast()) : shortened))
    }

    @Test func `the titles of problems are those of RFC 9110`() {
        let titles = [413, 415, 422].map { ControlProblem($0, "").json["title"]?.stringValue }
        #expect(titles == ["Content Too Large", "Unsupported Media Type", "Unprocessable Content"])
    }
}
