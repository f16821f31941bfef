import Glibc
import MynahSupport
import Testing

/// The C library's functions are within a unit in the last place too, but not the same on every processor.
@Suite struct PortableMathTests {
    /// The largest difference from the C library's result, in units in the last place.
    private static func worst(
        _ numbers: [Double], _ ours: (Double) -> Double, _ theirs: (Double) -> Double
    ) -> Double {
        numbers.reduce(0) { worst, number in
            let (own, other) = (ours(number), theirs(number))
            return max(worst, abs(own - other) / other.ulp)
        }
    }

    private static func numbers(in range: ClosedRange<Double>) -> [Double] {
        var random = SeededRandom(seed: 1)
        return (0..<5_000).map { _ in Double.random(in: range, using: &random) }
    }

    @Test func `a logarithm is near the C library's`() {
        var random = SeededRandom(seed: 1)
        let any = (0..<5_000).map { _ in
            Double(bitPattern: .random(in: 1..<Double.infinity.bitPattern, using: &random))
        }
        #expect(Self.worst(any, PortableMath.log, log) <= 2)
        #expect(Self.worst(Self.numbers(in: 1e-300...2), PortableMath.log, log) <= 2)
        #expect(Self.worst(Self.numbers(in: 0.99...1.01), PortableMath.log, log) <= 2)
        #expect(PortableMath.log(1) == 0)
        #expect(PortableMath.log(0) == -.infinity)
        #expect(PortableMath.log(.infinity) == .infinity)
        #expect(PortableMath.log(-1).isNaN)
        #expect(PortableMath.log(.nan).isNaN)
    }

    @Test(arguments: [1e-9, 0.5, 20, 700])
    func `a power of e is near the C library's`(limit: Double) {
        #expect(Self.worst(Self.numbers(in: -limit...limit), PortableMath.exp, exp) <= 2)
    }

    @Test func `the largest and the smallest powers of e are right`() {
        #expect(PortableMath.exp(0) == 1)
        #expect(PortableMath.exp(-740) == exp(-740))
        #expect(PortableMath.exp(-1e300) == 0)
        #expect(PortableMath.exp(710) == .infinity)
        #expect(PortableMath.exp(.infinity) == .infinity)
        #expect(PortableMath.exp(.nan).isNaN)
    }

    @Test func `a sine and a cosine are near the C library's`() {
        // Its angle is in radians, whose own error counts the more the nearer the result is to 0.
        let small = Self.numbers(in: -0.125...0.125)
        #expect(Self.worst(small, PortableMath.sine(ofTurns:), { sin(2 * .pi * $0) }) <= 3)
        #expect(Self.worst(small, PortableMath.cosine(ofTurns:), { cos(2 * .pi * $0) }) <= 3)
        for turns in Self.numbers(in: -2...2).prefix(200) {
            #expect(abs(PortableMath.sine(ofTurns: turns) - sin(2 * .pi * turns)) < 3e-15)
            #expect(abs(PortableMath.cosine(ofTurns: turns) - cos(2 * .pi * turns)) < 3e-15)
        }
        #expect(PortableMath.sine(ofTurns: .nan).isNaN)
    }

    @Test func `quarters of a turn are exact`() {
        let quarters = [0, 0.25, 0.5, 0.75, 1, -0.25]
        #expect(quarters.map { PortableMath.sine(ofTurns: $0) } == [0, 1, 0, -1, 0, -1])
        #expect(quarters.map { PortableMath.cosine(ofTurns: $0) } == [1, 0, -1, 0, 1, 0])
    }

    @Test func `powers of ten are the nearest numbers`() {
        #expect((0...22).allSatisfy { PortableMath.powerOfTen($0) == pow(10, Double($0)) })
        #expect(PortableMath.powerOfTen(23) == 1e23)
        #expect(PortableMath.powerOfTen(308) == 1e308)
        #expect(PortableMath.powerOfTen(309) == .infinity)
    }

    /// The bits were written down once: another processor, and another compiler, must find the same.
    @Test func `the bits are those of every processor`() {
        var random = SeededRandom(seed: 4)
        var hash: UInt64 = 0
        for _ in 0..<10_000 {
            let number = Double.random(in: 0..<1, using: &random)
            for result in [
                PortableMath.log(number), PortableMath.exp(-10 * number), PortableMath.sine(ofTurns: number),
                PortableMath.cosine(ofTurns: number),
            ] {
                hash = SeededRandom.mix(hash ^ result.bitPattern)
            }
        }
        #expect(hash == 10_920_526_938_006_618_583)
    }
}
