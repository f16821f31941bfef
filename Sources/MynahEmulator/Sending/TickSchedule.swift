import MynahCore
import MynahProfiles

/// The times at which values with `every` and recorded values are due.
///
/// Time is zero when the device starts. Tick *n* of a value is due at *n* × its period, whether or not
/// anyone is subscribed, so runs are reproducible. A recording begins with the first subscription.
///
/// The schedule sends nothing: the caller asks for the tick that is due, and reports the ticks that it has
/// sent. Ticks that were missed since the last sent one are sent one by one.
struct TickSchedule {
    struct Tick: Hashable {
        var attribute: AttributeKey
        /// The number of the tick, counted from 1.
        var number: Int64
        var due: Duration
    }

    private struct Entry {
        enum Times {
            case every(Duration)
            case recorded(RecordedValues, since: Duration)
        }
        var times: Times
        var next: Int64

        /// The time of the next tick, or `nil` if there is none.
        var due: Duration? {
            switch times {
            case .every(let period): period * next
            case .recorded(let values, let since): values.due(next).map { since + $0 }
            }
        }
    }

    private var entries: [AttributeKey: Entry] = [:]

    /// The earliest tick that has not been sent; of two for the same time, that of the attribute defined
    /// first.
    var earliest: Tick? {
        var found: Tick?
        for (attribute, entry) in entries {
            guard let due = entry.due else { continue }
            let tick = Tick(attribute: attribute, number: entry.next, due: due)
            guard let other = found else {
                found = tick
                continue
            }
            if (tick.due, tick.attribute.rawValue) < (other.due, other.attribute.rawValue) { found = tick }
        }
        return found
    }

    /// Starts the ticks of an attribute; the first is the next one that is due after `now`.
    mutating func start(_ attribute: AttributeKey, every period: Duration, now: Duration) {
        guard entries[attribute] == nil else { return }
        entries[attribute] = Entry(
            times: .every(period), next: Self.number(at: now, every: period) + 1)
    }

    /// Starts a recording at `now`, unless it is already running.
    mutating func start(_ attribute: AttributeKey, _ recording: RecordedValues, now: Duration) {
        guard entries[attribute] == nil else { return }
        entries[attribute] = Entry(times: .recorded(recording, since: now), next: 1)
    }

    mutating func stop(_ attribute: AttributeKey) {
        entries[attribute] = nil
    }

    /// The attributes whose ticks are scheduled.
    var attributes: [AttributeKey] { entries.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Records that the earliest tick was sent.
    mutating func sent(_ tick: Tick) {
        entries[tick.attribute]?.next = tick.number + 1
    }

    /// Returns the number of complete periods at a time.
    static func number(at time: Duration, every period: Duration) -> Int64 {
        guard time > .zero, period > .zero else { return 0 }
        // Integers of nanoseconds: the quotient of two Durations is a Double, which would lose ticks after
        // days.
        return nanoseconds(time) / max(1, nanoseconds(period))
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension Duration {
    fileprivate static func * (duration: Duration, count: Int64) -> Duration {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let product = nanoseconds.multipliedReportingOverflow(by: count)
        // 292 years: no device runs that long, but a period from a file must not cause a trap.
        return .nanoseconds(product.overflow ? .max : product.partialValue)
    }
}
