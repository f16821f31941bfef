/// A generator of a changing value.
///
/// The bytes depend only on the tick and the inputs from the run, so a run can be repeated.
public protocol ValueGenerator: Sendable {
    /// The value at a tick: 0 is the start of the device, and one follows the other after the run's interval.
    func value(at tick: UInt64) -> [UInt8]
}

/// The seed, interval and start time that a run gives one generator.
public struct GeneratorRun: Hashable, Sendable {
    /// The seed of the random numbers.
    public var seed: UInt64
    /// The time between two ticks.
    public var interval: Duration
    /// The start time of the run's clocks, in seconds since 1970.
    public var start: Int64

    /// 2026-01-01T00:00:00Z, at which clocks start if a run is to be repeated.
    public static let repeatableStart: Int64 = 1_767_225_600

    /// Creates the input of one generator.
    public init(seed: UInt64, interval: Duration, start: Int64 = repeatableStart) {
        self.seed = seed
        self.interval = interval
        self.start = start
    }
}

/// A generator's parameters in a profile, before a run gives it a seed.
public protocol GeneratorDefinition: Sendable {
    /// The generator's name, as the value of `generate:`; `fields` if the value is made of fields.
    static var name: String { get }
    /// The longest value it makes, in bytes.
    var maximumLength: Int { get }
    /// The generator of one run.
    func makeGenerator(for run: GeneratorRun) -> any ValueGenerator
}

/// A definition that reads itself from a profile; each kind is one line of `Generators.all`.
protocol DeclaredGenerator: GeneratorDefinition {
    /// The generator's keys.
    static var table: Section { get }
    /// Reads the keys; `nil` after a problem was noted.
    static func read(_ fields: Fields, _ reader: FormatReader) -> Self?
}

/// The generators that a profile can name.
enum Generators {
    static let all: [any DeclaredGenerator.Type] = [HeartRateDefinition.self, RecordedDefinition.self]
}
