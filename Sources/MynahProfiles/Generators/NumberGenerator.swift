import MynahCore
import MynahSupport

/// A number that changes at each tick (`ValueGenerator`).
///
/// The number depends only on the seed and the tick. Numbers can therefore be computed for any tick in any
/// order, and a seed gives the same numbers on every radio.
struct NumberGenerator: Hashable, Sendable {
    /// The way in which the number changes.
    enum Movement: Hashable, Sendable {
        case constant(Double)
        /// The number rises or falls from one number to another in each period.
        case ramp(from: Double, to: Double, period: Duration)
        case sine(min: Double, max: Double, period: Duration)
        /// The number is `min` for the first half of each period, and `max` for the second half.
        case square(min: Double, max: Double, period: Duration)
        /// The number changes by up to `step` at each tick, within limits.
        case randomWalk(from: Double, min: Double, max: Double, step: Double)
        /// The number is random, between two limits.
        case uniform(min: Double, max: Double)
        case normal(mean: Double, deviation: Double)
        case counter(from: Double, by: Double)
        /// The number is taken from a list, which is repeated.
        case list([Double])
        /// The number is alternately 0 and 1.
        case toggle
    }

    var movement: Movement
    /// The largest random deviation as a fraction of the number: 0.02 means up to 2 % more or less.
    var noise = 0.0
    /// The probability, from 0 to 1, of an outlier.
    var outliers = 0.0

    /// Returns the number at a tick; `interval` is the time between two ticks.
    func number(at tick: UInt64, every interval: Duration, seed: UInt64) -> Double {
        var number = moved(tick, interval, seed)
        var random = SeededRandom(seed: Self.mixed(seed, tick, stream: 1))
        if noise > 0 { number += number * noise * Double.random(in: -1...1, using: &random) }
        if outliers > 0, Double.random(in: 0..<1, using: &random) < outliers {
            number *= Bool.random(using: &random) ? 3 : 0.25
        }
        return number
    }

    private func moved(_ tick: UInt64, _ interval: Duration, _ seed: UInt64) -> Double {
        switch movement {
        case .constant(let number): return number
        case .ramp(let from, let to, let period):
            return from + (to - from) * Self.phase(tick, interval, period)
        case .sine(let low, let high, let period):
            return (low + high) / 2 + (high - low) / 2
                * PortableMath.sine(ofTurns: Self.phase(tick, interval, period))
        case .square(let low, let high, let period):
            return Self.phase(tick, interval, period) < 0.5 ? low : high
        case .randomWalk(let from, let low, let high, let step):
            let walk = RandomWalk(seed: seed)
            return Self.folded(from + walk.position(at: tick) * step, low, high)
        case .uniform(let low, let high):
            var random = SeededRandom(seed: Self.mixed(seed, tick, stream: 2))
            return Double.random(in: low...high, using: &random)
        case .normal(let mean, let deviation):
            var random = SeededRandom(seed: Self.mixed(seed, tick, stream: 2))
            return mean + deviation * Self.normal(&random)
        case .counter(let from, let by): return from + Double(tick) * by
        case .list(let numbers): return numbers[Int(tick % UInt64(numbers.count))]
        case .toggle: return tick.isMultiple(of: 2) ? 0 : 1
        }
    }

    /// Returns the tick's position in its period, from 0 to less than 1.
    private static func phase(_ tick: UInt64, _ interval: Duration, _ period: Duration) -> Double {
        // Whole periods are subtracted in integers, so that the millionth is as exact as the first.
        let (step, length) = (nanoseconds(interval), nanoseconds(period))
        guard length > 0 else { return 0 }
        let (high, low) = (tick % length).multipliedFullWidth(by: step % length)
        return Double(length.dividingFullWidth((high, low)).remainder) / Double(length)
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        return UInt64(max(0, seconds)) &* 1_000_000_000 &+ UInt64(max(0, attoseconds / 1_000_000_000))
    }

    /// Reflects a number beyond one of the limits back into the range.
    private static func folded(_ number: Double, _ low: Double, _ high: Double) -> Double {
        let width = high - low
        guard width > 0 else { return low }
        let turn = (number - low).truncatingRemainder(dividingBy: 2 * width)
        let place = turn < 0 ? turn + 2 * width : turn
        return low + (place > width ? 2 * width - place : place)
    }

    /// Returns a random number of the normal distribution with mean 0 and standard deviation 1 (Box and
    /// Muller, 1958).
    static func normal(_ random: inout SeededRandom) -> Double {
        let first = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random)
        let radius = (-2 * PortableMath.log(first)).squareRoot()
        return radius * PortableMath.cosine(ofTurns: Double.random(in: 0..<1, using: &random))
    }

    /// Returns a seed that differs for each tick and each stream.
    static func mixed(_ seed: UInt64, _ tick: UInt64, stream: UInt64) -> UInt64 {
        var random = SeededRandom(seed: seed ^ stream &* 0xD6E8_FEB8_6659_FD93)
        let first = random.next()
        random = SeededRandom(seed: first &+ tick &* 0x2545_F491_4F6C_DD1D)
        return random.next()
    }
}

/// A random walk, whose position at any tick takes as many steps to compute as the tick has binary digits.
///
/// Each tick adds eight coin flips of an eighth each, so the position changes by at most 1. The number of
/// heads in a block of coins is drawn first, then its division over the two halves of the block, and so on
/// down to the requested coin. A position is therefore always the same, whichever other ticks are requested.
struct RandomWalk {
    let seed: UInt64

    /// Returns the position of the walk at a tick, which is 0 at the start.
    func position(at tick: UInt64) -> Double {
        // No run has 2^58 ticks.
        let coins = min(tick, 1 << 58) * 8
        guard coins > 0 else { return 0 }
        // The coins are divided into blocks: coin 1 (2^0), coins 2 and 3 (2^1), coins 4 to 7 (2^2), and so
        // on.
        var heads: UInt64 = 0
        var level: UInt64 = 0
        while (1 << (level + 1)) - 1 <= coins {
            heads += block(level)
            level += 1
        }
        let left = coins - ((1 << level) - 1)
        if left > 0 { heads += part(of: level, left) }
        return (2 * Double(heads) - Double(coins)) / 8
    }

    /// Returns the number of heads in a whole block of 2^level coins.
    private func block(_ level: UInt64) -> UInt64 {
        let size = UInt64(1) << level
        return drawn(of: size, mean: Double(size) / 2, variance: Double(size) / 4, 0...size, level, 0)
    }

    /// Returns the number of heads among the first `count` coins of a block.
    private func part(of level: UInt64, _ count: UInt64) -> UInt64 {
        var (size, heads, left) = (UInt64(1) << level, block(level), count)
        var (found, place) = (UInt64(0), UInt64(1))
        while left > 0, size > 1 {
            let half = size / 2
            // The number of heads in the first half of a block has a hypergeometric distribution.
            let lowest = heads > half ? heads - half : 0
            let variance = size > 1 ? Double(heads) * Double(size - heads) / (4 * Double(size - 1)) : 0
            let first = drawn(
                of: half, mean: Double(heads) / 2, variance: variance, lowest...min(half, heads), level, place
            )
            if left >= half {
                found += first
                (left, heads, place) = (left - half, heads - first, place * 2 + 1)
            } else {
                (heads, place) = (first, place * 2)
            }
            size = half
        }
        return found + (left > 0 ? heads : 0)
    }

    /// Draws a random integer of the normal distribution, within limits.
    private func drawn(
        of size: UInt64, mean: Double, variance: Double, _ limits: ClosedRange<UInt64>, _ level: UInt64,
        _ place: UInt64
    ) -> UInt64 {
        guard limits.lowerBound < limits.upperBound else { return limits.lowerBound }
        var random = SeededRandom(seed: NumberGenerator.mixed(seed, place, stream: 16 &+ level))
        // A single coin is heads or tails.
        if size == 1, limits == 0...1 { return Double.random(in: 0..<1, using: &random) < mean ? 1 : 0 }
        let number = (mean + variance.squareRoot() * NumberGenerator.normal(&random)).rounded()
        return UInt64(min(max(number, Double(limits.lowerBound)), Double(limits.upperBound)))
    }
}
