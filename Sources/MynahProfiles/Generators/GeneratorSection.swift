import MynahCore
import MynahSupport
import MynahValues

/// Parses `{generate: …}`, the generator of a field.
struct GeneratorSection {
    private typealias Keys = GeneratorKeys

    private let kind: FieldGeneratorKind
    private let fields: Fields
    private var reader: FormatReader { fields.reader }
    /// The generated field.
    private let field: FieldReader
    /// The unit of the numbers, or `nil` for the field's first unit.
    private let unit: String?

    private var shape: FieldRange { field.shape }

    static func read(_ node: YAMLNode, of field: FieldReader, _ reader: FormatReader) -> FieldGenerator? {
        guard case .mapping(let mapping) = node, let wordNode = mapping["generate"] else {
            reader.error(at: node, "\(field.name) must be a value, or a generator as in {generate: toggle}")
            return nil
        }
        guard let word = reader.text(wordNode, "generate") else { return nil }
        guard let kind = FieldGeneratorKind(rawValue: word) else {
            let names = FieldGeneratorKind.allCases.map(\.rawValue)
            let near = Words.near(word, among: names)
            reader.error(
                at: wordNode,
                "unknown generator \(Words.quote(word)) of a field"
                    + (near.isEmpty ? "; known are \(Words.list(names))" : near))
            return nil
        }
        let table = kind.table
        guard let fields = reader.fields(node, table) else { return nil }
        guard kind.suits(field.shape) else {
            let suiting = FieldGeneratorKind.allCases.filter { $0.suits(field.shape) }.map(\.rawValue)
            reader.error(
                at: wordNode,
                """
                \(field.name) is \(field.shape.typeName), which \(word) does not make; \
                \(Words.list(suiting, "or")) does\(field.shape.kind == .text ? Self.textWithNumbers : "")
                """)
            return nil
        }
        let missing = table.fields.filter { $0.isRequired && fields[$0.name] == nil }.map(\.name)
        guard missing.isEmpty else {
            reader.error(at: fields.mark, "generate: \(word) needs \(Words.list(missing))")
            return nil
        }
        let section = GeneratorSection(kind, fields, field)
        let errorsBefore = reader.errorCount
        let source = section.source()
        guard reader.errorCount == errorsBefore, let source else { return nil }
        return FieldGenerator(source: source, shape: field.shape, unit: section.unit)
    }

    private static let textWithNumbers =
        "; for a text with numbers write the value as {text: \"counter {n}\", n: {generate: counter}}"

    private init(_ kind: FieldGeneratorKind, _ fields: Fields, _ field: FieldReader) {
        self.kind = kind
        self.fields = fields
        self.field = field
        // All numbers are in the field's other unit if at least one of them is written in it.
        guard let other = field.shape.otherUnit?.name else {
            unit = nil
            return
        }
        let nodes = kind.fields.compactMap { fields[$0.name] }
        let texts = nodes.flatMap { node in
            (node.sequence?.elements ?? [node]).compactMap { $0.scalar?.string }
        }
        unit = texts.contains { WrittenNumber($0)?.unit == other } ? other : nil
    }

    private func source() -> FieldGenerator.Source? {
        switch kind {
        case .clock:
            checkNoise()
            guard fields[Keys.start] != nil else { return .clock(start: nil) }
            return fields.read(Keys.start).map { .clock(start: $0) }
        case .list, .constant:
            guard let node = fields[kind == .list ? Keys.values : Keys.value] else { return nil }
            if shape.isNumber { break }
            return values(node)
        default: break
        }
        guard let movement = movement() else { return nil }
        var numbers = NumberGenerator(movement: movement)
        if kind != .noise { fields.read(Keys.noise, into: &numbers.noise) }
        fields.read(Keys.outliers, into: &numbers.outliers)
        if kind == .counter, shape.width != nil { return .counter(numbers) }
        return .number(numbers)
    }

    /// Parses a list of values that are not numbers.
    private func values(_ node: YAMLNode) -> FieldGenerator.Source? {
        let nodes = kind == .list ? reader.elements(node, "values") : [node]
        checkNotEmpty(nodes, node)
        checkNoise()
        let values = nodes.compactMap { field.constant($0)?.value }
        if shape.kind == .dateTime {
            for case (.text(let text), let node) in zip(values, nodes)
            where CivilTime.seconds(of: text) == nil {
                reader.error(at: node, "\(field.name) is a date and a time, as in 2026-01-31T12:00:00")
            }
        }
        return values.isEmpty ? nil : .list(values)
    }

    private func movement() -> NumberGenerator.Movement? {
        switch kind {
        case .constant: return number(Keys.value).map { .constant($0) }
        case .ramp:
            guard let from = number(Keys.from), let to = number(Keys.to),
                let period = fields.read(Keys.period, usual: .seconds(30))
            else { return nil }
            return .ramp(from: from, to: to, period: period)
        case .sine, .square:
            guard let (low, high) = limits(),
                let period = fields.read(Keys.period, usual: .seconds(30))
            else { return nil }
            return kind == .sine
                ? .sine(min: low, max: high, period: period) : .square(min: low, max: high, period: period)
        case .randomWalk: return randomWalk()
        case .noise:
            guard let middle = number(Keys.around), let by = difference(Keys.by) else {
                return nil
            }
            return .uniform(min: middle - by, max: middle + by)
        case .uniform: return limits().map { .uniform(min: $0.low, max: $0.high) }
        case .normal:
            guard let mean = number(Keys.mean), let by = difference(Keys.deviation) else { return nil }
            return .normal(mean: mean, deviation: by)
        case .counter: return counter()
        case .list:
            guard let node = fields[Keys.values] else { return nil }
            let nodes = reader.elements(node, "values")
            checkNotEmpty(nodes, node)
            let numbers = nodes.compactMap { number($0, "a value of the list") }
            return numbers.isEmpty ? nil : .list(numbers)
        case .csv: return csv().map { .list($0) }
        case .toggle: return .toggle
        case .clock: return nil
        }
    }

    private func randomWalk() -> NumberGenerator.Movement? {
        guard let (low, high) = limits(), let step = difference(Keys.step) else {
            return nil
        }
        let from = fields[Keys.from] == nil ? (low + high) / 2 : number(Keys.from)
        guard let from else { return nil }
        guard (low...high).contains(from) else {
            reader.error(
                at: fields[Keys.from],
                "from must be between min and max, \(NumberText.of(low)) and \(NumberText.of(high))")
            return nil
        }
        return .randomWalk(from: from, min: low, max: high, step: step)
    }

    /// Parses a counter.
    ///
    /// For an integer field, the counter counts up or down in integers of the type, and wraps around.
    private func counter() -> NumberGenerator.Movement? {
        let offset = shape.resolution(in: unit).offset
        let from = fields[Keys.from] == nil ? offset : number(Keys.from)
        let by = fields[Keys.by] == nil ? 1 : difference(Keys.by, isSigned: true)
        guard let by, let from else { return nil }
        let step = shape.width == nil ? 1 : shape.step(in: unit)
        return .counter(from: (from - offset) / step, by: by / step)
    }

    private func csv() -> [Double]? {
        guard let node = fields[Keys.file], let file = fields.read(Keys.file),
            let column = fields.read(Keys.column, usual: .number(1)),
            let numbers = reader.contents(
                of: file, at: node,
                { files throws(CSVColumn.Problem) in try files.column(column, of: file).numbers })
        else { return nil }
        let limits = shape.limits(in: unit)
        guard let number = numbers.first(where: { !limits.contains($0) }) else { return numbers }
        field.noteIsOutside("a number of \(Words.quote(file))", NumberText.of(number), limits, unit, at: node)
        return nil
    }

    private func checkNotEmpty(_ nodes: [YAMLNode], _ node: YAMLNode) {
        if nodes.isEmpty, case .sequence = node {
            reader.error(at: node, "values needs at least one value")
        }
    }

    private func checkNoise() {
        for key in [Keys.noise, Keys.outliers] where fields[key] != nil {
            let what = kind == .clock ? "it is a clock" : "\(field.name) is not a number"
            reader.error(at: fields.mark(of: key), "\(key.name) has no effect: \(what)")
        }
    }

    // MARK: Numbers

    private func number(_ key: Field<YAMLNode>) -> Double? {
        fields[key].flatMap { number($0, key.name) }
    }

    private func number(_ node: YAMLNode, _ what: String) -> Double? {
        guard let text = reader.text(node, what) else { return nil }
        return number(text, node, what, in: shape.limits(in: unit), names: shape.names)
    }

    /// Parses the difference between two numbers, which is limited by the range of the type.
    private func difference(_ key: Field<YAMLNode>, isSigned: Bool = false) -> Double? {
        guard let node = fields[key], let text = reader.text(node, key.name) else { return nil }
        let limits = shape.limits(in: unit)
        let width = min(limits.upperBound - limits.lowerBound, .greatestFiniteMagnitude)
        return number(
            text, node, key.name, in: (isSigned ? -width : 0)...width,
            names: isSigned ? [] : shape.names, isDifference: true)
    }

    private func number(
        _ text: String, _ node: YAMLNode, _ what: String, in allowed: ClosedRange<Double>,
        names: [String], isDifference: Bool = false
    ) -> Double? {
        if let index = names.firstIndex(of: text), !text.isEmpty { return Double(index) }
        if !names.isEmpty, WrittenNumber(text) == nil {
            let what = "value \(Words.quote(text)) of \(field.name)"
            reader.error(at: node, Words.unknown(what, text, among: names.filter { !$0.isEmpty }))
            return nil
        }
        let target = unit ?? shape.unit
        guard let written = field.written(text, what, node),
            let (number, _) = field.scaled(written, what, node, in: target, isDifference: isDifference)
        else { return nil }
        if allowed.contains(number) { return number }
        field.noteIsOutside(what, text, allowed, unit, at: node)
        return nil
    }

    private func limits() -> (low: Double, high: Double)? {
        guard let low = number(Keys.min), let high = number(Keys.max) else {
            return nil
        }
        guard low <= high else {
            reader.error(
                at: fields[Keys.min],
                "min is \(NumberText.of(low)) and max is \(NumberText.of(high)); swap them")
            return nil
        }
        return (low, high)
    }
}
