import MynahCore
import MynahSupport
import MynahValues

/// Parses the value of one field of a layout.
struct FieldReader {
    private let reader: FormatReader
    let name: String
    let shape: FieldRange

    /// Makes a reader for a field of a layout, or returns `nil` if the layout has no field with this name.
    init?(_ name: String, in layout: ValueLayout, _ reader: FormatReader) {
        guard let shape = FieldRange(name, in: layout) else { return nil }
        self.reader = reader
        self.name = name
        self.shape = shape
    }

    /// Parses a constant value, and its unit, which is `nil` for the field's first unit.
    func constant(_ node: YAMLNode) -> (value: FieldValue, unit: String?)? {
        switch shape.kind {
        case .boolean: return reader.bool(node, name).map { (.boolean($0), nil) }
        case .bytes: return reader.bytes(node, name).map { (.bytes($0), nil) }
        case .text: return reader.scalar(node, name).map { (.text($0.string), nil) }
        case .dateTime:
            return reader.text(node, name).map {
                (.text($0.last == "Z" ? String($0.dropLast()) : $0), nil)
            }
        case .integer, .float: return number(node)
        }
    }

    private func number(_ node: YAMLNode) -> (value: FieldValue, unit: String?)? {
        guard let text = reader.text(node, name) else { return nil }
        if !shape.names.isEmpty, WrittenNumber(text) == nil {
            // The layout checks the name later, and suggests a near one.
            return (.text(text), nil)
        }
        if case .float = shape.kind, let special = Self.specialNumbers[text] {
            return (.number(special), nil)
        }
        guard let written = written(text, name, node),
            let (number, unit) = scaled(written, name, node)
        else { return nil }
        if let exact = shape.exact(written) { return (exact, unit) }
        let limits = shape.limits(in: unit)
        let isFloat = if case .float = shape.kind { true } else { false }
        // A number up to half a step beyond a limit is rounded to the limit.
        let slack = shape.width == nil ? 0 : shape.step(in: unit) / 2
        guard
            number > limits.lowerBound - slack && number < limits.upperBound + slack
                || limits.contains(number), !written.isRounded || isFloat
        else {
            noteIsOutside(name, text, limits, unit, at: node)
            return nil
        }
        if let integer = written.integer, number == written.number { return (.integer(integer), unit) }
        return (.number(number), unit)
    }

    private static let specialNumbers: [String: Double] = ["nan": .nan, "inf": .infinity, "-inf": -.infinity]

    // MARK: Numbers

    func written(_ text: String, _ what: String, _ node: YAMLNode) -> WrittenNumber? {
        if let written = WrittenNumber(text) { return written }
        let example = shape.unit.map { "72 or 0.5 \($0)" } ?? "72"
        reader.error(at: node, "\(what) must be a number, as \(example), not \(Words.quote(text))")
        return nil
    }

    /// Converts a number to the field's unit.
    ///
    /// If the number is written in the field's other unit, returns that unit too.
    func scaled(
        _ written: WrittenNumber, _ what: String, _ node: YAMLNode,
        in target: String? = nil, isDifference: Bool = false
    ) -> (number: Double, unit: String?)? {
        let targets = target.map { [$0] } ?? [shape.unit, shape.otherUnit?.name].compactMap { $0 }
        guard let unit = written.unit else { return (written.number, target.flatMap(own)) }
        // The written unit is preferred to units into which the number must be converted.
        for target in targets.filter({ $0 == unit }) + targets {
            guard
                let number = Units.convert(written.number, from: unit, to: target, isDifference: isDifference)
            else { continue }
            return (number, own(target))
        }
        guard !targets.isEmpty else {
            reader.error(at: node, "\(what) has no unit, and \(Words.quote(unit)) is one")
            return nil
        }
        let known = targets.flatMap(Units.like).reduce(into: [String]()) { list, unit in
            if !list.contains(unit) { list.append(unit) }
        }
        reader.error(
            at: node,
            "\(what) is in \(Words.list(known, "or")), not in \(Words.quote(unit))"
                + Words.near(unit, among: known))
        return nil
    }

    private func own(_ unit: String) -> String? {
        unit == shape.otherUnit?.name && unit != shape.unit ? unit : nil
    }

    /// Reports a number outside the range of the field's type; `unit` is `nil` for the field's first unit.
    func noteIsOutside(
        _ what: String, _ text: String, _ limits: ClosedRange<Double>, _ unit: String?,
        at node: YAMLNode
    ) {
        let unit = (unit ?? shape.unit).map { " \($0)" } ?? ""
        reader.error(
            at: node,
            """
            \(what) must be between \(NumberText.ofLimit(limits.lowerBound)) and \
            \(NumberText.ofLimit(limits.upperBound))\(unit), which \(shape.typeName) holds, not \(text)
            """)
    }
}
