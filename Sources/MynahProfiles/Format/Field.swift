import MynahSupport

/// The format of a value, which parses the value, and describes it in a schema and in words.
struct Kind<Value>: Sendable {
    private let makeForm: @Sendable () -> String
    private let makeSchema: @Sendable () -> Schema
    /// Parses a value; returns `nil` after an issue was reported.
    ///
    /// `what` is the name of the value in messages.
    let read: @Sendable (_ node: YAMLNode, _ what: String, _ reader: FormatReader) -> Value?

    /// The format in words, for the tables of keys and the schema; made only when they need it.
    var form: String { makeForm() }
    var schema: Schema { makeSchema() }

    init(
        _ form: @autoclosure @escaping @Sendable () -> String,
        _ schema: @autoclosure @escaping @Sendable () -> Schema,
        read: @escaping @Sendable (YAMLNode, String, FormatReader) -> Value?
    ) {
        makeForm = form
        makeSchema = schema
        self.read = read
    }
}

/// A key of a section: its name, its format and its meaning, declared once.
///
/// Both the parser and the generators of the schema and of the tables of keys use this declaration.
struct Field<Value>: DeclaredField {
    let name: String
    /// The name of the value in messages.
    let called: String
    let kind: Kind<Value>
    let isRequired: Bool
    let missing: String?
    var doc: String

    /// Makes a field; `missing` is the message if the field is required and missing.
    init(
        _ name: String, called: String? = nil, _ kind: Kind<Value>, isRequired: Bool = false,
        missing: String? = nil, doc: String
    ) {
        self.name = name
        self.called = called ?? name
        self.kind = kind
        self.isRequired = isRequired || missing != nil
        self.missing = missing
        self.doc = doc
    }

    /// The same field as a required field.
    var needed: Field { Field(name, called: called, kind, isRequired: true, doc: doc) }

    var form: String { kind.form }
    var schema: Schema { kind.schema.described(doc) }
}

/// A field whose value may have any type.
protocol DeclaredField: Sendable {
    var name: String { get }
    var isRequired: Bool { get }
    var missing: String? { get }
    var doc: String { get }
    var form: String { get }
    var schema: Schema { get }
}

/// The fields of a section, in the order in which users usually write them.
struct Section: Sendable {
    /// The section's name in the schema.
    let name: String
    /// The section's name in messages.
    let what: String
    let fields: [any DeclaredField]
    let keys: [String]
    /// The messages about required keys that are missing.
    let missing: [(key: String, message: String)]
    private let makeRules: @Sendable () -> [JSON.Member]
    private let makeOthers: @Sendable () -> Schema.Others?

    /// Makes a section.
    ///
    /// `rules` are rules of the schema for several fields together. `others` describes additional keys,
    /// which the user chooses.
    init(
        _ name: String, what: String? = nil, _ fields: [any DeclaredField],
        others: @autoclosure @escaping @Sendable () -> Schema.Others? = nil,
        rules: @autoclosure @escaping @Sendable () -> [JSON.Member] = []
    ) {
        self.name = name
        self.what = what ?? name
        self.fields = fields
        keys = fields.map(\.name)
        missing = fields.compactMap { field in field.missing.map { (field.name, $0) } }
        makeOthers = others
        makeRules = rules
    }

    var schema: Schema {
        Schema.object(
            fields.map { ($0.name, $0.schema) }, required: fields.filter(\.isRequired).map(\.name),
            others: makeOthers()
        ).with(makeRules())
    }
}

/// The fields in a mapping.
struct Fields {
    /// A key with its value.
    struct Entry {
        let key: String
        let mark: SourceMark?
        let value: YAMLNode
    }

    let reader: FormatReader
    let mark: SourceMark
    /// The entries; they are so few that a linear search is faster than a dictionary.
    let entries: [Entry]

    subscript(key: String) -> YAMLNode? { entries.first { $0.key == key }?.value }
    subscript<Value>(field: Field<Value>) -> YAMLNode? { self[field.name] }
    func mark(of key: String) -> SourceMark { entries.first { $0.key == key }?.mark ?? mark }
    func mark<Value>(of field: Field<Value>) -> SourceMark { mark(of: field.name) }
    /// The position of each value, by its key.
    var marks: [String: SourceMark] { marks(in: "") }

    /// Returns the position of each value by its key with a prefix, as in `device.name`.
    func marks(in section: String) -> [String: SourceMark] {
        let marked = entries.compactMap { entry in entry.value.mark.map { (section + entry.key, $0) } }
        return Dictionary(marked) { first, _ in first }
    }

    /// Parses the value of a field; returns `nil` if it is missing or invalid.
    func read<Value>(_ field: Field<Value>) -> Value? {
        self[field].flatMap { field.kind.read($0, field.called, reader) }
    }
}

extension Fields {
    /// Parses the value of a field; returns `usual` if it is missing, and `nil` if it is invalid.
    func read<Value>(_ field: Field<Value>, usual: Value) -> Value? {
        self[field] == nil ? usual : read(field)
    }

    /// Replaces `value` by the value of a field, unless that is missing or invalid.
    func read<Value>(_ field: Field<Value>, into value: inout Value) {
        if let read = read(field) { value = read }
    }

    func read<Value>(_ field: Field<Value>, into value: inout Value?) {
        if let read = read(field) { value = read }
    }
}
