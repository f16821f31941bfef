import MynahSupport

/// The format of a value: parses the value, and describes it for editors and for people.
struct Kind<Value>: Sendable {
    private let makeForm: @Sendable () -> String
    private let makeSchema: @Sendable () -> Schema
    /// Parses a value, called `what` in messages; `nil` after an issue was reported.
    let read: @Sendable (_ node: YAMLNode, _ what: String, _ reader: FormatReader) -> Value?

    /// The format in words, made only when an article or an editor needs it.
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
/// The section is parsed with it, and the schema and the table of keys are generated from it.
struct Field<Value>: DeclaredField {
    let name: String
    /// The name of the value in messages.
    let called: String
    let kind: Kind<Value>
    let isRequired: Bool
    let missing: String?
    var doc: String

    /// Makes a field; `missing` is the message if a required field is missing.
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

    /// The same field, but required.
    var needed: Field { Field(name, called: called, kind, isRequired: true, doc: doc) }

    var form: String { kind.form }
    var schema: Schema { kind.schema.described(doc) }
}

/// A field with any type of value.
protocol DeclaredField: Sendable {
    var name: String { get }
    var isRequired: Bool { get }
    var missing: String? { get }
    var doc: String { get }
    var form: String { get }
    var schema: Schema { get }
}

/// The table of a section's fields, in the order in which users usually write them.
struct Section: Sendable {
    /// The section's name in the schema.
    let name: String
    /// The section's name in messages.
    let what: String
    let fields: [any DeclaredField]
    let keys: [String]
    /// The messages about keys that are missing.
    let missing: [(key: String, message: String)]
    private let makeRules: @Sendable () -> [JSON.Member]
    private let makeOthers: @Sendable () -> Schema.Others?

    /// Makes a section; `rules` are the schema's rules for several fields together, and `others` are keys
    /// that the user chooses.
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
    /// A key and its value.
    struct Entry {
        let key: String
        let mark: SourceMark?
        let value: YAMLNode
    }

    let reader: FormatReader
    let mark: SourceMark
    /// The entries; there are so few that a search through them is faster than a dictionary.
    let entries: [Entry]

    subscript(key: String) -> YAMLNode? { entries.first { $0.key == key }?.value }
    subscript<Value>(field: Field<Value>) -> YAMLNode? { self[field.name] }
    func mark(of key: String) -> SourceMark { entries.first { $0.key == key }?.mark ?? mark }
    func mark<Value>(of field: Field<Value>) -> SourceMark { mark(of: field.name) }
    /// The position of each value.
    var marks: [String: SourceMark] { marks(in: "") }

    /// The position of each value, by its key after the section's name, as in `device.name`.
    func marks(in section: String) -> [String: SourceMark] {
        let marked = entries.compactMap { entry in entry.value.mark.map { (section + entry.key, $0) } }
        return Dictionary(marked) { first, _ in first }
    }

    /// Parses the value of a field, or returns `nil` if it is missing or invalid.
    func read<Value>(_ field: Field<Value>) -> Value? {
        self[field].flatMap { field.kind.read($0, field.called, reader) }
    }
}

extension Fields {
    /// Parses the value of a field, or returns `usual` if it is missing, or `nil` if it is invalid.
    func read<Value>(_ field: Field<Value>, usual: Value) -> Value? {
        self[field] == nil ? usual : read(field)
    }

    /// Replaces a value by that of a field, unless the field is missing or invalid.
    func read<Value>(_ field: Field<Value>, into value: inout Value) {
        if let read = read(field) { value = read }
    }

    func read<Value>(_ field: Field<Value>, into value: inout Value?) {
        if let read = read(field) { value = read }
    }
}
