import Testing

@testable import MynahProfiles

@Suite struct NumberGeneratorTests {
    private static func numbers(
        _ movement: NumberGenerator.Movement, _ ticks: Range<UInt64>, every interval: Duration = .seconds(1),
        seed: UInt64 = 7
    ) -> [Double] {
        let generator = NumberGenerator(movement: movement)
        return ticks.map { generator.number(at: $0, every: interval, seed: seed) }
    }

    @Test func `a periodic movement is the same in each period, also after a year`() {
        let year: UInt64 = 365 * 86_400
        for movement: NumberGenerator.Movement in [
            .ramp(from: 0, to: 10, period: .seconds(10)), .sine(min: -1, max: 1, period: .seconds(10)),
            .square(min: 0, max: 1, period: .seconds(10)),
        ] {
            #expect(Self.numbers(movement, 0..<10) == Self.numbers(movement, 10 * year..<10 * year + 10))
        }
        #expect(
            Self.numbers(.ramp(from: 0, to: 10, period: .seconds(10)), 0..<11) == [
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0,
            ])
        #expect(Self.numbers(.square(min: 2, max: 4, period: .seconds(4)), 0..<5) == [2, 2, 4, 4, 2])
        #expect(Self.numbers(.sine(min: 0, max: 2, period: .seconds(4)), 0..<2) == [1, 2])
        // A period that no number of ticks fits.
        #expect(
            Self.numbers(.ramp(from: 0, to: 1, period: .milliseconds(1500)), 0..<4).map { ($0 * 3).rounded() }
                == [0, 2, 1, 0])
    }

    @Test func `counters, lists and toggles go on by the tick`() {
        #expect(Self.numbers(.counter(from: 5, by: 2), 0..<4) == [5, 7, 9, 11])
        #expect(Self.numbers(.list([3, 1, 2]), 0..<5) == [3, 1, 2, 3, 1])
        #expect(Self.numbers(.toggle, 0..<4) == [0, 1, 0, 1])
        #expect(Self.numbers(.constant(4), 0..<2) == [4, 4])
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a random walk moves by its step at most, stays within its limits, and reaches them`(seed: UInt64) {
        let walk = Self.numbers(.randomWalk(from: 62, min: 50, max: 70, step: 3), 0..<20_000, seed: seed)
        #expect(walk.first == 62)
        #expect(zip(walk, walk.dropFirst()).allSatisfy { abs($0 - $1) <= 3 })
        #expect(walk.allSatisfy { (50...70).contains($0) })
        #expect((walk.min() ?? 0) < 51 && (walk.max() ?? 0) > 69)
        // Not always there and back: some steps are small, some are large.
        #expect(Set(zip(walk, walk.dropFirst()).map { abs($0 - $1) }).count > 4)
    }

    @Test func `a random walk moves as far as eight coins a tick, in the mean over many seeds`() {
        for ticks: UInt64 in [1, 2, 10, 1000, 100_000] {
            let squares = (0..<2000 as Range<UInt64>).map { seed in
                let position = RandomWalk(seed: seed &* 0x9E37_79B9_7F4A_7C15).position(at: ticks)
                return position * position
            }
            // Eight coins of an eighth each: the variance is an eighth a tick.
            let mean = squares.reduce(0, +) / 2000 / (Double(ticks) / 8)
            #expect(abs(mean - 1) < 0.15, "after \(ticks) ticks")
        }
    }

    @Test
    func `the walk after a billion ticks is found as quickly as the first steps, and moves on from there`() {
        let walk = RandomWalk(seed: 1)
        let start: UInt64 = 1_000_000_000
        let places = (start..<start + 100).map { walk.position(at: $0) }
        #expect(zip(places, places.dropFirst()).allSatisfy { abs($0 - $1) <= 1 })
        #expect(Set(places).count > 10)
        #expect(walk.position(at: .max) == walk.position(at: 1 << 58))
    }

    @Test func `random numbers have their mean and spread, and another seed gives others`() {
        let uniform = Self.numbers(.uniform(min: 10, max: 20), 0..<10_000)
        #expect(uniform.allSatisfy { (10...20).contains($0) })
        #expect(abs(uniform.reduce(0, +) / 10_000 - 15) < 0.1)
        let normal = Self.numbers(.normal(mean: 5, deviation: 2), 0..<10_000)
        let mean = normal.reduce(0, +) / 10_000
        #expect(abs(mean - 5) < 0.1)
        let squares = normal.map { ($0 - mean) * ($0 - mean) }
        #expect(abs(squares.reduce(0, +) / 10_000 - 4) < 0.2)
        #expect(uniform == Self.numbers(.uniform(min: 10, max: 20), 0..<10_000))
        #expect(uniform[0] != Self.numbers(.uniform(min: 10, max: 20), 0..<1, seed: 8)[0])
    }

    @Test func `noise is a part of the number, and outliers are as frequent as they are asked for`() {
        var generator = NumberGenerator(movement: .constant(100), noise: 0.02)
        let noisy = (0..<5000).map { generator.number(at: $0, every: .seconds(1), seed: 3) }
        #expect(noisy.allSatisfy { (98...102).contains($0) })
        #expect((noisy.min() ?? 0) < 98.1 && (noisy.max() ?? 0) > 101.9)
        generator = NumberGenerator(movement: .constant(100), outliers: 0.01)
        let far = (0..<50_000).filter { generator.number(at: $0, every: .seconds(1), seed: 3) != 100 }.count
        #expect((400...600).contains(far))
    }
}
