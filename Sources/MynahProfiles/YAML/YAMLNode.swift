import MynahSupport

/// A node of a YAML document, with the position of its beginning (YAML 1.2.2, 3.2.1).
///
/// Tags are ignored, because the type of a value is determined by its key in the profile.
enum YAMLNode: Sendable {
    case scalar(Scalar)
    case sequence(Sequence)
    case mapping(Mapping)

    struct Scalar: Sendable {
        var string: String
        /// `true` if the scalar is written without quotes and block indicators.
        var isPlain = true
        var mark: SourceMark?
    }

    struct Sequence: Sendable {
        var elements: [YAMLNode]
        var mark: SourceMark?
    }

    struct Mapping: Sendable {
        /// The pairs, in the order of the file.
        var pairs: [(key: YAMLNode, value: YAMLNode)]
        var mark: SourceMark?

        /// The value of a key, or `nil` if there is none.
        subscript(key: String) -> YAMLNode? { pairs.first { $0.key.scalar?.string == key }?.value }
    }

    /// The position at which the node begins, or `nil` if it does not come from a file.
    var mark: SourceMark? {
        switch self {
        case .scalar(let scalar): scalar.mark
        case .sequence(let sequence): sequence.mark
        case .mapping(let mapping): mapping.mark
        }
    }

    var scalar: Scalar? { if case .scalar(let scalar) = self { scalar } else { nil } }
    var sequence: Sequence? { if case .sequence(let sequence) = self { sequence } else { nil } }
    var mapping: Mapping? { if case .mapping(let mapping) = self { mapping } else { nil } }

    /// Returns the node with itself and all its parts moved to one position.
    func moved(to mark: SourceMark?) -> YAMLNode {
        switch self {
        case .scalar(let scalar):
            .scalar(Scalar(string: scalar.string, isPlain: scalar.isPlain, mark: mark))
        case .sequence(let sequence):
            .sequence(Sequence(elements: sequence.map { $0.moved(to: mark) }, mark: mark))
        case .mapping(let mapping):
            .mapping(
                Mapping(
                    pairs: mapping.map { ($0.key.moved(to: mark), $0.value.moved(to: mark)) }, mark: mark))
        }
    }
}

extension YAMLNode.Sequence: RandomAccessCollection {
    var startIndex: Int { elements.startIndex }
    var endIndex: Int { elements.endIndex }
    subscript(index: Int) -> YAMLNode { elements[index] }
}

extension YAMLNode.Mapping: RandomAccessCollection {
    var startIndex: Int { pairs.startIndex }
    var endIndex: Int { pairs.endIndex }
    subscript(index: Int) -> (key: YAMLNode, value: YAMLNode) { pairs[index] }
}
