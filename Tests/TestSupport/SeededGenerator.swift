import MynahSupport

/// Random numbers that are the same in every run, so that a failure can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
    private var random: SeededRandom

    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    package mutating func next() -> UInt64 { random.next() }

    /// Up to so many bytes of any kind.
    package mutating func bytes(upTo count: Int) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in .random(in: 0...255, using: &self) }
    }
}
