import Yams

/// The one document of a file as nodes with their places, or why it is none.
///
/// Keys that stand twice end Yams' reading; here each is noted and painted over, and the file read again, so
/// that what else is wrong is found in one go.
struct YAMLDocument {
    /// Nil: nothing could be read.
    private(set) var root: Node?
    private(set) var problems: [YAMLProblem] = []
    /// The names that replaced repeated keys.
    private(set) var ignoredKeys: Set<String> = []

    init(_ source: YAMLText) {
        if let problem = source.forbiddenCharacter ?? source.aliasProblem {
            problems = [problem]
            return
        }
        var text = source.text
        // Each round reads the whole file again.
        for _ in 0..<(text.utf8.count > 1 << 16 ? 3 : 30) {
            do {
                // Without rules nothing is resolved: scalars stay as they are written.
                root = try Parser(yaml: text, resolver: Resolver.basic, encoding: .utf8).singleRoot()
                if root == nil || root?.scalar.map({ $0.style == .plain && $0.string.isEmpty }) == true {
                    root = nil
                    problems.append(
                        YAMLProblem(message: "the file is empty; `mynah new` prints a profile to start from"))
                }
                return
            } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
                guard let painted = paintOver(keys.first ?? "", after: context.mark, in: text) else { return }
                text = painted
            } catch {
                problems.append(Self.problem(error, lines: source.lines))
                return
            }
        }
    }

    private mutating func paintOver(_ key: String, after mark: Mark, in text: String) -> String? {
        let first = SourceMark(line: mark.line, column: mark.column)
        let message = "the key \(ProfileDecoder.quote(key)) is repeated; remove one"
        let search = RepeatedKey(key: key, text: text)
        guard let second = search.find(after: first) else {
            problems.append(YAMLProblem(mark: first, message: message))
            return nil
        }
        problems.append(YAMLProblem(mark: second.mark, message: message))
        // Private use, a character for each round: no profile has it, and no column moves.
        guard let paint = Unicode.Scalar(0xE000 + ignoredKeys.count) else { return nil }
        let name = String(String.UnicodeScalarView(repeatElement(paint, count: second.length)))
        ignoredKeys.insert(name)
        return search.replacing(second, with: name)
    }

    // MARK: Messages of Yams and libyaml

    private static func problem(_ error: any Error, lines: [String]) -> YAMLProblem {
        guard let error = error as? YamlError else {
            return YAMLProblem(message: "the file cannot be read as YAML")
        }
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let mark = place(mark, lines)
            if problem.contains("another document") {
                return YAMLProblem(
                    mark: mark, message: "a profile is one document; this is the start of a second")
            }
            if problem.contains("Maximum nesting level") {
                return YAMLProblem(mark: mark, message: "the file is nested over 1000 levels deep")
            }
            if lines.indices.contains(mark.line - 1),
                lines[mark.line - 1].unicodeScalars.dropFirst(mark.column - 1).first == "\t"
            {
                return YAMLProblem(mark: mark, message: "a tab is not allowed here; indent with spaces")
            }
            let what = context.map { "\(problem) \($0.text)" } ?? problem
            let hint = hints.first { problem.contains($0.problem) }.map { "; " + $0.hint } ?? ""
            return YAMLProblem(mark: mark, message: "this is not valid YAML: \(what)\(hint)")
        case .reader(let problem, _, _, _):
            return YAMLProblem(message: "this is not valid YAML: \(problem)")
        default:
            return YAMLProblem(message: "the file cannot be read as YAML")
        }
    }

    /// Where the end of the file is to blame, the end of its last line that says something.
    private static func place(_ mark: Mark, _ lines: [String]) -> SourceMark {
        let place = SourceMark(line: mark.line, column: max(1, mark.column))
        let rest = lines.dropFirst(place.line - 1).first ?? ""
        guard place.line >= lines.count, rest.isEmpty,
            let last = lines.lastIndex(where: { line in line.contains { !$0.isWhitespace } })
        else { return place }
        return SourceMark(line: last + 1, column: lines[last].unicodeScalars.count + 1)
    }

    /// How to mend what people get wrong most.
    private static let hints: [(problem: String, hint: String)] = [
        (
            "mapping values are not allowed",
            "quote a text with a colon in it, and begin the keys of one mapping in one column"
        ),
        (
            "cannot start any token",
            "quote a text that begins with @, ` or %"
        ),
        ("did not find expected key", "begin the keys of one mapping in one column"),
        ("did not find expected '-' indicator", "begin the dashes of one list in one column"),
        ("did not find expected ',' or ']'", "a list that begins with [ has no ]"),
        ("did not find expected ',' or '}'", "a mapping that begins with { has no }"),
        ("did not find expected node content", "a [ or { is not closed"),
        ("unexpected end of stream", "a quote is not closed"),
        ("found undefined alias", "quote a text that begins with *"),
    ]
}
