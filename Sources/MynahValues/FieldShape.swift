/// A field of a value, with its possible contents.
package struct FieldShape: Hashable, Sendable {
    /// The possible contents of a field.
    package enum Content: Hashable, Sendable {
        /// A number from `lower` to `upper`, in steps of `step`, in the field's unit.
        ///
        /// Some fields are encoded in a short or a wide form. For these, `short` is the largest number of the
        /// short form; for all others, it is `nil`.
        case number(lower: Double, upper: Double, step: Double, short: Double?)
        /// A floating-point number, without limits.
        case float
        /// One of several named numbers; the names are those of 0, 1 and so on.
        ///
        /// A number with an empty name is reserved.
        case choice([String])
        case boolean
        case text
        /// Bytes in hexadecimal.
        case bytes
        /// A date and a time, as in `2026-01-31T12:00:00`.
        case dateTime
        /// A list whose elements have this content.
        indirect case list(Content)
    }

    package var name: String
    package var content: Content
    /// The unit of a number, or `nil` if it has none.
    package var unit: String?
    /// Whether the field can be left out of a value.
    package var isOptional: Bool

    package init(_ name: String, _ content: Content, unit: String? = nil, isOptional: Bool = false) {
        self.name = name
        self.content = content
        self.unit = unit
        self.isOptional = isOptional
    }
}

extension ValueLayout {
    /// The layout's fields with their possible contents, in the order in which `decode` returns them.
    package var shapes: [FieldShape] {
        let bits = entries.flatMap { entry -> [LayoutBit] in
            if case .bits(_, let bits) = entry.kind { bits } else { [] }
        }
        let announced = bits.reduce(into: Set<String>()) { names, bit in
            if case .announces(let fields, _) = bit { names.formUnion(fields) }
        }
        return entries.compactMap { entry in
            guard let content = entry.content else { return nil }
            let isOptional =
                announced.contains(entry.name) || entry.condition != nil || entry.count == .rest
            return FieldShape(entry.name, content, unit: entry.unit, isOptional: isOptional)
        } + bits.compactMap(\.shape)
    }
}

extension LayoutField {
    /// The possible contents of the field, or `nil` for bits, which contain fields of their own.
    fileprivate var content: FieldShape.Content? {
        switch kind {
        case .utf8: return .text
        case .bytes: return .bytes
        case .bits: return nil
        default: return count == .one ? single : .list(single)
        }
    }

    private var single: FieldShape.Content {
        switch kind {
        case .integer(let octets, let isSigned):
            guard case .integer(let wide, let isWideSigned)? = wideKind else {
                let bounds = bounds(octets, isSigned)
                return .number(
                    lower: bounds.lower, upper: bounds.upper, step: resolution.factor, short: nil)
            }
            let bounds = bounds(wide, isWideSigned)
            return .number(
                lower: bounds.lower, upper: bounds.upper, step: resolution.factor,
                short: self.bounds(octets, isSigned).upper)
        case .enumeration(let octets, let names):
            // If no number has a name, the field is a number.
            guard names.contains(where: { !$0.isEmpty }) else {
                return .number(lower: 0, upper: bounds(octets, false).upper, step: 1, short: nil)
            }
            return .choice(names)
        case .medfloat16, .medfloat32, .float32: return .float
        case .dateTime: return .dateTime
        case .utf8: return .text
        case .bytes, .bits: return .bytes
        }
    }

    private func bounds(_ octets: Int, _ isSigned: Bool) -> (lower: Double, upper: Double) {
        let limits = ValueLayout.limits(octets * 8, isSigned)
        return (resolution.number(limits.lower), resolution.number(limits.upper))
    }
}

extension LayoutBit {
    /// The field that these bits contain, or `nil` if they contain none.
    fileprivate var shape: FieldShape? {
        switch self {
        case .boolean(let name): FieldShape(name, .boolean)
        case .optionalBoolean(let name): FieldShape(name, .boolean, isOptional: true)
        case .number(let name, let width, let resolution, let unit):
            FieldShape(
                name,
                .number(
                    lower: resolution.number(0), upper: resolution.number(1 << width - 1),
                    step: resolution.factor, short: nil), unit: unit)
        case .enumeration(let name, _, let names): FieldShape(name, .choice(names))
        case .announces, .widens, .otherUnit, .reserved: nil
        }
    }
}
