import MynahCore
import MynahSupport
import MynahValues

/// A change that a behavior makes to the profile's value at every tick.
///
/// The result depends only on the tick number, so runs are reproducible.
enum ValueChange: Hashable, Sendable {
    /// The numbers of some fields are changed.
    case fields([FieldChange])
    /// The value is a Current Time that continues from the set time; `nil` keeps the profile's time.
    ///
    /// The day of the week is computed.
    case clock(SetClock?)

    /// Returns the changed value, or the original value if its layout does not have the fields.
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

/// A change of one field of a value, relative to the profile's number.
struct FieldChange: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A number is added to the field; the sum wraps around at the modulus `below`.
        case shift(by: Double, below: Double)
        /// The field approaches `to` as a first-order lag does; if `to` is `nil`, the target is the
        /// profile's number.
        case approach(from: Double, to: Double?, since: UInt64, interval: Duration)
    }

    var name: String
    var kind: Kind

    /// The time constant of the lag, in seconds, after which 63 % of the change is done.
    static let timeConstant = 1.5

    /// Returns the field's number at a tick; `original` is the profile's number at that tick.
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
