import MynahCore
import MynahSupport
import MynahValues

/// The values that a field of a layout can have: their kind, and the limits and units of a number.
struct FieldRange: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case integer(bits: Int, isSigned: Bool)
        /// A floating-point number, with the largest value of its type.
        case float(name: String, largest: Double)
        case boolean, text, dateTime, bytes
    }

    var kind: Kind
    /// Whether the field holds a list of values of any length.
    var isList = false
    /// The names of the numbers from 0 on; an empty name means that the number is reserved.
    var names: [String] = []
    /// The first unit of a number, or `nil` if it has none.
    var unit: String?
    var resolution = Resolution.one
    /// The other unit in which a number may be written, or `nil` if there is none.
    var otherUnit: LayoutField.Unit?

    /// Makes the range of the field with this name, or returns `nil` if the layout has no such field.
    init?(_ name: String, in layout: ValueLayout) {
        for entry in layout.entries {
            if case .bits(_, let bits) = entry.kind {
                guard let bit = bits.first(where: { $0.names(name) }) else { continue }
                self.init(bit)
                return
            }
            guard entry.name == name else { continue }
            self.init(entry)
            return
        }
        return nil
    }

    private init(_ bit: LayoutBit) {
        switch bit {
        case .enumeration(_, let width, let names):
            kind = .integer(bits: width, isSigned: false)
            self.names = names
        case .number(_, let width, let resolution, let unit):
            kind = .integer(bits: width, isSigned: false)
            (self.resolution, self.unit) = (resolution, unit)
        case .boolean, .optionalBoolean, .announces, .widens, .otherUnit, .reserved: kind = .boolean
        }
    }

    private init(_ entry: LayoutField) {
        (unit, resolution, otherUnit) = (entry.unit, entry.resolution, entry.otherUnit)
        switch entry.wideKind ?? entry.kind {
        case .integer(let octets, let isSigned): kind = .integer(bits: octets * 8, isSigned: isSigned)
        case .enumeration(let octets, let names):
            kind = .integer(bits: octets * 8, isSigned: false)
            self.names = names
        // The largest mantissa and exponent that represent a number (IEEE 11073-20601).
        case .medfloat16: kind = .float(name: "medfloat16", largest: 2045e7)
        case .medfloat32: kind = .float(name: "medfloat32", largest: 8_388_605e127)
        case .float32: kind = .float(name: "float32", largest: Double(Float.greatestFiniteMagnitude))
        case .bits: kind = .boolean
        case .dateTime: kind = .dateTime
        case .utf8: kind = .text
        case .bytes: kind = .bytes
        }
        isList = entry.count != .one && kind != .text && kind != .bytes
    }

    /// `true` if the field holds a number.
    var isNumber: Bool {
        switch kind {
        case .integer, .float: true
        case .boolean, .text, .dateTime, .bytes: false
        }
    }

    /// Returns the exact integer if the type has 64 bits and the integer is in its range.
    ///
    /// A `Double` would be exact only up to 53 bits.
    func exact(_ written: WrittenNumber) -> FieldValue? {
        guard case .integer(bits: 64, let isSigned) = kind, resolution == .one, written.unit == nil else {
            return nil
        }
        if let integer = written.integer, isSigned || integer >= 0 { return .integer(integer) }
        return isSigned ? nil : written.unsigned.map { .unsigned($0) }
    }

    /// Returns the reason that no integer of the type can satisfy a comparison.
    ///
    /// Returns `nil` if one can, or if the type is not an integer.
    func problem(of name: String, _ comparison: Comparison, _ number: ExactNumber) -> String? {
        let holds = [nil, otherUnit?.name].contains { canBe(comparison, number.double, in: $0) }
        guard width != nil, !holds else { return nil }
        let limits = limits(in: nil)
        let (lower, upper) = (NumberText.ofLimit(limits.lowerBound), NumberText.ofLimit(limits.upperBound))
        let sign = comparison == .equal ? "" : comparison.rawValue + " "
        return "\(name) is never \(sign)\(number.json.text): it is \(lower) to \(upper) (\(typeName))"
    }

    /// Whether any integer of the type can satisfy a comparison with a number in a unit of the field.
    private func canBe(_ comparison: Comparison, _ number: Double, in unit: String?) -> Bool {
        let limits = limits(in: unit)
        // A `Double` cannot represent the largest 64-bit integer; it is rounded to the next power of two.
        let largest = width == 0x1p64 ? limits.upperBound.nextUp : limits.upperBound
        return switch comparison {
        case .equal: limits.lowerBound <= number && number <= largest
        case .notEqual: true
        case .below, .atMost: comparison.holds(limits.lowerBound, number)
        case .above, .atLeast: comparison.holds(largest, number)
        }
    }

    /// The name of the type in a layout.
    var typeName: String {
        switch kind {
        case .integer(let bits, let isSigned):
            bits.isMultiple(of: 8) ? "\(isSigned ? "sint" : "uint")\(bits)" : bits.counting("bit")
        case .float(let name, _): name
        case .boolean: "true or false"
        case .text: "text"
        case .dateTime: "a date and a time"
        case .bytes: "bytes"
        }
    }

    /// Returns the difference between two successive integers of the type, in a unit of the field.
    func step(in unit: String?) -> Double {
        let resolution = resolution(in: unit)
        return Double(resolution.numerator) / Double(resolution.denominator)
    }

    /// Returns the resolution of the type's integers in a unit of the field.
    func resolution(in unit: String?) -> Resolution {
        let other = unit.flatMap { $0 == otherUnit?.name ? otherUnit : nil }
        return other?.resolution ?? resolution
    }

    /// The number of different integers of the type, or `nil` if it is not an integer.
    var width: Double? {
        guard case .integer(let bits, _) = kind else { return nil }
        return Double(sign: .plus, exponent: bits, significand: 1)
    }

    /// Returns the range of the type in a unit of the field.
    func limits(in unit: String?) -> ClosedRange<Double> {
        let step = step(in: unit)
        let offset = resolution(in: unit).offset
        switch kind {
        case .integer(let bits, let isSigned):
            let upper = Double(sign: .plus, exponent: isSigned ? bits - 1 : bits, significand: 1)
            // For 64 bits, the upper limit is the largest `Double` below the power of two.
            let largest = bits == 64 ? upper.nextDown : upper - 1
            return (isSigned ? -upper * step : 0) + offset...largest * step + offset
        case .float(_, let largest): return -largest * step...largest * step
        case .boolean, .text, .dateTime, .bytes: return 0...1
        }
    }
}

extension LayoutBit {
    fileprivate func names(_ name: String) -> Bool {
        switch self {
        case .boolean(let own), .optionalBoolean(let own), .number(let own, _, _, _),
            .enumeration(let own, _, _):
            own == name
        case .announces, .widens, .otherUnit, .reserved: false
        }
    }
}
