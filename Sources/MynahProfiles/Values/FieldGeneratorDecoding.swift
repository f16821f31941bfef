import MynahCore
import MynahSupport

/// The generators of a field, and the keys of each besides `generate`.
enum FieldGeneratorKind: String, CaseIterable {
    case constant, ramp, sine, square, randomWalk, noise, uniform, normal, counter, list, csv, clock, toggle

    /// The keys that every generator of numbers takes.
    static let commonKeys = ["noise", "outliers"]

    var required: [String] {
        switch self {
        case .constant: ["value"]
        case .ramp: ["from", "to"]
        case .sine, .square, .uniform: ["min", "max"]
        case .randomWalk: ["min", "max", "step"]
        case .noise: ["around", "by"]
        case .normal: ["mean", "deviation"]
        case .list: ["values"]
        case .csv: ["file"]
        case .counter, .clock, .toggle: []
        }
    }

    var optional: [String] {
        switch self {
        case .ramp, .sine, .square: ["period"]
        case .randomWalk: ["from"]
        case .counter: ["from", "by"]
        case .csv: ["column"]
        case .clock: ["start"]
        case .constant, .noise, .uniform, .normal, .list, .toggle: []
        }
    }

    /// Whether it makes values of this kind.
    fileprivate func suits(_ shape: FieldShape) -> Bool {
        switch self {
        case .constant, .list: true
        case .clock: shape.isNumber || shape.kind == .dateTime
        case .toggle: shape.isNumber || shape.kind == .boolean
        case .ramp, .sine, .square, .randomWalk, .noise, .uniform, .normal, .counter, .csv: shape.isNumber
        }
    }
}

/// The keys of a generator, with the field that it generates.
private struct GeneratorKeys {
    var name: String
    var kind: FieldGeneratorKind
    var fields: Fields
    var shape: FieldShape
    /// The unit of its numbers, if it is not the field's first.
    var unit: String?
}

// `{generate: …}` of a field
extension ProfileDecoder {
    mutating func fieldGenerator(_ name: String, _ node: YAMLNode, _ shape: FieldShape) -> FieldGenerator? {
        guard case .mapping(let mapping) = node, let wordNode = mapping["generate"] else {
            error(at: node, "\(name) must be a value, or a generator as in {generate: toggle}")
            return nil
        }
        guard let word = text(wordNode, "generate") else { return nil }
        guard let kind = FieldGeneratorKind(rawValue: word) else {
            let names = FieldGeneratorKind.allCases.map(\.rawValue)
            error(
                at: wordNode,
                "unknown generator \(Self.quote(word)) of a field"
                    + (NearestName.of(word, among: names).map { "; did you mean \"\($0)\"?" }
                        ?? "; known are \(Self.list(names))"))
            return nil
        }
        let known = ["generate"] + kind.required + kind.optional
        guard
            let fields = fields(
                node, "generate: \(word)",
                known: known + FieldGeneratorKind.commonKeys.filter { !known.contains($0) })
        else { return nil }
        guard kind.suits(shape) else {
            let suiting = FieldGeneratorKind.allCases.filter { $0.suits(shape) }.map(\.rawValue)
            error(
                at: wordNode,
                "\(name) is \(shape.typeName), which \(word) does not make; \(Self.list(suiting, "or")) does")
            return nil
        }
        let missing = kind.required.filter { fields[$0] == nil }
        guard missing.isEmpty else {
            error(at: fields.mark, "generate: \(word) needs \(Self.list(missing))")
            return nil
        }
        var keys = GeneratorKeys(name: name, kind: kind, fields: fields, shape: shape)
        keys.unit = otherUnit(keys)
        let errorsBefore = errorCount
        let source = source(keys)
        guard errorCount == errorsBefore, let source else { return nil }
        return FieldGenerator(source: source, shape: shape, unit: keys.unit)
    }

    /// The field's other unit, if one of the numbers is written in it.
    private func otherUnit(_ keys: GeneratorKeys) -> String? {
        guard let other = keys.shape.otherUnit?.name else { return nil }
        let nodes = (keys.kind.required + keys.kind.optional).compactMap { keys.fields[$0] }
        let texts = nodes.flatMap { node -> [String] in
            if case .sequence(let list) = node {
                list.compactMap { $0.scalar?.string }
            } else {
                [node.scalar?.string].compactMap { $0 }
            }
        }
        return texts.contains { WrittenNumber($0)?.unit == other } ? other : nil
    }

    private mutating func source(_ keys: GeneratorKeys) -> FieldGenerator.Source? {
        switch keys.kind {
        case .clock: return clock(keys)
        case .list, .constant:
            guard let node = keys.fields[keys.kind == .list ? "values" : "value"] else { return nil }
            if keys.shape.isNumber { break }
            let nodes = keys.kind == .list ? elements(node, "values") : [node]
            checkNotEmpty(nodes, node)
            checkNoise(keys)
            let values = nodes.compactMap { constant(keys.name, $0, keys.shape)?.value }
            if keys.shape.kind == .dateTime {
                for case (.text(let text), let node) in zip(values, nodes)
                where CivilTime.seconds(of: text) == nil {
                    error(at: node, "\(keys.name) is a date and a time, as in 2026-01-31T12:00:00")
                }
            }
            return values.isEmpty ? nil : .list(values)
        default: break
        }
        guard let movement = movement(keys) else { return nil }
        var numbers = NumberGenerator(movement: movement)
        if keys.kind != .noise, let node = keys.fields["noise"] { numbers.noise = part(node, "noise") ?? 0 }
        if let node = keys.fields["outliers"] { numbers.outliers = part(node, "outliers") ?? 0 }
        if keys.kind == .counter, keys.shape.width != nil { return .counter(numbers) }
        return .number(numbers)
    }

    private mutating func movement(_ keys: GeneratorKeys) -> NumberGenerator.Movement? {
        switch keys.kind {
        case .constant: return number("value", keys).map { .constant($0) }
        case .ramp:
            guard let from = number("from", keys), let to = number("to", keys), let period = period(keys)
            else { return nil }
            return .ramp(from: from, to: to, period: period)
        case .sine, .square:
            guard let (low, high) = limits(keys), let period = period(keys) else { return nil }
            return keys.kind == .sine
                ? .sine(min: low, max: high, period: period) : .square(min: low, max: high, period: period)
        case .randomWalk:
            guard let (low, high) = limits(keys), let step = number("step", keys, isDifference: true) else {
                return nil
            }
            let from = keys.fields["from"] == nil ? (low + high) / 2 : number("from", keys)
            guard let from else { return nil }
            guard (low...high).contains(from) else {
                error(
                    at: keys.fields["from"],
                    "from must be between min and max, \(NumberText.of(low)) and \(NumberText.of(high))")
                return nil
            }
            return .randomWalk(from: from, min: low, max: high, step: step)
        case .noise:
            guard let middle = number("around", keys), let by = number("by", keys, isDifference: true)
            else { return nil }
            return .uniform(min: middle - by, max: middle + by)
        case .uniform: return limits(keys).map { .uniform(min: $0.low, max: $0.high) }
        case .normal:
            guard let mean = number("mean", keys), let by = number("deviation", keys, isDifference: true)
            else { return nil }
            return .normal(mean: mean, deviation: by)
        case .counter: return counter(keys)
        case .list:
            guard let node = keys.fields["values"] else { return nil }
            let nodes = elements(node, "values")
            checkNotEmpty(nodes, node)
            let numbers = nodes.compactMap { number($0, "a value of the list", keys) }
            return numbers.isEmpty ? nil : .list(numbers)
        case .csv: return csv(keys).map { .list($0) }
        case .toggle: return .toggle
        case .clock: return nil
        }
    }

    private mutating func checkNotEmpty(_ nodes: [YAMLNode], _ node: YAMLNode) {
        if nodes.isEmpty, case .sequence = node { error(at: node, "values needs at least one value") }
    }

    private mutating func checkNoise(_ keys: GeneratorKeys) {
        for key in FieldGeneratorKind.commonKeys where keys.fields[key] != nil {
            let what = keys.kind == .clock ? "it is a clock" : "\(keys.name) is not a number"
            error(at: keys.fields.mark(of: key), "\(key) has no effect: \(what)")
        }
    }

    // MARK: Keys

    private mutating func number(
        _ key: String, _ keys: GeneratorKeys, isDifference: Bool = false
    ) -> Double? {
        keys.fields[key].flatMap { number($0, key, keys, isDifference: isDifference) }
    }

    private mutating func number(
        _ node: YAMLNode, _ what: String, _ keys: GeneratorKeys, isDifference: Bool = false
    ) -> Double? {
        guard let text = text(node, what) else { return nil }
        if let index = keys.shape.names.firstIndex(of: text), !text.isEmpty { return Double(index) }
        if !keys.shape.names.isEmpty, WrittenNumber(text) == nil {
            error(
                at: node,
                Self.unknown(
                    "value \(Self.quote(text)) of \(keys.name)", text,
                    among: keys.shape.names.filter { !$0.isEmpty }))
            return nil
        }
        let target = keys.unit ?? keys.shape.unit
        guard let written = writtenNumber(text, what, node, keys.shape),
            let (number, _) = scaled(
                written, what, node, keys.shape, in: target, isDifference: isDifference)
        else { return nil }
        let limits = keys.shape.limits(in: keys.unit)
        // A difference is at most as large as the type is wide.
        let allowed =
            isDifference ? 0...min(limits.upperBound - limits.lowerBound, .greatestFiniteMagnitude) : limits
        guard allowed.contains(number) else {
            error(at: node, Self.outside(what, text, allowed, target, keys.shape))
            return nil
        }
        return number
    }

    private mutating func limits(_ keys: GeneratorKeys) -> (low: Double, high: Double)? {
        guard let low = number("min", keys), let high = number("max", keys) else { return nil }
        guard low <= high else {
            error(
                at: keys.fields["min"],
                "min is \(NumberText.of(low)) and max is \(NumberText.of(high)); swap them")
            return nil
        }
        return (low, high)
    }

    private mutating func period(_ keys: GeneratorKeys) -> Duration? {
        guard let node = keys.fields["period"] else { return .seconds(30) }
        return duration(node, "period", atLeast: .milliseconds(1))
    }

    /// A part of 1, as 0.02 or 2 %.
    mutating func part(_ node: YAMLNode, _ what: String) -> Double? {
        guard let text = text(node, what) else { return nil }
        guard let written = WrittenNumber(text), written.unit == nil || written.unit == "%" else {
            error(at: node, "\(what) must be a part, as 0.02 or 2 %, not \(Self.quote(text))")
            return nil
        }
        let part = written.unit == nil ? written.number : written.number / 100
        guard (0...1).contains(part) else {
            error(at: node, "\(what) must be between 0 and 1, or 0 % and 100 %, not \(text)")
            return nil
        }
        return part
    }

    /// A counter of an integer counts in the integers of its type, at whose width it wraps.
    private mutating func counter(_ keys: GeneratorKeys) -> NumberGenerator.Movement? {
        let from = keys.fields["from"] == nil ? 0 : number("from", keys)
        guard let by = keys.fields["by"] == nil ? 1 : counterStep(keys), let from else { return nil }
        let step = keys.shape.width == nil ? 1 : keys.shape.step(in: keys.unit)
        return .counter(from: from / step, by: by / step)
    }

    /// A counter can count down.
    private mutating func counterStep(_ keys: GeneratorKeys) -> Double? {
        guard let node = keys.fields["by"], let text = text(node, "by") else { return nil }
        let target = keys.unit ?? keys.shape.unit
        guard let written = writtenNumber(text, "by", node, keys.shape),
            let (number, _) = scaled(written, "by", node, keys.shape, in: target, isDifference: true)
        else { return nil }
        let limits = keys.shape.limits(in: keys.unit)
        let width = min(limits.upperBound - limits.lowerBound, .greatestFiniteMagnitude)
        guard abs(number) <= width else {
            error(at: node, Self.outside("by", text, -width...width, target, keys.shape))
            return nil
        }
        return number
    }

    private mutating func clock(_ keys: GeneratorKeys) -> FieldGenerator.Source? {
        checkNoise(keys)
        guard let node = keys.fields["start"] else { return .clock(start: nil) }
        guard let text = text(node, "start") else { return nil }
        guard let start = CivilTime.seconds(of: text) else {
            error(
                at: node, "start is a date and a time, as in 2026-01-31T12:00:00Z, not \(Self.quote(text))")
            return nil
        }
        return .clock(start: start)
    }

    private mutating func csv(_ keys: GeneratorKeys) -> [Double]? {
        guard let node = keys.fields["file"], let file = text(node, "file") else { return nil }
        var column = CSVColumn.Name.number(1)
        if let node = keys.fields["column"] {
            guard let text = text(node, "column") else { return nil }
            column = Int(text).map { .number($0) } ?? .word(text)
            if case .number(let number) = column, !(1...1000).contains(number) {
                error(at: node, "column must be a name, or a number between 1 and 1000, not \(text)")
                return nil
            }
        }
        guard files != nil else {
            error(at: node, "only a profile that is a file itself can name another file")
            return nil
        }
        do throws(CSVColumn.Problem) {
            guard let numbers = try files?.column(column, of: file).numbers else { return nil }
            let limits = keys.shape.limits(in: keys.unit)
            if let number = numbers.first(where: { !limits.contains($0) }) {
                let text = NumberText.of(number)
                error(
                    at: node,
                    Self.outside(
                        "a number of \(Self.quote(file))", text, limits, keys.unit ?? keys.shape.unit,
                        keys.shape))
                return nil
            }
            return numbers
        } catch {
            self.error(at: node, "the file \(Self.quote(file)) \(error.message)")
            return nil
        }
    }
}
