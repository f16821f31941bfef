/// The rules for every test source, so that no test can hang the run or pass without a reason.
enum TestRules {
    /// Whether a source is a test's.
    ///
    /// The programs beside the tests wait as programs do.
    static func isTest(_ path: String) -> Bool {
        let folder = path.split(separator: "/").dropFirst().first ?? ""
        return folder.hasSuffix("Tests") || folder == "BlueZStandIn"
    }

    /// Sources in which `Task.yield` and `Task.sleep` are allowed, with how often and why.
    static let pauses: [String: (count: Int, reason: String)] = [
        "Tests/MynahHCITests/TransportTests.swift": (2, "bounded loops that give the other side a turn"),
        "Tests/MynahCLITests/ConnectTests.swift": (1, "a clock that runs until its task is cancelled"),
        "Tests/MynahTests/PhoneHistoryTests.swift": (1, "as many turns as the seed of a history says"),
        "Tests/MynahHCITests/NetsimTests.swift": (1, "a sleep that the test expects to be cut short"),
    ]

    private static let bareWaits = [
        "withCheckedContinuation", "withCheckedThrowingContinuation", "withUnsafeContinuation",
        "withUnsafeThrowingContinuation", "makeStream",
    ]

    /// The rules that a test source breaks, in words.
    static func violations(of path: String, _ text: String) -> [String] {
        let source = SourceText(text)
        let words = source.words
        var found = bareWaits.filter { source.count(of: $0) > 0 }.map {
            "\(path): \($0) waits without a limit; use waiting(for:) or a Mailbox"
        }
        if words.contains(where: { ["until", "wait"].contains($0.text) && source.next(after: $0) == "{" }) {
            found.append("\(path): a wait does not say what it waits for")
        }
        let paused = words.indices.dropFirst().count {
            ["yield", "sleep"].contains(words[$0].text) && words[$0 - 1].text == "Task"
        }
        if paused > pauses[path]?.count ?? 0 {
            found.append("\(path): it waits by Task.yield or Task.sleep; use until")
        }
        let processes: Set = ["Program", "AirStage", "ChildProcess"]
        let startsProcesses = words.contains { processes.contains($0.text) && source.next(after: $0) == "(" }
        if path.hasPrefix("Tests/MynahCLITests/"), startsProcesses,
            words.contains(where: { $0.text == "Suite" && source.isAttribute($0) }),
            !words.contains(where: { $0.text == "processes" })
        {
            found.append("\(path): its tests start processes; write @Suite(.processes)")
        }
        return found + limits(source).map { "\(path):\($0)" } + silent(source).map { "\(path):\($0)" }
    }

    /// The suites that have asynchronous members and no time limit, and tests without a suite.
    private static func limits(_ source: SourceText) -> [String] {
        let words = source.words
        let attributes = words.indices.filter { source.isAttribute(words[$0]) }
        let suites = attributes.filter { words[$0].text == "Suite" }
        let first = suites.first ?? words.endIndex
        var found = attributes.filter { words[$0].text == "Test" && $0 < first }.map {
            "\(source.line(of: words[$0])): the test has no suite"
        }
        for (start, end) in zip(suites, suites.dropFirst() + [words.endIndex]) {
            let suite = words[start..<end]
            let isAsynchronous = suite.contains {
                $0.text == "async" && $0.braces == 1 && $0.parentheses == 0
            }
            // In the attribute itself: before the name of the suite.
            let isLimited = suite.prefix { $0.text != "struct" && $0.text != "class" }
                .contains { $0.text == "timeLimit" }
            if isAsynchronous, !isLimited {
                found.append(
                    "\(source.line(of: words[start])): the suite is asynchronous and has no time limit")
            }
        }
        return found
    }

    /// The tests that expect nothing, neither themselves nor through a function whose name says that it
    /// expects.
    private static func silent(_ source: SourceText) -> [String] {
        let words = source.words
        return words.indices.filter { words[$0].text == "Test" && source.isAttribute(words[$0]) }
            .compactMap { index in
                guard let function = words[index...].first(where: { $0.text == "func" }),
                    let body = source.body(after: function.range)
                else { return nil }
                let expects = words.contains { word in
                    body.contains(word.range.lowerBound)
                        && (word.text.hasPrefix("expect") || ["require", "Issue"].contains(word.text))
                }
                return expects ? nil : "\(source.line(of: function)): the test expects nothing"
            }
    }
}

extension SourceText {
    /// The first character after a word that is no space.
    func next(after word: Word) -> Character? {
        covered[word.range.upperBound...].first { !Self.isSpace($0) }.map { Character(UnicodeScalar($0)) }
    }

    func isAttribute(_ word: Word) -> Bool {
        word.range.lowerBound > 0 && covered[word.range.lowerBound - 1] == UInt8(ascii: "@")
    }

    /// The line that a word is in, counted from 1.
    func line(of word: Word) -> Int {
        covered[..<word.range.lowerBound].count { $0 == UInt8(ascii: "\n") } + 1
    }
}
