import MynahCore
import MynahSupport

/// `generate: heart-rate`: Heart Rate Measurement values that move between two rates (Heart Rate Service 1.0,
/// 3.1.1).
public struct HeartRateDefinition: GeneratorDefinition {
    /// `heart-rate`.
    public static let name = "heart-rate"
    /// The length of a value: one byte for the flags, and one for the rate, or two if the rate can exceed
    /// 255.
    public var maximumLength: Int { maximum > 255 ? 3 : 2 }

    /// The lowest rate, in beats a minute.
    public var minimum: Int
    /// The highest rate, in beats a minute.
    public var maximum: Int
    /// The period of the movement.
    public var period: Duration

    /// Makes the generator for a run.
    public func makeGenerator(for run: GeneratorRun) -> any ValueGenerator {
        HeartRateGenerator(definition: self, run: run)
    }
}

extension HeartRateDefinition: DeclaredGenerator {
    private static let min = Field(
        "min", .integer(0...65535, "beats"), doc: "The lowest rate, in beats a minute; left out: 60.")
    private static let max = Field(
        "max", .integer(0...65535, "beats"), doc: "The highest rate, in beats a minute; left out: 100.")
    private static let period = Field(
        "period", .duration(.milliseconds(1)), doc: "The time of one swing; left out: 30 s.")
    static let table = Section(
        "heart-rate", what: "generate: heart-rate", [ValueSection.generate(name), min, max, period])

    static func read(_ fields: Fields, _ reader: FormatReader) -> HeartRateDefinition? {
        let minimum = fields.read(min, usual: 60)
        let maximum = fields.read(max, usual: 100)
        let period = fields.read(period, usual: .seconds(30))
        guard let minimum, let maximum, let period else { return nil }
        guard minimum <= maximum else {
            reader.error(at: fields[min] ?? fields[max], "min is \(minimum) and max is \(maximum); swap them")
            return nil
        }
        return HeartRateDefinition(minimum: minimum, maximum: maximum, period: period)
    }
}

private struct HeartRateGenerator: ValueGenerator {
    let definition: HeartRateDefinition
    let run: GeneratorRun

    /// Returns the value at a tick: a sine wave that rises from the middle, with noise.
    ///
    /// The noise is at most 2 % of the amplitude.
    func value(at tick: UInt64) -> [UInt8] {
        let (low, high) = (Double(definition.minimum), Double(definition.maximum))
        let movement = NumberGenerator.Movement.sine(min: low, max: high, period: definition.period)
        let middle = NumberGenerator(movement: movement).number(at: tick, every: run.interval, seed: run.seed)
        var random = SeededRandom(seed: NumberGenerator.mixed(run.seed, tick, stream: 1))
        let rate = middle + Double.random(in: -0.02...0.02, using: &random) * (high - low)
        let beats = UInt16(min(max(rate.rounded(), low), high))
        var writer = ByteWriter(capacity: 3)
        // Bit 0 of the flags: the rate has two bytes. The flags report no sensor contact feature.
        if definition.maximum > 255 {
            writer.write(UInt8(0x01))
            writer.write(beats)
        } else {
            writer.write(UInt8(0x00))
            writer.write(UInt8(beats))
        }
        return writer.bytes
    }
}
