import MynahCore
import MynahSupport

/// `generate: heart-rate`: a Heart Rate Measurement that moves between two rates (Heart Rate Service
/// 1.0, 3.1.1).
public struct HeartRateDefinition: GeneratorDefinition {
    /// `heart-rate`.
    public static let name = "heart-rate"
    /// `min`, `max`, `period`.
    public static let keys = ["min", "max", "period"]
    /// Flags, and the rate in one byte, or in two if it can exceed 255.
    public var maximumLength: Int { maximum > 255 ? 3 : 2 }

    /// The lowest rate, in beats a minute.
    public var minimum: Int
    /// The highest rate, in beats a minute.
    public var maximum: Int
    /// The period of the movement.
    public var period: Duration

    /// The generator of one run.
    public func makeGenerator(for run: GeneratorRun) -> any ValueGenerator {
        HeartRateGenerator(definition: self, run: run)
    }
}

extension HeartRateDefinition: DecodableGenerator {
    static func decode(_ fields: Fields, _ decoder: inout ProfileDecoder) -> HeartRateDefinition? {
        let minimum = fields["min"].map { decoder.integer($0, "min", in: 0...65535) } ?? 60
        let maximum = fields["max"].map { decoder.integer($0, "max", in: 0...65535) } ?? 100
        let period =
            fields["period"].map { decoder.duration($0, "period", atLeast: .milliseconds(1)) } ?? .seconds(30)
        guard let minimum, let maximum, let period else { return nil }
        guard minimum <= maximum else {
            decoder.error(
                at: fields["min"] ?? fields["max"], "min is \(minimum) and max is \(maximum); swap them")
            return nil
        }
        return HeartRateDefinition(minimum: minimum, maximum: maximum, period: period)
    }
}

private struct HeartRateGenerator: ValueGenerator {
    let definition: HeartRateDefinition
    let run: GeneratorRun

    /// A sine from the middle upwards, and up to 2 % of the swing of noise on it.
    func value(at tick: UInt64) -> [UInt8] {
        let (low, high) = (Double(definition.minimum), Double(definition.maximum))
        let movement = NumberGenerator.Movement.sine(min: low, max: high, period: definition.period)
        let middle = NumberGenerator(movement: movement).number(at: tick, every: run.interval, seed: run.seed)
        var random = SeededRandom(seed: NumberGenerator.mixed(run.seed, tick, stream: 1))
        let rate = middle + Double.random(in: -0.02...0.02, using: &random) * (high - low)
        let beats = UInt16(min(max(rate.rounded(), low), high))
        var writer = ByteWriter(capacity: 3)
        // Flags bit 0: the rate takes two bytes. Sensor contact is not said to be supported.
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
