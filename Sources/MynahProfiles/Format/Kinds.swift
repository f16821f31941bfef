import MynahCore
import MynahSupport

// The formats of values that occur in many sections.

extension Kind<YAMLNode> {
    /// Makes the format of a value that the section itself parses, because it depends on other parts of the
    /// profile.
    static func node(_ form: String, _ schema: @autoclosure @escaping @Sendable () -> Schema) -> Kind {
        Kind(form, schema()) { node, _, _ in node }
    }

    /// Makes the format of a mapping that has its own table of keys; `name` is its name in the schema.
    static func section(_ name: String) -> Kind { node("`\(name)`", .ref(name)) }

    /// Makes the format of a list of such mappings.
    static func sections(_ name: String, atLeast minimum: Int = 0) -> Kind {
        node("list of `\(name)`", .list(of: .ref(name), atLeast: minimum))
    }
}

extension Kind<String> {
    /// The format of a text, which is used as written.
    static var text: Kind { Kind("text", .ref("text")) { $2.text($0, $1) } }

    /// Makes the format of the name of a fault or a scenario.
    ///
    /// The name can be used in a path of the control API, and fits on one line.
    static func name(of kind: String) -> Kind {
        Kind("text", .ref("text")) { node, _, reader in
            guard let name = reader.text(node, "the name of a \(kind)") else { return nil }
            if name.isEmpty || name.utf8.count > 64 {
                reader.error(at: node, "the name of a \(kind) must have 1 to 64 bytes")
            } else {
                reader.checkName(name, "the name of the \(kind)", at: node)
            }
            return name
        }
    }
}

extension Kind<Bool> {
    static var bool: Kind { Kind("`true`, `false`", .ref("boolean")) { $2.bool($0, $1) } }
}

extension Kind<Int> {
    /// Makes the format of an integer; `name` is its definition in the schema, or `nil` if it has none.
    static func integer(_ range: ClosedRange<Int>, _ name: String? = nil) -> Kind {
        Kind("number, \(range.lowerBound) to \(range.upperBound)", name.map { .ref($0) } ?? .integer(range)) {
            $2.integer($0, $1, in: range)
        }
    }
}

extension Kind<Duration> {
    static func duration(_ minimum: Duration = .zero, atMost maximum: Duration? = nil) -> Kind {
        Kind("duration" + bounds(minimum, maximum), .ref("duration")) {
            $2.duration($0, $1, atLeast: minimum, atMost: maximum)
        }
    }

    private static func bounds(_ minimum: Duration, _ maximum: Duration?) -> String {
        if let maximum { return ", \(minimum.text) to \(maximum.text)" }
        return minimum > .zero ? ", from \(minimum.text)" : ""
    }

    /// The format of an advertising interval.
    ///
    /// Legacy advertising allows 20 ms to 10.24 s (Core Specification, Vol 6, Part B, 4.4.2.2).
    static var advertisingInterval: Kind { duration(.milliseconds(20), atMost: .milliseconds(10240)) }
}

extension Kind where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// The format of one of the cases of an enumeration, by its raw value.
    static var word: Kind {
        Kind(Words.codes(words), .words(words)) { $2.choice($0, $1) }
    }

    private static var words: [String] {
        Value.allCases.map(\.rawValue)
    }
}

extension Kind<[UInt8]> {
    static var bytes: Kind { Kind("bytes", .ref("bytes")) { $2.bytes($0, $1) } }
}

extension Kind<UInt8> {
    /// The format of an ATT error, or of another code of one byte.
    static var code: Kind {
        Kind("number, 1 to 255", .ref("attError")) {
            $2.integer($0, $1, in: 1...255).map { UInt8(truncatingIfNeeded: $0) }
        }
    }
}

extension Kind {
    /// Makes the format of a text that `parse` accepts; the message for any other text ends with `shape`.
    static func parsed(
        _ form: String, _ schema: @autoclosure @escaping @Sendable () -> Schema, shape: String,
        _ parse: @escaping @Sendable (String) -> Value?
    ) -> Kind {
        Kind(form, schema()) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            if let value = parse(text) { return value }
            reader.error(at: node, "\(what) must be \(shape), not \(Words.quote(text))")
            return nil
        }
    }
}

/// A word of a list, with its node.
struct PlacedWord {
    let word: String
    let node: YAMLNode
}

extension Kind<[PlacedWord]> {
    /// Makes the format of a list of words, each at most once; `each` is the name of a word in messages.
    static func words(
        _ words: [String], each: String, atLeast minimum: Int = 0,
        repeated: @escaping @Sendable (String) -> String
    ) -> Kind {
        Kind(
            "list of \(Words.codes(words))",
            .list(of: .words(words), atLeast: minimum, isUnique: true)
        ) { node, what, reader in
            var list: [PlacedWord] = []
            for element in reader.elements(node, what) {
                guard let word = reader.text(element, "a \(each)") else { continue }
                guard words.contains(word) else {
                    reader.error(
                        at: element, Words.unknown("\(each) \(Words.quote(word))", word, among: words))
                    continue
                }
                if list.contains(where: { $0.word == word }) { reader.error(at: element, repeated(word)) }
                list.append(PlacedWord(word: word, node: element))
            }
            return list
        }
    }
}

/// Bytes with a key that the user chooses.
struct KeyedBytes<Key> {
    let key: Key
    let bytes: [UInt8]
}

extension Kind {
    /// Makes the format of bytes by unique keys.
    ///
    /// `check` reports a problem with a key, and `name` returns the key's name for messages.
    static func bytes<Key: Hashable & Sendable>(
        by key: Kind<Key>, called what: String,
        name: @escaping @Sendable (Key, YAMLNode) -> String,
        check: @escaping @Sendable (Key, YAMLNode, FormatReader) -> Void = { _, _, _ in }
    ) -> Kind<[KeyedBytes<Key>]> where Value == [KeyedBytes<Key>] {
        Kind("bytes by \(key.form)", .map(keys: key.schema, to: .ref("bytes"))) { node, field, reader in
            var list: [KeyedBytes<Key>] = []
            var seen: Set<Key> = []
            for (keyNode, value) in reader.members(node, field) {
                guard let key = key.read(keyNode, what, reader), let bytes = reader.bytes(value, field)
                else { continue }
                check(key, keyNode, reader)
                if !seen.insert(key).inserted {
                    reader.error(at: keyNode, "\(field) has \(name(key, keyNode)) twice")
                }
                list.append(.init(key: key, bytes: bytes))
            }
            return list
        }
    }
}
