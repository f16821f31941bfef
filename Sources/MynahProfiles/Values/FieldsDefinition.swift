import MynahCore
import MynahSupport
package import MynahValues

/// A value composed of fields, at least one of which changes.
struct FieldsDefinition: GeneratorDefinition, Hashable {
    indirect enum Content: Hashable, Sendable {
        case constant(FieldValue)
        case generated(FieldGenerator)
        /// The value of a variable or, in an answer, of a field of the written value.
        case from(String, FieldRange)
        case list([Content])

        var isGenerated: Bool {
            switch self {
            case .constant: false
            case .generated, .from: true
            case .list(let contents): contents.contains(where: \.isGenerated)
            }
        }

        /// The constant value of the field, or `nil` if the value is generated.
        var constant: FieldValue? {
            switch self {
            case .constant(let value): return value
            case .generated, .from: return nil
            case .list(let contents):
                let values = contents.compactMap(\.constant)
                return values.count == contents.count ? .list(values) : nil
            }
        }

        /// The names of the variables on which the content depends.
        var names: Set<String> {
            switch self {
            case .constant, .generated: []
            case .from(let name, _): [name]
            case .list(let contents): contents.reduce(into: []) { $0.formUnion($1.names) }
            }
        }

        /// The content, in which a generated list is replaced by its longest text or bytes.
        var longest: Content {
            guard case .generated(let generator) = self, case .list(let values) = generator.source else {
                return self
            }
            return values.max { $0.length < $1.length }.map { .constant($0) } ?? self
        }
    }

    /// A field of the value.
    struct Field: Hashable, Sendable {
        var name: String
        var content: Content
        /// The unit, or `nil` for the field's first unit.
        var unit: String?
    }

    static let name = "fields"

    let layout: ValueLayout
    let fields: [Field]
    /// The variables with the profile's initial values.
    let variables: Variables
    let maximumLength: Int

    /// Makes a definition.
    ///
    /// Throws `LayoutProblem` if the fields do not fit the layout, either at the first tick or with the
    /// longest values.
    init(
        _ layout: ValueLayout, _ fields: [Field], _ variables: Variables = Variables(),
        _ written: [NamedField] = []
    ) throws(LayoutProblem) {
        self.layout = layout
        self.fields = fields
        self.variables = variables
        let source = FieldsSource(
            run: GeneratorRun(seed: 0, interval: .seconds(1)), tick: 0, variables: variables, written: written
        )
        _ = try layout.encode(source.fields(fields))
        let longest = fields.map { field in
            var field = field
            field.content = field.content.longest
            return field
        }
        let bytes = try layout.encode(source.fields(longest))
        // A field with several possible kinds may be longer at another tick.
        let growing = layout.entries.filter { entry in
            entry.wideKind != nil && fields.contains { $0.name == entry.name && $0.content.isGenerated }
        }
        maximumLength = bytes.count + growing.count
    }

    func makeGenerator(for run: GeneratorRun) -> any ValueGenerator {
        FieldsGenerator(definition: self, run: run)
    }

    /// Returns the bytes of an answer; `written` has the fields of the written value.
    func encode(_ variables: Variables, _ written: [NamedField]) throws(LayoutProblem) -> [UInt8] {
        let source = FieldsSource(
            run: GeneratorRun(seed: 0, interval: .seconds(1)), tick: 0, variables: variables, written: written
        )
        return try layout.encode(source.fields(fields))
    }
}

/// A generator of a value that can depend on variables.
package protocol VariableReader: ValueGenerator {
    /// The names of the variables on which the value depends.
    var names: Set<String> { get }
    /// Returns the value at a tick with these variables; throws if a variable's value does not fit its
    /// field.
    func value(at tick: UInt64, _ variables: Variables) throws(LayoutProblem) -> [UInt8]
}

private struct FieldsGenerator: VariableReader {
    let definition: FieldsDefinition
    let run: GeneratorRun

    var names: Set<String> { definition.fields.reduce(into: []) { $0.formUnion($1.content.names) } }

    func value(at tick: UInt64) -> [UInt8] {
        for tick in [tick, 0] {
            if let bytes = try? value(at: tick, definition.variables) { return bytes }
        }
        return []
    }

    func value(at tick: UInt64, _ variables: Variables) throws(LayoutProblem) -> [UInt8] {
        let source = FieldsSource(run: run, tick: tick, variables: variables, written: [])
        return try definition.layout.encode(source.fields(definition.fields))
    }
}

/// The time, the variables and the written value from which the fields of a value are made.
private struct FieldsSource {
    var run: GeneratorRun
    var tick: UInt64
    var variables: Variables
    /// The fields of the written value to which an answer responds.
    var written: [NamedField]

    func fields(_ fields: [FieldsDefinition.Field]) -> [NamedField] {
        fields.map { NamedField($0.name, value(of: $0.content, $0.name), $0.unit) }
    }

    private func value(of content: FieldsDefinition.Content, _ name: String) -> FieldValue {
        switch content {
        case .constant(let value): value
        case .generated(let generator):
            generator.value(at: tick, of: run, seed: ValueSeed.of(run.seed, name))
        case .from(let source, let shape):
            variables[source].map { shape.value(of: $0) } ?? written.first { $0.name == source }?.value
                ?? .number(.nan)
        case .list(let contents):
            .list(contents.enumerated().map { value(of: $1, "\(name)[\($0)]") })
        }
    }
}

extension FieldRange {
    /// Converts a variable's value for this field.
    fileprivate func value(of variable: VariableValue) -> FieldValue {
        switch (variable, kind) {
        case (.number(let number), .boolean): .boolean(number != 0)
        case (.number(let number), .text): .text(NumberText.of(number))
        case (.number(let number), _): Int(exactly: number).map { .integer($0) } ?? .number(number)
        case (.integer, .boolean), (.unsigned, .boolean): .boolean(true)
        case (.integer(let integer), .text): .text(String(integer))
        case (.integer(let integer), _): .integer(integer)
        case (.unsigned(let integer), .text): .text(String(integer))
        case (.unsigned(let integer), _): .unsigned(integer)
        case (.text(let text), .boolean): .boolean(text == "true")
        case (.text(let text), .bytes): Hex.decode(text).map { .bytes($0) } ?? .text(text)
        case (.text(let text), _): .text(text)
        }
    }
}

extension FieldValue {
    /// The length of a text or of bytes, in bytes.
    fileprivate var length: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .integer, .unsigned, .number, .boolean, .named, .list: 0
        }
    }
}
