import MynahSupport
import Testing

@testable import MynahProfiles

/// The nodes that a text in YAML is composed to.
@Suite(.timeLimit(.minutes(15))) struct YAMLComposerTests {
    /// A node in one line: plain scalars as they are, others quoted, and each with its place.
    private static func text(_ node: YAMLNode) -> String {
        let place = node.mark.map { "@\($0.line):\($0.column)" } ?? ""
        return switch node {
        case .scalar(let scalar): (scalar.isPlain ? scalar.string : "\"\(scalar.string)\"") + place
        case .sequence(let sequence): "[" + sequence.map(text).joined(separator: ", ") + "]" + place
        case .mapping(let mapping):
            "{" + mapping.map { text($0.key) + ": " + text($0.value) }.joined(separator: ", ") + "}" + place
        }
    }

    @Test(arguments: [
        ("a", "a@1:1"), ("'a'", "\"a\"@1:1"), ("\"\\u00e9\"", "\"é\"@1:1"),
        ("|\n  a\n  b\n", "\"a\nb\n\"@1:1"),
        (">\n  a\n  b\n", "\"a b\n\"@1:1"), ("[]", "[]@1:1"), ("{}", "{}@1:1"),
        ("- a\n-\n  - b\n", "[a@1:3, [b@3:5]@3:3]@1:1"),
        ("é: [ü, b]\n", "{é@1:1: [ü@1:5, b@1:8]@1:4}@1:1"),
        ("? [a]\n: b\n", "{[a@1:4]@1:3: b@2:3}@1:1"),
        ("a: &x 1\nb: *x\n", "{a@1:1: 1@1:4, b@2:1: 1@1:4}@1:1"),
        ("a: &x [1]\nb: &x 2\nc: *x\n", "{a@1:1: [1@1:8]@1:4, b@2:1: 2@2:4, c@3:1: 2@2:4}@1:1"),
        ("--- !!str a\n...\n", "a@1:5"), ("a:\n", "{a@1:1: @1:3}@1:1"),
    ])
    func `nodes have what is written, and where`(yaml: String, expected: String) throws {
        let composed = YAMLComposer(yaml)
        #expect(composed.problem == nil)
        #expect(Self.text(try #require(composed.root)) == expected)
    }

    @Test(arguments: ["", "# nothing\n", "\n\n"]) func `a text without a document has no root`(yaml: String) {
        let composed = YAMLComposer(yaml)
        #expect(composed.root == nil && composed.problem == nil)
    }

    @Test func `a key that is repeated is left out, and known by its place`() throws {
        let composed = YAMLComposer("{a: 1, b: {c: 2, 'c': 3}, a: 4, a: 5, [a]: 6, [a]: 7}")
        #expect(
            Self.text(try #require(composed.root))
                == "{a@1:2: 1@1:5, b@1:8: {c@1:12: 2@1:15}@1:11, [a@1:40]@1:39: 6@1:44, "
                + "[a@1:48]@1:47: 7@1:52}@1:1")
        #expect(composed.repeatedKeys.map(\.mark) == [18, 27, 33].map { SourceMark(line: 1, column: $0) })
    }

    @Test func `a text that is not YAML has no root, and its problem has a place`() {
        for (yaml, line, column) in [("a: [\n", 2, 1), ("a: b: c", 1, 5), ("a: 'b", 1, 6), ("a: @b", 1, 4)] {
            let composed = YAMLComposer(yaml)
            guard case .syntax(let words, _, let mark?)? = composed.problem else {
                Issue.record("\(yaml): \(String(describing: composed.problem))")
                continue
            }
            #expect(composed.root == nil && !words.isEmpty)
            #expect(mark == SourceMark(line: line, column: column), "\(yaml): \(mark.line):\(mark.column)")
        }
    }

    @Test func `an alias needs an anchor before it, and not the node that it is in`() {
        for yaml in ["a: *x\nb: &x 1\n", "&x [*x]"] {
            guard case .undefinedAlias? = YAMLComposer(yaml).problem else {
                Issue.record("\(yaml) is taken")
                continue
            }
        }
    }

    @Test func `a second document is a problem where it begins`() {
        guard case .secondDocument(let mark)? = YAMLComposer("a\n---\nb\n").problem else {
            Issue.record("two documents are taken")
            return
        }
        #expect(mark == SourceMark(line: 2, column: 1))
    }

    @Test(arguments: [("[", "]"), ("{a: ", "}")])
    func `a thousand levels are composed, and one more is a problem`(start: String, end: String) {
        let limit = YAMLComposer.maximumDepth
        func nested(_ levels: Int) -> YAMLComposer {
            YAMLComposer(String(repeating: start, count: levels) + String(repeating: end, count: levels))
        }
        #expect(nested(limit).problem == nil && nested(limit).root != nil)
        guard case .tooDeep(let mark)? = nested(limit + 1).problem else {
            Issue.record("\(limit + 1) levels are composed")
            return
        }
        #expect(mark == SourceMark(line: 1, column: limit * start.utf8.count + 1))
    }
}
