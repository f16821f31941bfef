import MynahSupport
import Testing

@testable import MynahProfiles

@Suite("The text of a YAML file")
struct YAMLTextTests {
    @Test("its lines are those that Swift's newlines part")
    func lines() {
        let parts = ["\n", "\r", "\r\n", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}"]
        let others = ["", "a", "key: °C", "\u{2030}", "\u{A0}", "👩‍👩‍👧", "e\u{301}"]
        for part in parts {
            for first in others {
                for second in others + parts {
                    let text = first + part + second
                    let expected = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                    #expect(
                        YAMLText.lines(of: Array(text.utf8)) == expected.map(String.init),
                        "\(text.debugDescription)")
                }
            }
        }
        #expect(YAMLText.lines(of: []) == [""])
    }
}
