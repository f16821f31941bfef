import MynahCore
import MynahValues

/// The kinds of generators of a field, each with its keys besides `generate`.
enum FieldGeneratorKind: String, CaseIterable {
    case constant, ramp, sine, square, randomWalk, noise, uniform, normal, counter, list, csv, clock, toggle

    static var schema: Schema { .oneOf(allCases.map(\.table.schema)) }

    /// The table of the generator's keys, including `generate`.
    var table: Section {
        var generate = ValueSection.generate(rawValue)
        generate.doc = purpose
        let own: [any DeclaredField] = [generate] + fields
        let common: [any DeclaredField] = [GeneratorKeys.noise, GeneratorKeys.outliers]
        let rest = common.filter { field in !own.contains { $0.name == field.name } }
        return Section(rawValue, what: "generate: \(rawValue)", own + rest)
    }

    /// The keys of this kind; every kind also has `noise` and `outliers`.
    var fields: [any DeclaredField] {
        switch self {
        case .constant: [GeneratorKeys.value]
        case .ramp: [GeneratorKeys.from.needed, GeneratorKeys.to, GeneratorKeys.period]
        case .sine, .square: [GeneratorKeys.min, GeneratorKeys.max, GeneratorKeys.period]
        case .randomWalk: [GeneratorKeys.min, GeneratorKeys.max, GeneratorKeys.step, GeneratorKeys.from]
        case .noise: [GeneratorKeys.around, GeneratorKeys.by.needed]
        case .uniform: [GeneratorKeys.min, GeneratorKeys.max]
        case .normal: [GeneratorKeys.mean, GeneratorKeys.deviation]
        case .counter: [GeneratorKeys.from, GeneratorKeys.by]
        case .list: [GeneratorKeys.values]
        case .csv: [GeneratorKeys.file, GeneratorKeys.column]
        case .clock: [GeneratorKeys.start]
        case .toggle: []
        }
    }

    var purpose: String {
        switch self {
        case .constant: "Always the same, but for noise and outliers."
        case .ramp: "From one number to another in each period."
        case .sine: "Up and down between two numbers in each period."
        case .square: "The smaller number for half of a period, then the larger one."
        case .randomWalk: "By up to a step each tick, between two numbers."
        case .noise: "Any number around another."
        case .uniform: "Any number between two."
        case .normal: "Normally distributed numbers."
        case .counter: "Goes on by each tick, and wraps at its type's width."
        case .list: "One value after the other, and again; also names and texts."
        case .csv: "A column of a file, one row after the other, and again."
        case .clock: "The date and the time, or the seconds since 1970."
        case .toggle: "0 and 1, or false and true, in turn."
        }
    }

    /// Whether the generator can make values for a field with this range.
    func suits(_ shape: FieldRange) -> Bool {
        switch self {
        case .constant, .list: true
        case .clock: shape.isNumber || shape.kind == .dateTime
        case .toggle: shape.isNumber || shape.kind == .boolean
        case .ramp, .sine, .square, .randomWalk, .noise, .uniform, .normal, .counter, .csv: shape.isNumber
        }
    }
}

/// The keys of all generators.
enum GeneratorKeys {
    static let value = Field("value", .constant, isRequired: true, doc: "The value.")
    static let from = Field("from", .number, doc: "The first number.")
    static let to = Field("to", .number, isRequired: true, doc: "The last number.")
    static let min = Field("min", .number, isRequired: true, doc: "The smallest number.")
    static let max = Field("max", .number, isRequired: true, doc: "The largest number.")
    static let period = Field(
        "period", .duration(.milliseconds(1)), doc: "The time until it begins again; left out: 30 s.")
    static let step = Field("step", .number, isRequired: true, doc: "The largest movement in a tick.")
    static let around = Field("around", .number, isRequired: true, doc: "The number in the middle.")
    static let by = Field(
        "by", .number, doc: "The movement in a tick, or the largest distance from the middle.")
    static let mean = Field("mean", .number, isRequired: true, doc: "The mean.")
    static let deviation = Field("deviation", .number, isRequired: true, doc: "The standard deviation.")
    static let values = Field(
        "values", .node("list of values", .list(of: Kind<YAMLNode>.constant.schema, atLeast: 1)),
        isRequired: true, doc: "The values.")
    static let file = Field(
        "file", .text, isRequired: true,
        doc: "A file, from the profile's folder; up to 1 MiB and 100,000 rows.")
    static let column = Field(
        "column", .column, doc: "The name in the first row, or the number from 1; left out: 1.")
    static let start = Field(
        "start", .time,
        doc: """
            As 2026-01-31T12:00:00Z; left out: the start of the run, or with `--seed` 2026-01-01T00:00:00Z.
            """)
    static let noise = Field(
        "noise", .part(.types("string", "number")),
        doc: "The largest random deviation, as a part of the number: 0.02 or 2 %.")
    static let outliers = Field(
        "outliers", .part(.types("string", "number")), doc: "The probability of an outlier: 0.01 or 1 %.")
}

extension Kind<YAMLNode> {
    /// The format of a number of the generated field, in one of the field's units.
    fileprivate static var number: Kind { node("number", .types("string", "number")) }
    fileprivate static var constant: Kind {
        node("value", .types("string", "number", "boolean", "null"))
    }
}

extension Kind<Double> {
    /// Makes the format of a fraction, such as 0.02 or 2 %.
    static func part(_ schema: @autoclosure @escaping @Sendable () -> Schema) -> Kind {
        Kind("0 to 1, or 0 % to 100 %", schema()) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            guard let written = WrittenNumber(text), written.unit == nil || written.unit == "%" else {
                reader.error(at: node, "\(what) must be a part, as 0.02 or 2 %, not \(Words.quote(text))")
                return nil
            }
            let part = written.unit == nil ? written.number : written.number / 100
            guard (0...1).contains(part) else {
                reader.error(at: node, "\(what) must be between 0 and 1, or 0 % and 100 %, not \(text)")
                return nil
            }
            return part
        }
    }
}

extension Kind<CSVColumn.Name> {
    fileprivate static var column: Kind {
        Kind("name, or 1 to 1000", .types("string", "number")) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            guard let number = Int(text) else { return .word(text) }
            if (1...1000).contains(number) { return .number(number) }
            reader.error(at: node, "\(what) must be a name, or a number between 1 and 1000, not \(text)")
            return nil
        }
    }
}

extension Kind<Int64> {
    fileprivate static var time: Kind {
        Kind("date and time", .types("string")) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            if let time = CivilTime.seconds(of: text) { return time }
            reader.error(
                at: node,
                "\(what) is a date and a time, as in 2026-01-31T12:00:00Z, not \(Words.quote(text))")
            return nil
        }
    }
}
