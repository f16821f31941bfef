/// A generator of repeatable random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
@usableFromInline package struct SeededRandom: RandomNumberGenerator, Sendable {
    @usableFromInline var state: UInt64

    /// Makes a generator; equal seeds produce equal numbers.
    @inlinable package init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    @inlinable package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// Mixes the bits of a number; different numbers have different results.
    @inlinable package static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
