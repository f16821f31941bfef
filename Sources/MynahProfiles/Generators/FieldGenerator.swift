import MynahCore
import MynahValues

/// A generator of the value of one field, which changes at each tick (`ValueGenerator`).
struct FieldGenerator: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        case number(NumberGenerator)
        /// A number that is counted in integers of the field's type, and wraps around.
        case counter(NumberGenerator)
        /// Values other than numbers, which are repeated in order.
        case list([FieldValue])
        /// A date and time, or seconds since 1970; if `start` is `nil`, the clock starts at
        /// `GeneratorRun.start`.
        case clock(start: Int64?)
    }

    var source: Source
    var shape: FieldRange
    /// The unit of the numbers, or `nil` for the field's first unit.
    var unit: String?

    /// Returns the value at a tick of a run, limited to the range of the field's type.
    func value(at tick: UInt64, of run: GeneratorRun, seed: UInt64) -> FieldValue {
        switch source {
        case .number(let numbers): return fitted(numbers.number(at: tick, every: run.interval, seed: seed))
        case .counter(let numbers):
            let count = numbers.number(at: tick, every: run.interval, seed: seed).rounded()
            return fitted(wrapped(count) * shape.step(in: unit) + shape.resolution(in: unit).offset)
        case .list(let values): return values[Int(tick % UInt64(values.count))]
        case .clock(let start):
            let now = Self.clock(start ?? run.start, tick, run.interval)
            return shape.kind == .dateTime ? .text(CivilTime.text(of: now)) : fitted(Double(now))
        }
    }

    private func wrapped(_ count: Double) -> Double {
        guard case .integer(_, let isSigned) = shape.kind, let width = shape.width, count.isFinite else {
            return count
        }
        let rest = count.truncatingRemainder(dividingBy: width)
        let place = rest < 0 ? rest + width : rest
        return isSigned && place >= width / 2 ? place - width : place
    }

    private func fitted(_ number: Double) -> FieldValue {
        if shape.kind == .boolean { return .boolean(number >= 0.5) }
        let limits = shape.limits(in: unit)
        // Noise on very large numbers may result in NaN.
        let fitting =
            number.isNaN ? limits.lowerBound : min(max(number, limits.lowerBound), limits.upperBound)
        if case .integer = shape.kind, shape.step(in: unit) == 1, let whole = Int(exactly: fitting.rounded())
        {
            return .integer(whole)
        }
        return .number(fitting)
    }

    private static func clock(_ start: Int64, _ tick: UInt64, _ interval: Duration) -> Int64 {
        let (seconds, attoseconds) = interval.components
        let nanoseconds =
            UInt64(max(0, seconds)) &* 1_000_000_000 &+ UInt64(max(0, attoseconds / 1_000_000_000))
        let (product, isTooLong) = tick.multipliedReportingOverflow(by: nanoseconds)
        guard !isTooLong else { return CivilTime.last }
        return min(CivilTime.last, start + Int64(product / 1_000_000_000))
    }
}
