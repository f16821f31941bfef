import MynahCore

/// A value made of fields, of which at least one changes from tick to tick.
struct FieldsDefinition: GeneratorDefinition {
    /// The content of a field.
    indirect enum Content: Hashable, Sendable {
        case constant(FieldValue)
        case generated(FieldGenerator)
        case list([Content])

        var isGenerated: Bool {
            switch self {
            case .constant: false
            case .generated: true
            case .list(let contents): contents.contains(where: \.isGenerated)
            }
        }

        /// Its value, or `nil` if it is generated.
        var constant: FieldValue? {
            switch self {
            case .constant(let value): return value
            case .generated: return nil
            case .list(let contents):
                let values = contents.compactMap(\.constant)
                return values.count == contents.count ? .list(values) : nil
            }
        }

        /// The same, with the longest of its texts or bytes for all of them.
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
        /// The unit, if it is not the field's first.
        var unit: String?
    }

    static let name = "fields"
    static let keys: [String] = []

    let layout: ValueLayout
    let fields: [Field]
    let maximumLength: Int

    /// Throws `LayoutProblem` if the fields do not fit the layout, at the first tick or with the longest
    /// values.
    init(_ layout: ValueLayout, _ fields: [Field]) throws(LayoutProblem) {
        self.layout = layout
        self.fields = fields
        let run = GeneratorRun(seed: 0, interval: .seconds(1))
        _ = try layout.encode(FieldsGenerator.fields(fields, at: 0, of: run))
        let longest = fields.map { field in
            var field = field
            field.content = field.content.longest
            return field
        }
        let bytes = try layout.encode(FieldsGenerator.fields(longest, at: 0, of: run))
        // A field with two kinds may be longer at another tick.
        let growing = layout.entries.filter { entry in
            entry.wideKind != nil && fields.contains { $0.name == entry.name && $0.content.isGenerated }
        }
        maximumLength = bytes.count + growing.count
    }

    func makeGenerator(for run: GeneratorRun) -> any ValueGenerator {
        FieldsGenerator(definition: self, run: run)
    }
}

private struct FieldsGenerator: ValueGenerator {
    let definition: FieldsDefinition
    let run: GeneratorRun

    func value(at tick: UInt64) -> [UInt8] {
        for tick in [tick, 0] {
            if let bytes = try? definition.layout.encode(Self.fields(definition.fields, at: tick, of: run)) {
                return bytes
            }
        }
        return []
    }

    static func fields(
        _ fields: [FieldsDefinition.Field], at tick: UInt64, of run: GeneratorRun
    ) -> [NamedField] {
        fields.map { NamedField($0.name, value(of: $0.content, $0.name, tick, run), $0.unit) }
    }

    private static func value(
        of content: FieldsDefinition.Content, _ name: String, _ tick: UInt64, _ run: GeneratorRun
    ) -> FieldValue {
        switch content {
        case .constant(let value): value
        case .generated(let generator):
            generator.value(at: tick, of: run, seed: ValueSeed.of(run.seed, name))
        case .list(let contents):
            .list(contents.enumerated().map { value(of: $1, "\(name)[\($0)]", tick, run) })
        }
    }
}

extension FieldValue {
    /// How many bytes a text or bytes have.
    fileprivate var length: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .integer, .number, .boolean, .named, .list: 0
        }
    }
}
