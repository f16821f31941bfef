/// A moment on an air, counted from its beginning.
package struct AirTime: Comparable, Hashable, Sendable {
    /// How long after the beginning.
    package var microseconds: Int64

    /// A time, in microseconds since the beginning.
    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The beginning.
    package static let zero = AirTime(microseconds: 0)

    /// Whether one comes before the other.
    package static func < (left: AirTime, right: AirTime) -> Bool { left.microseconds < right.microseconds }

    /// The time a number of microseconds later.
    package static func + (time: AirTime, microseconds: Int64) -> AirTime {
        AirTime(microseconds: time.microseconds &+ microseconds)
    }

    /// How many microseconds lie between two.
    package static func - (left: AirTime, right: AirTime) -> Int64 { left.microseconds &- right.microseconds }

    /// The earlier of two moments; `nil` means never.
    static func earlier(_ one: AirTime?, _ other: AirTime?) -> AirTime? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}

/// A station that sends and receives on an air.
///
/// The number of a station is random, so that processes need not agree on who assigns numbers.
package struct Station: Hashable, Sendable, Comparable {
    /// The number; no station has 0.
    package let rawValue: UInt64

    /// The station with this number.
    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// An order, the same in each run.
    package static func < (left: Station, right: Station) -> Bool { left.rawValue < right.rawValue }
}
