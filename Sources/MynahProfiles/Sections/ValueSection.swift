import MynahSupport

/// Parses the section `value:` of a value that is written as bytes or as a generator.
///
/// `FieldsSection` parses a value that is written as fields.
enum ValueSection {
    static let hex = Field(
        "hex", .bytes, isRequired: true,
        doc: "Pairs of hexadecimal digits, as 01 FF; spaces, dashes and colons between them are allowed.")
    static let text = Field(
        "text", .utf8, isRequired: true,
        doc: """
            UTF-8, as it is written: 2901 and 01 stay what they look like. In a characteristic's value and \
            an answer, names in braces are variables or further keys of the value, as in "counter {n}".
            """)
    static let base64 = Field("base64", .base64, isRequired: true, doc: "Bytes in base64, with its padding.")
    /// The keys for constant bytes.
    static let constants = [hex, text, base64]
    /// The keys for the content of a value, which has exactly one of them, or only a layout.
    static let forms = constants.map(\.name) + ["generate", FieldsSection.fields.name]

    /// Returns the schema of bytes and of further forms.
    ///
    /// `texts` describes the keys of a text with fields.
    static func schema(_ more: [Section], texts: Schema.Others? = nil) -> Schema {
        .oneOf(
            (constants.map { Section("value", [$0], others: $0.name == text.name ? texts : nil) } + more)
                .map(\.schema))
    }

    /// Makes the field `generate` whose value is the name of a generator.
    static func generate(_ name: String) -> Field<YAMLNode> {
        Field(
            "generate", .node("`\(name)`", Schema([.init("const", .string(name))])), isRequired: true,
            doc: "Makes the value anew each time.")
    }

    static func read(_ node: YAMLNode, _ reader: FormatReader) -> Profile.Value? {
        guard case .mapping(let mapping) = node else {
            reader.error(
                at: node,
                """
                a value must say its form, as in {hex: 01 02}, {text: Pulse}, {base64: AQI=} \
                or {generate: heart-rate}
                """
            )
            return nil
        }
        if let merge = mapping.first(where: { $0.key.scalar?.string == "<<" }) {
            reader.noteMerge(merge.key, "a value")
            return nil
        }
        let words = mapping.compactMap { $0.key.scalar?.string }
        let forms = words.filter { Self.forms.contains($0) }
        guard forms.count == 1, let form = forms.first else {
            let near = words.lazy.map { Words.near($0, among: Self.forms) }.first { !$0.isEmpty }
            reader.error(
                at: node,
                forms.isEmpty
                    ? "a value needs one of \(Words.list(Self.forms))\(near ?? "")"
                    : "a value has one form, and this one has \(Words.list(forms))")
            return nil
        }
        if form == "generate" { return generated(node, mapping, reader) }
        guard let field = constants.first(where: { $0.name == form }) else {
            reader.error(at: node, "only the value of a characteristic of a service has fields")
            return nil
        }
        let refused = ["pieces": "pieces is a key beside value, of a characteristic or an answer"]
        return reader.fields(node, "a value", known: [form], refused: refused)?.read(field).map { .bytes($0) }
    }

    /// Parses constant bytes; `message` is the error if the value changes over time.
    static func constant(_ node: YAMLNode, else message: String, _ reader: FormatReader) -> [UInt8]? {
        switch read(node, reader) {
        case .bytes(let bytes)?: return bytes
        case .generated?: reader.error(at: node, message)
        case nil: break
        }
        return nil
    }

    private static func generated(
        _ node: YAMLNode, _ mapping: YAMLNode.Mapping, _ reader: FormatReader
    ) -> Profile.Value? {
        let names = Generators.all.map { $0.name }
        guard let nameNode = mapping["generate"], let name = reader.text(nameNode, "generate") else {
            return nil
        }
        guard let kind = Generators.all.first(where: { $0.name == name }) else {
            reader.error(at: nameNode, Words.unknown("generator \(Words.quote(name))", name, among: names))
            return nil
        }
        guard let fields = reader.fields(node, kind.table) else { return nil }
        return kind.read(fields, reader).map { .generated($0) }
    }
}

extension Kind<[UInt8]> {
    /// The format of a text, which is used as written, even if YAML would interpret it as a number or as
    /// null.
    fileprivate static var utf8: Kind {
        Kind("text", .types("string", "number", "boolean", "null")) { node, what, reader in
            reader.scalar(node, what).map { Array($0.string.utf8) }
        }
    }

    fileprivate static var base64: Kind {
        Kind(
            "bytes in base64", .types("string", "number", pattern: "^[A-Za-z0-9+/\\s]*(=\\s*){0,2}$")
        ) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            if let bytes = Base64.decode(text) { return bytes }
            reader.error(
                at: node, "\(what) must be groups of four of A-Z, a-z, 0-9, + and /, with = at the end")
            return nil
        }
    }

    /// Makes the format of a constant value; `message` is the error if the value changes over time.
    static func constantValue(else message: String) -> Kind {
        Kind("`value` without `generate` and `fields`", .ref("bytesValue")) { node, _, reader in
            ValueSection.constant(node, else: message, reader)
        }
    }
}
