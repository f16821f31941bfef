/// The nodes of a file with a single document, or the reason that the file has no such document.
struct YAMLDocument {
    /// The root node, or `nil` if nothing could be parsed.
    private(set) var root: YAMLNode?
    private(set) var problems: [YAMLProblem] = []

    init(_ source: YAMLText) {
        if let problem = source.forbiddenCharacter ?? source.aliasProblem {
            problems = [problem]
            return
        }
        let composed = YAMLComposer(source.text)
        problems = composed.repeatedKeys.map {
            YAMLProblem(mark: $0.mark, message: "the key \(Words.quote($0.string)) is repeated; remove one")
        }
        if let problem = composed.problem {
            problems.append(Self.problem(problem, lines: source.lines))
        } else if let node = composed.root, node.scalar.map({ $0.isPlain && $0.string.isEmpty }) != true {
            root = node
        } else {
            problems.append(
                YAMLProblem(message: "the file is empty; `mynah new` prints a profile to start from"))
        }
    }

    // MARK: Messages

    private static func problem(_ problem: YAMLComposer.Problem, lines: [String]) -> YAMLProblem {
        switch problem {
        case .secondDocument(let mark):
            return YAMLProblem(
                mark: mark, message: "a profile is one document; this is the start of a second")
        case .tooDeep(let mark):
            return YAMLProblem(
                mark: mark, message: "the file is nested over \(YAMLComposer.maximumDepth) levels deep")
        case .undefinedAlias(let mark):
            return YAMLProblem(
                mark: mark,
                message: "this is not valid YAML: found undefined alias; quote a text that begins with *")
        case .syntax(let words, let context, let mark):
            let mark = mark.map { place($0, lines) }
            if let mark, lines.indices.contains(mark.line - 1),
                lines[mark.line - 1].unicodeScalars.dropFirst(mark.column - 1).first == "\t"
            {
                return YAMLProblem(mark: mark, message: "a tab is not allowed here; indent with spaces")
            }
            let what = context.map { "\(words) \($0)" } ?? words
            let hint = hints.first { words.contains($0.problem) }.map { "; " + $0.hint } ?? ""
            return YAMLProblem(mark: mark, message: "this is not valid YAML: \(what)\(hint)")
        }
    }

    /// Returns the position at which to report a problem.
    ///
    /// A problem at the end of the file is reported at the end of the last line that is not empty.
    private static func place(_ mark: SourceMark, _ lines: [String]) -> SourceMark {
        let rest = lines.dropFirst(mark.line - 1).first ?? ""
        guard mark.line >= lines.count, rest.isEmpty,
            let last = lines.lastIndex(where: { line in line.contains { !$0.isWhitespace } })
        else { return mark }
        return SourceMark(line: last + 1, column: lines[last].unicodeScalars.count + 1)
    }

    /// The advice for the most common mistakes, by libyaml's message.
    private static let hints: [(problem: String, hint: String)] = [
        (
            "mapping values are not allowed",
            "quote a text with a colon in it, and begin the keys of one mapping in one column"
        ),
        ("cannot start any token", "quote a text that begins with @, ` or %"),
        ("did not find expected key", "begin the keys of one mapping in one column"),
        ("did not find expected '-' indicator", "begin the dashes of one list in one column"),
        ("did not find expected ',' or ']'", "a list that begins with [ has no ]"),
        ("did not find expected ',' or '}'", "a mapping that begins with { has no }"),
        ("did not find expected node content", "a [ or { is not closed"),
        ("unexpected end of stream", "a quote is not closed"),
    ]
}
