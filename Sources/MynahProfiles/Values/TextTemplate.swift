import MynahCore
import MynahSupport
import MynahValues

/// A text with fields and variables in braces, as in `counter {n}`.
struct TextTemplate: GeneratorDefinition, Hashable {
    enum Part: Hashable, Sendable {
        case literal([UInt8])
        /// A field, by its index, padded with zeros to a number of digits.
        case field(Int, digits: Int)
        /// A variable or, in an answer, a field of the written value, padded with zeros to a number of
        /// digits.
        case from(String, digits: Int)
    }

    struct Field: Hashable, Sendable {
        var name: String
        var generator: FieldGenerator
        /// The number of decimals of the field's numbers.
        var decimals: Int
    }

    static let name = "text"

    let parts: [Part]
    let fields: [Field]
    /// The variables with the profile's initial values.
    let variables: Variables

    /// The largest length of the value, for numbers of up to 64 bits.
    var maximumLength: Int {
        parts.reduce(0) { length, part in
            switch part {
            case .literal(let bytes): length + bytes.count
            case .field(let index, let digits): length + max(digits, fields[index].generator.longestText)
            case .from(let name, let digits):
                length + max(digits, variables[name].map { $0.text.utf8.count } ?? 1)
            }
        }
    }

    /// The names of the variables in the text.
    var names: Set<String> {
        Set(
            parts.compactMap { part in
                if case .from(let name, _) = part { name } else { nil }
            })
    }

    func makeGenerator(for run: GeneratorRun) -> any ValueGenerator {
        TextGenerator(template: self, run: run)
    }

    /// Returns the bytes, cut to the maximum length; `written` has the fields of the written value.
    func bytes(
        _ variables: Variables, _ written: [NamedField] = [], at tick: UInt64 = 0,
        of run: GeneratorRun = GeneratorRun(seed: 0, interval: .seconds(1))
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            switch part {
            case .literal(let literal): bytes += literal
            case .field(let index, let digits):
                let field = fields[index]
                let value = field.generator.value(at: tick, of: run, seed: ValueSeed.of(run.seed, field.name))
                bytes += value.text(decimals: field.decimals).padded(to: digits).utf8
            case .from(let name, let digits):
                let text =
                    variables[name]?.text ?? written.first { $0.name == name }?.value.text(decimals: nil)
                    ?? ""
                bytes += text.padded(to: digits).utf8
            }
        }
        return Array(bytes.prefix(GATT.maximumValueLength))
    }
}

private struct TextGenerator: VariableReader {
    let template: TextTemplate
    let run: GeneratorRun

    var names: Set<String> { template.names }

    func value(at tick: UInt64) -> [UInt8] { template.bytes(template.variables, at: tick, of: run) }

    func value(at tick: UInt64, _ variables: Variables) throws(LayoutProblem) -> [UInt8] {
        template.bytes(variables, at: tick, of: run)
    }
}

extension FieldGenerator {
    /// The largest length of the generator's values as text, in bytes.
    fileprivate var longestText: Int {
        guard case .list(let values) = source else { return 20 }
        return values.map { $0.text(decimals: nil).utf8.count }.max() ?? 0
    }
}

extension VariableValue {
    /// The value as it appears in a text.
    fileprivate var text: String {
        switch self {
        case .number(let number): NumberText.of(number)
        case .integer(let integer): String(integer)
        case .unsigned(let integer): String(integer)
        case .text(let text): text
        }
    }
}

extension FieldValue {
    /// Returns the value as text, with a fixed number of decimals, or with as many as it needs.
    fileprivate func text(decimals: Int?) -> String {
        switch self {
        case .integer(let integer):
            decimals.map { Self.text(Double(integer), decimals: $0) } ?? String(integer)
        case .unsigned(let integer): String(integer)
        case .number(let number): decimals.map { Self.text(number, decimals: $0) } ?? NumberText.of(number)
        case .boolean(let isSet): isSet ? "true" : "false"
        case .named(_, let name): name
        case .text(let text): text
        case .bytes(let bytes): Hex.encode(bytes)
        case .list(let values): values.map { $0.text(decimals: decimals) }.joined(separator: ",")
        }
    }

    private static func text(_ number: Double, decimals: Int) -> String {
        var power = 1
        for _ in 0..<decimals { power *= 10 }
        guard let whole = Int(exactly: (number * Double(power)).rounded()) else {
            return NumberText.of(number)
        }
        guard decimals > 0 else { return String(whole) }
        let (units, rest) = (whole.magnitude / UInt(power), whole.magnitude % UInt(power))
        return (whole < 0 ? "-" : "") + "\(units)." + String(rest).padded(to: decimals)
    }
}

extension String {
    /// Returns the text padded to a width with zeros before its digits.
    fileprivate func padded(to width: Int) -> String {
        guard utf8.count < width else { return self }
        let sign = hasPrefix("-") ? "-" : ""
        return sign + String(repeating: "0", count: width - utf8.count) + dropFirst(sign.count)
    }
}
