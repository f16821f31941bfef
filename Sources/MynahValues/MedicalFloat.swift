import MynahSupport

/// The floating-point formats of IEEE 11073-20601: a decimal exponent and a mantissa, both in two's
/// complement.
struct MedicalFloat {
    /// The number of bits of the mantissa.
    let mantissaBits: Int
    /// The number of bits of the exponent.
    let exponentBits: Int

    /// SFLOAT.
    static let short = MedicalFloat(mantissaBits: 12, exponentBits: 4)
    /// FLOAT.
    static let long = MedicalFloat(mantissaBits: 24, exponentBits: 8)

    // The largest and smallest mantissas are reserved for NaN, infinity and other special values.
    private var notANumber: Int { 1 << (mantissaBits - 1) - 1 }
    private var infinity: Int { notANumber - 1 }
    private var largest: Int { notANumber - 2 }
    private var exponents: ClosedRange<Int> { -(1 << (exponentBits - 1))...(1 << (exponentBits - 1) - 1) }

    /// The bits for the nearest number that the format can represent, or `nil` if the number is too large.
    func bits(of number: Double) -> UInt64? {
        if number.isNaN { return pack(notANumber, 0) }
        if number.isInfinite { return pack(number < 0 ? -infinity : infinity, 0) }
        // An exact number has the exponent nearest to 0: 36.6 is encoded as 366 tenths.
        for exponent in [0] + (exponents.lowerBound..<0).reversed() + Array(1...exponents.upperBound) {
            let mantissa = scaled(number, exponent)
            guard abs(mantissa) <= Double(largest) else { continue }
            if abs(mantissa - mantissa.rounded()) <= abs(mantissa) * 1e-12 {
                return pack(Int(mantissa.rounded()), exponent)
            }
        }
        // No exponent represents the number exactly, so it gets as many digits as possible.
        for exponent in exponents {
            let mantissa = scaled(number, exponent).rounded()
            if abs(mantissa) <= Double(largest) { return pack(Int(mantissa), exponent) }
        }
        return nil
    }

    /// The number that the bits represent.
    ///
    /// Reserved values become NaN.
    func number(_ bits: UInt64) -> Double {
        let mantissa = Self.signed(bits, mantissaBits)
        let exponent = Self.signed(bits >> UInt64(mantissaBits), exponentBits)
        if mantissa == infinity { return .infinity }
        if mantissa == -infinity { return -.infinity }
        if abs(mantissa) > largest { return .nan }
        // Dividing by a power of ten gives the nearest number; multiplying by a tenth would not.
        return exponent < 0
            ? Double(mantissa) / PortableMath.powerOfTen(-exponent)
            : Double(mantissa) * PortableMath.powerOfTen(exponent)
    }

    private func scaled(_ number: Double, _ exponent: Int) -> Double {
        exponent < 0
            ? number * PortableMath.powerOfTen(-exponent) : number / PortableMath.powerOfTen(exponent)
    }

    private func pack(_ mantissa: Int, _ exponent: Int) -> UInt64 {
        let low = UInt64(bitPattern: Int64(mantissa)) & (1 << UInt64(mantissaBits) - 1)
        let high = UInt64(bitPattern: Int64(exponent)) & (1 << UInt64(exponentBits) - 1)
        return high << UInt64(mantissaBits) | low
    }

    private static func signed(_ bits: UInt64, _ width: Int) -> Int {
        Int(Int64(bitPattern: bits << UInt64(64 - width)) >> Int64(64 - width))
    }
}
