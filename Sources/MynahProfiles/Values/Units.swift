import MynahSupport

/// Units of the same quantity, and their conversion.
enum Units {
    /// A unit of a quantity.
    ///
    /// A number in this unit, times the fraction, plus the offset, is the number in the quantity's first
    /// unit.
    private struct Unit {
        var name: String
        var numerator: Double
        var denominator: Double
        var offset: Double

        init(_ name: String, _ numerator: Double = 1, over denominator: Double = 1, offset: Double = 0) {
            self.name = name
            self.numerator = numerator
            self.denominator = denominator
            self.offset = offset
        }
    }

    private static let quantities: [[Unit]] = [
        [
            Unit("s"), Unit("us", over: 1_000_000), Unit("ms", over: 1000), Unit("min", 60), Unit("h", 3600),
            Unit("d", 86_400),
        ],
        [
            Unit("m"), Unit("mm", over: 1000), Unit("cm", over: 100), Unit("km", 1000),
            Unit("in", 254, over: 10_000), Unit("ft", 3048, over: 10_000), Unit("mi", 1_609_344, over: 1000),
        ],
        [Unit("m/s"), Unit("km/h", 10, over: 36), Unit("mph", 44_704, over: 100_000)],
        [Unit("°C"), Unit("°F", 5, over: 9, offset: -160 / 9.0), Unit("K", offset: -273.15)],
        [
            Unit("kg"), Unit("g", over: 1000), Unit("mg", over: 1_000_000),
            Unit("lb", 45_359_237, over: 100_000_000),
        ],
        [
            Unit("Pa"), Unit("hPa", 100), Unit("kPa", 1000), Unit("mbar", 100), Unit("bar", 100_000),
            Unit("mmHg", 133.322_387_415),
        ],
        [Unit("kJ"), Unit("J", over: 1000), Unit("kcal", 4184, over: 1000)],
        [Unit("W"), Unit("kW", 1000)], [Unit("mL"), Unit("L", 1000)],
    ]

    /// Converts a number to another unit; returns `nil` if the units measure different quantities.
    ///
    /// A difference between two numbers is converted without the offset: a difference of 9 °F is one of 5
    /// °C.
    static func convert(_ number: Double, from: String, to: String, isDifference: Bool = false) -> Double? {
        if from == to { return number }
        guard let units = quantity(of: from), let source = units.first(where: { $0.name == from }),
            let target = units.first(where: { $0.name == to })
        else { return nil }
        let offset = isDifference ? 0 : source.offset - target.offset
        // With integer factors, one multiplication and one division give the nearest number.
        let (top, bottom) = (source.numerator * target.denominator, source.denominator * target.numerator)
        return number * top / bottom + offset * target.denominator / target.numerator
    }

    /// Returns the units into which this one can be converted, starting with this unit itself.
    static func like(_ unit: String) -> [String] {
        [unit] + (quantity(of: unit) ?? []).map(\.name).filter { $0 != unit }
    }

    private static func quantity(of unit: String) -> [Unit]? {
        quantities.first { $0.contains { $0.name == unit } }
    }
}

/// A number with its unit, as people write it: `72`, `0x1F`, `36.6 °C`, `50%`.
struct WrittenNumber: Hashable, Sendable {
    var number: Double
    /// The number as an `Int`, or `nil` if it was written with a fraction or does not fit.
    var integer: Int?
    /// The number as a `UInt64`, or `nil` unless it is an integer that is too large for an `Int`.
    var unsigned: UInt64?
    /// The unit, or `nil` if none is written.
    var unit: String?
    /// `true` if the text is an integer that `number` does not represent exactly.
    var isRounded = false

    /// Parses a text; returns `nil` if it does not begin with a number.
    init?(_ text: String) {
        let text = text.trimmed
        if let whole = Words.number(text) {
            (number, integer) = (Double(whole), whole)
            return
        }
        if text.lowercased().hasPrefix("0x") {
            guard let whole = UInt64(text.dropFirst(2), radix: 16), text.dropFirst(2).first != "+" else {
                return nil
            }
            (number, unsigned) = (Double(whole), whole)
            return
        }
        let end = Self.numberEnd(text)
        guard let number = Double(text[..<end]), number.isFinite
        else { return nil }
        self.number = number
        integer = Int(text[..<end])
        if integer == nil { unsigned = UInt64(text[..<end]) }
        isRounded = WholeDigits.problem(of: text[..<end]) != nil
        let rest = String(text[end...]).trimmed
        unit = rest.isEmpty ? nil : rest
    }

    /// Returns the index after the sign, the digits and the decimal point of a number.
    private static func numberEnd(_ text: String) -> String.Index {
        var end = text.startIndex
        while end < text.endIndex {
            switch text[end] {
            case "-", "+": guard end == text.startIndex else { return end }
            case "0"..."9", ".": break
            default: return exponentEnd(text, from: end)
            }
            end = text.index(after: end)
        }
        return end
    }

    /// Returns the index after an exponent such as `e-3` that begins at `start`, or `start` if none does.
    private static func exponentEnd(_ text: String, from start: String.Index) -> String.Index {
        guard text[start] == "e" || text[start] == "E" else { return start }
        var end = text.index(after: start)
        if end < text.endIndex, text[end] == "-" || text[end] == "+" { end = text.index(after: end) }
        let digits = text[end...].prefix { ("0"..."9").contains($0) }
        return digits.isEmpty ? start : digits.endIndex
    }
}

extension String {
    /// The text without the spaces around it.
    var trimmed: String {
        var text = self[...].drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
