import MynahCYAML
import MynahSupport

/// Composes the nodes of a text from the events of libyaml (YAML 1.2.2, 3.1).
struct YAMLComposer {
    /// The largest depth of nested sequences and mappings.
    static let maximumDepth = 1000

    /// A sequence or mapping whose end was not parsed yet.
    private struct Open {
        let isMapping: Bool
        let anchor: String?
        let mark: SourceMark
        /// The elements; in a mapping, keys and values alternate.
        var nodes: [YAMLNode] = []
    }

    /// The root of the first document, or `nil` if the text has no document or is not YAML.
    private(set) var root: YAMLNode?
    /// The keys that are repeated in a mapping; their pairs are left out.
    private(set) var repeatedKeys: [YAMLNode.Scalar] = []
    /// The problem that ended the parsing, or `nil` if it is complete.
    private(set) var problem: Problem?
    private var open: [Open] = []
    private var anchors: [String: YAMLNode] = [:]

    /// The reason that a text is not a single YAML document.
    enum Problem: Error {
        /// The message of libyaml, with its context.
        case syntax(String, context: String?, SourceMark?)
        case undefinedAlias(SourceMark)
        case tooDeep(SourceMark)
        case secondDocument(SourceMark)
    }

    init(_ text: String) {
        do throws(Problem) {
            try Array(text.utf8).withUnsafeBufferPointer { bytes throws(Problem) in try compose(bytes) }
        } catch {
            problem = error
            root = nil
        }
    }

    private mutating func compose(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) {
        // libyaml has pointers into this memory, so it must not move.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            throw .syntax("there is too little memory", context: nil, nil)
        }
        defer { yaml_parser_delete(parser) }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
        var isAtEnd = false
        while !isAtEnd {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { throw Self.problem(of: parser.pointee) }
            defer { yaml_event_delete(&event) }
            try handle(event)
            isAtEnd = event.type == YAML_STREAM_END_EVENT
        }
    }

    private mutating func handle(_ event: yaml_event_t) throws(Problem) {
        let mark = SourceMark(event.start_mark)
        switch event.type {
        case YAML_DOCUMENT_START_EVENT where root != nil: throw .secondDocument(mark)
        case YAML_ALIAS_EVENT:
            guard let name = Self.text(event.data.alias.anchor), let node = anchors[name] else {
                throw .undefinedAlias(mark)
            }
            add(node)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let node = YAMLNode.scalar(
                .init(
                    string: String(
                        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length),
                        as: UTF8.self),
                    isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE, mark: mark))
            if let anchor = Self.text(scalar.anchor) { anchors[anchor] = node }
            add(node)
        case YAML_SEQUENCE_START_EVENT:
            try openContainer(
                Open(isMapping: false, anchor: Self.text(event.data.sequence_start.anchor), mark: mark))
        case YAML_MAPPING_START_EVENT:
            try openContainer(
                Open(isMapping: true, anchor: Self.text(event.data.mapping_start.anchor), mark: mark))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: end()
        default: break
        }
    }

    private mutating func openContainer(_ container: Open) throws(Problem) {
        guard open.count < Self.maximumDepth else { throw .tooDeep(container.mark) }
        open.append(container)
    }

    private mutating func end() {
        guard let container = open.popLast() else { return }
        let node: YAMLNode =
            container.isMapping
            ? .mapping(.init(pairs: pairs(of: container.nodes), mark: container.mark))
            : .sequence(.init(elements: container.nodes, mark: container.mark))
        if let anchor = container.anchor { anchors[anchor] = node }
        add(node)
    }

    private mutating func add(_ node: YAMLNode) {
        if open.isEmpty {
            root = node
        } else {
            open[open.count - 1].nodes.append(node)
        }
    }

    /// Combines keys and values into pairs, and leaves out the pairs of repeated keys (YAML 1.2.2, 3.2.1.3).
    private mutating func pairs(of nodes: [YAMLNode]) -> [(key: YAMLNode, value: YAMLNode)] {
        var names: Set<String> = []
        var pairs: [(key: YAMLNode, value: YAMLNode)] = []
        pairs.reserveCapacity(nodes.count / 2)
        for place in stride(from: 0, to: nodes.count - 1, by: 2) {
            if let key = nodes[place].scalar, !names.insert(key.string).inserted {
                repeatedKeys.append(key)
            } else {
                pairs.append((nodes[place], nodes[place + 1]))
            }
        }
        return pairs
    }

    private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        pointer.map { String(cString: $0) }
    }

    private static func problem(of parser: yaml_parser_t) -> Problem {
        let words = parser.problem.map { String(cString: $0) } ?? "it cannot be read"
        switch parser.error {
        case YAML_SCANNER_ERROR, YAML_PARSER_ERROR:
            return .syntax(
                words, context: parser.context.map { String(cString: $0) }, SourceMark(parser.problem_mark))
        default: return .syntax(words, context: nil, nil)
        }
    }
}

extension SourceMark {
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: mark.line + 1, column: mark.column + 1)
    }
}
