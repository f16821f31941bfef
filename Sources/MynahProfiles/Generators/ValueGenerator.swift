/// A generator of a changing value.
///
/// The bytes depend only on the tick and on the parameters of the run, so runs are reproducible.
public protocol ValueGenerator: Sendable {
    /// Returns the value at a tick.
    ///
    /// Tick 0 is the start of the device, and the run's interval is the time between two ticks.
    func value(at tick: UInt64) -> [UInt8]
}

/// The seed, the interval and the start time of a run for one generator.
public struct GeneratorRun: Hashable, Sendable {
    /// The seed of the random numbers.
    public var seed: UInt64
    /// The time between two ticks.
    public var interval: Duration
    /// The start of the run's clocks, in seconds since 1970.
    public var start: Int64

    /// The start of clocks in a reproducible run: 2026-01-01T00:00:00Z.
    public static let repeatableStart: Int64 = 1_767_225_600

    /// Makes the parameters for a generator.
    public init(seed: UInt64, interval: Duration, start: Int64 = repeatableStart) {
        self.seed = seed
        self.interval = interval
        self.start = start
    }
}

/// A generator's parameters in a profile, which do not include a seed.
public protocol GeneratorDefinition: Sendable {
    /// The generator's name, as the value of `generate:`, or `fields` if the value is composed of fields.
    static var name: String { get }
    /// The largest length of a generated value, in bytes.
    var maximumLength: Int { get }
    /// Makes the generator for a run.
    func makeGenerator(for run: GeneratorRun) -> any ValueGenerator
}

/// A generator that a profile can name, and that parses its own keys.
///
/// `Generators.all` lists these generators.
protocol DeclaredGenerator: GeneratorDefinition {
    /// The generator's keys.
    static var table: Section { get }
    /// Parses the keys; returns `nil` after an issue was reported.
    static func read(_ fields: Fields, _ reader: FormatReader) -> Self?
}

/// The generators that a profile can name.
enum Generators {
    static let all: [any DeclaredGenerator.Type] = [HeartRateDefinition.self, RecordedDefinition.self]
}
