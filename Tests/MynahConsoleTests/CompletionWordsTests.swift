import MynahConsole
import Testing

@Suite struct CompletionWordsTests {
    @Test(
        arguments: [
            ([], nil), (["ctl", "show", ""], nil), (["ctl", "--control"], nil), (["--control", ""], nil),
            (["--control-token-file", "a"], nil), (["--control", "unix:/a", "show"], "unix:/a"),
            (["--control=unix:/a", "show"], "unix:/a"), (["--control="], nil),
            (["--control", "=", "unix", ":", "/a", "show"], "unix:/a"),
            (["--control", "http", ":", "//127.0.0.1", ":", "80", "show"], "http://127.0.0.1:80"),
            (["--control", "127.0.0.1", ":"], "127.0.0.1:"),
            (["--control", "'unix:/a b'", "show"], "unix:/a b"),
            (["--control", "unix", ":", "/a\\ b"], "unix:/a b"),
            (["--control", "unix:/a", "show", "--control", "unix:/b"], "unix:/b"),
            (["--control", "a", "=", "b", ""], "a=b"),
        ] as [([String], String?)])
    func `an option's value is found as zsh, fish and bash give it`(words: [String], value: String?) {
        #expect(CompletionWords.value(of: "--control", in: words) == value)
    }

    @Test(arguments: [
        ("a", "a"), ("", ""), ("'", "'"), ("\"a b\"", "a b"), ("'a b'", "a b"), (#"a\ b"#, "a b"),
        (#"a\\b"#, #"a\b"#), ("'a", "'a"),
    ])
    func `a word loses its quotes and its backslashes`(word: String, text: String) {
        #expect(CompletionWords.unquoted(word) == text)
    }
}
