import MynahCore
import MynahProfiles

/// The times at which values with `every`, and those of recordings, are due.
///
/// Time begins at zero when the device starts.
///
/// The schedule sends nothing itself: the emulator asks which tick is due, and reports sent ticks. Tick *n*
/// of a value is due at *n* × its period after the start, whether or not anyone is subscribed, so that a run
/// can be repeated. A recording begins with the first subscription. Ticks that were missed since the last
/// sent one are sent one by one.
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

    /// The earliest tick that has not been sent; of two at the same time, that of the attribute defined
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

    /// Begins the ticks of an attribute at `now`: the first is the next one due after it.
    mutating func start(_ attribute: AttributeKey, every period: Duration, now: Duration) {
        guard entries[attribute] == nil else { return }
        entries[attribute] = Entry(
            times: .every(period), next: Self.number(at: now, every: period) + 1)
    }

    /// Begins a recording at `now`, unless it is running already.
    mutating func start(_ attribute: AttributeKey, _ recording: RecordedValues, now: Duration) {
        guard entries[attribute] == nil else { return }
        entries[attribute] = Entry(times: .recorded(recording, since: now), next: 1)
    }

    mutating func stop(_ attribute: AttributeKey) {
        entries[attribute] = nil
    }

    /// The attributes whose ticks are scheduled.
    var attributes: [AttributeKey] { entries.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Notes that the earliest tick was sent.
    mutating func sent(_ tick: Tick) {
        entries[tick.attribute]?.next = tick.number + 1
    }

    /// The number of complete periods at a time.
    static func number(at time: Duration, every period: Duration) -> Int64 {
        guard time > .zero, period > .zero else { return 0 }
        // Whole nanoseconds: a Duration's quotient is a Double, which would lose ticks after some days.
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
        // 292 years: no device runs that long, but a period from a file must not trap.
        return .nanoseconds(product.overflow ? .max : product.partialValue)
    }
}
