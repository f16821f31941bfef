import MynahCore
import MynahSupport
import MynahValues

/// How a behavior changes the value that the profile gives a tick.
///
/// The result is a function of the tick, so a run can be repeated.
enum ValueChange: Hashable, Sendable {
    /// These fields of it are others.
    case fields([FieldChange])
    /// A Current Time with its day of the week, which goes on from a time that was set.
    case clock(SetClock?)

    /// The changed value; the given one if its layout does not have the fields.
    func value(_ original: [UInt8], at tick: UInt64, layout: ValueLayout?) -> [UInt8] {
        switch self {
        case .clock(let clock): return SetClock.value(original, clock, at: tick)
        case .fields(let changes):
            guard let layout, var fields = layout.decode(original) else { return original }
            for change in changes {
                guard let index = fields.firstIndex(where: { $0.name == change.name }),
                    let number = fields[index].value.number
                else { continue }
                fields[index].value = .number(change.number(number, at: tick))
            }
            return (try? layout.encode(fields)) ?? original
        }
    }
}

/// How one field of a value differs from the profile's number.
struct FieldChange: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Each step adds a number, and the sum wraps at the modulus.
        case shift(by: Double, below: Double)
        /// The value approaches `to` as a first-order lag; `nil` is the profile's number.
        case approach(from: Double, to: Double?, since: UInt64, interval: Duration)
    }

    var name: String
    var kind: Kind

    /// The time constant: after this time, 63 % of the way to a target is done.
    static let timeConstant = 1.5

    /// The number at a tick, instead of the profile's one.
    func number(_ original: Double, at tick: UInt64) -> Double {
        switch kind {
        case .shift(let difference, let modulus):
            let rest = (original + difference).truncatingRemainder(dividingBy: modulus)
            return rest < 0 ? rest + modulus : rest
        case .approach(let start, let target, let since, let interval):
            let end = target ?? original
            let (seconds, attoseconds) = interval.components
            let elapsed =
                Double(tick > since ? tick - since : 0) * (Double(seconds) + Double(attoseconds) / 1e18)
            return end + (start - end) * PortableMath.exp(-elapsed / Self.timeConstant)
        }
    }
}
