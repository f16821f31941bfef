/// Mathematical functions whose results have the same bits on every processor.
///
/// The functions of the C library have variants for processors with and without fused multiply-add, which
/// round differently. The functions here only add and multiply, and IEEE 754 defines how each of these
/// operations rounds. The results are within two units in the last place of the exact ones.
package enum PortableMath {
    /// The natural logarithm.
    package static func log(_ number: Double) -> Double {
        guard number > 0, number.isFinite else {
            return number == 0 ? -.infinity : number == .infinity ? .infinity : .nan
        }
        // number = fraction · 2^exponent, with the fraction from √½ to √2.
        var (fraction, exponent) = (number.significand, Double(number.exponent))
        if fraction > 2.0.squareRoot() { (fraction, exponent) = (fraction / 2, exponent + 1) }
        // ln((1 + s) / (1 - s)) = 2 (s + s³/3 + s⁵/5 + …), and 2 s = rest - s · rest, where rest is exact.
        let rest = fraction - 1
        let s = rest / (2 + rest)
        let series = 2 * polynomial(s * s, oddReciprocals) * (s * s)
        return exponent * ln2.high - ((s * (rest - series) - exponent * ln2.low) - rest)
    }

    /// e to the power of a number.
    package static func exp(_ number: Double) -> Double {
        guard number == number else { return number }
        // Beyond these limits it is infinite, or nearer to 0 than any number.
        let limited = min(max(number, -800), 800)
        let exponent = (limited / (ln2.high + ln2.low)).rounded()
        let high = limited - exponent * ln2.high
        let low = exponent * ln2.low
        let rest = high - low
        // e^rest = 1 + rest + rest²/2 + …
        let series = rest * rest * polynomial(rest, inverseFactorials)
        let fraction = 1 + (high + (series - low))
        return Double(sign: .plus, exponent: Int(exponent), significand: fraction)
    }

    /// The sine of an angle in turns; 0.25 turns are a right angle.
    package static func sine(ofTurns turns: Double) -> Double {
        let (quarter, angle) = reduced(turns)
        let part = quarter % 2 == 0 ? sine(angle) : cosine(angle)
        return quarter < 2 ? part : -part
    }

    /// The cosine of an angle in turns; 0.25 turns are a right angle.
    package static func cosine(ofTurns turns: Double) -> Double {
        let (quarter, angle) = reduced(turns)
        let part = quarter % 2 == 0 ? cosine(angle) : sine(angle)
        return quarter == 0 || quarter == 3 ? part : -part
    }

    /// Ten to the power of a whole number, rounded to the nearest `Double`.
    ///
    /// The number must not be negative. The result is infinite for numbers above 308.
    package static func powerOfTen(_ exponent: Int) -> Double {
        exponent < powersOfTen.count ? powersOfTen[exponent] : .infinity
    }

    // MARK: Parts

    /// Splits an angle in turns into quarter turns and a rest.
    ///
    /// `quarter` is the nearest multiple of a quarter turn, modulo 4. `angle` is the rest in radians, from
    /// -π/4 to π/4.
    private static func reduced(_ turns: Double) -> (quarter: Int, angle: Double) {
        guard turns.isFinite else { return (0, .nan) }
        let quarters = (turns * 4).rounded()
        let quarter = Int(quarters.truncatingRemainder(dividingBy: 4))
        return (quarter < 0 ? quarter + 4 : quarter, (turns - quarters / 4) * 2 * .pi)
    }

    /// The sine of an angle x up to π/4 radians, as the series x - x³/3! + x⁵/5! and so on.
    private static func sine(_ angle: Double) -> Double {
        let square = angle * angle
        return angle + angle * square * polynomial(square, sineTerms)
    }

    /// The cosine of an angle x up to π/4 radians, as the series 1 - x²/2! + x⁴/4! and so on.
    private static func cosine(_ angle: Double) -> Double {
        let square = angle * angle
        return 1 - (square / 2 - square * square * polynomial(square, cosineTerms))
    }

    /// The value of the polynomial with these coefficients, the constant first.
    private static func polynomial(_ number: Double, _ terms: [Double]) -> Double {
        var sum = 0.0
        for term in terms.reversed() { sum = sum * number + term }
        return sum
    }

    /// ln 2 as the sum of two numbers; the first has few digits, so that its product with an exponent is
    /// exact.
    private static let ln2 = (high: 0x1.62E42FEEp-1, low: 0x1.A39EF35793C76p-33)
    /// 1/3, 1/5, 1/7 and so on.
    private static let oddReciprocals: [Double] = (1...11).map { 1 / Double(2 * $0 + 1) }
    /// 1/2!, 1/3!, 1/4! and so on.
    private static let inverseFactorials: [Double] = (2...15).map { 1 / factorial($0) }
    /// -1/3!, 1/5!, -1/7! and so on.
    private static let sineTerms: [Double] = (1...9).map { ($0 % 2 == 0 ? 1 : -1) / factorial(2 * $0 + 1) }
    /// 1/4!, -1/6!, 1/8! and so on.
    private static let cosineTerms: [Double] = (2...10).map { ($0 % 2 == 0 ? 1 : -1) / factorial(2 * $0) }
    private static let powersOfTen: [Double] = (0...308).map { Double("1e\($0)") ?? .infinity }

    private static func factorial(_ number: Int) -> Double { (1...number).reduce(1) { $0 * Double($1) } }
}
