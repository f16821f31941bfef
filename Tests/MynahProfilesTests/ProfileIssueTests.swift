import MynahProfiles
import Testing

@Suite struct ProfileIssueTests {
    private func text(_ line: String, column: Int) -> String {
        ProfileIssue(
            file: "a.yaml", mark: SourceMark(line: 3, column: column), message: "no", sourceLine: line
        ).description
    }

    @Test("an issue is printed with its line and a caret below its column")
    func caret() {
        #expect(text("every: 5", column: 8) == "a.yaml:3:8: error: no\nevery: 5\n       ^")
    }

    @Test("a tab stays a tab below itself")
    func tabs() {
        #expect(text("a:\t5", column: 4) == "a.yaml:3:4: error: no\na:\t5\n  \t^")
    }

    @Test("a wide character moves the caret by two columns, a combining one by none")
    func width() {
        #expect(text("名前: 5", column: 5) == "a.yaml:3:5: error: no\n名前: 5\n      ^")
        #expect(text("🚀: 5", column: 4) == "a.yaml:3:4: error: no\n🚀: 5\n    ^")
        #expect(text("e\u{301}: 5", column: 5) == "a.yaml:3:5: error: no\ne\u{301}: 5\n   ^")
    }

    @Test("a long line is cut around its place")
    func longLine() {
        let line = String(repeating: "a", count: 500) + "X" + String(repeating: "b", count: 500)
        let shown = text(line, column: 501).split(separator: "\n")
        #expect(shown.count == 3)
        #expect(shown[1] == String(repeating: "a", count: 49) + "X" + String(repeating: "b", count: 50))
        #expect(shown[2] == String(repeating: " ", count: 49) + "^")
    }

    @Test("control characters are not printed")
    func controlCharacters() {
        #expect(text("a\u{1B}b\u{7F}", column: 1) == "a.yaml:3:1: error: no\na?b?\n^")
    }

    @Test("characters that a terminal would act on are not printed, in a line, a file name or a message")
    func terminalControls() {
        #expect(text("a\u{9B}2J\u{85}\u{202E}b", column: 1) == "a.yaml:3:1: error: no\na?2J??b\n^")
        let issue = ProfileIssue(file: "a\u{1B}[2J\n\u{9B}.yaml", message: "as in b\u{7F}.yaml")
        #expect(issue.description == "a?[2J??.yaml: error: as in b?.yaml")
    }

    @Test("a line with nothing on it is not shown")
    func emptyLine() {
        #expect(text("  ", column: 1) == "a.yaml:3:1: error: no")
    }

    @Test("an issue without a place names the file alone, and a warning is called one")
    func withoutPlace() {
        let issue = ProfileIssue(severity: .warning, file: "a.yaml", message: "hm")
        #expect(issue.description == "a.yaml: warning: hm")
    }
}
