/// A time on an air, counted from the air's beginning.
package struct AirTime: Comparable, Hashable, Sendable {
    /// The microseconds since the beginning.
    package var microseconds: Int64

    /// Makes a time, in microseconds since the beginning.
    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The beginning.
    package static let zero = AirTime(microseconds: 0)

    /// Whether the first time is earlier.
    package static func < (left: AirTime, right: AirTime) -> Bool { left.microseconds < right.microseconds }

    /// The time that is a number of microseconds later.
    package static func + (time: AirTime, microseconds: Int64) -> AirTime {
        AirTime(microseconds: time.microseconds &+ microseconds)
    }

    /// The number of microseconds from the second time to the first.
    package static func - (left: AirTime, right: AirTime) -> Int64 { left.microseconds &- right.microseconds }

    /// The earlier of two times; `nil` means never.
    static func earlier(_ one: AirTime?, _ other: AirTime?) -> AirTime? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}

/// A station that sends and receives on an air.
///
/// The number of a station is random, so that processes need not coordinate the numbers.
package struct Station: Hashable, Sendable, Comparable {
    /// The number of the station, which is never 0.
    package let rawValue: UInt64

    /// Makes the station with this number.
    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Orders stations by their number, so that the order is the same in each run.
    package static func < (left: Station, right: Station) -> Bool { left.rawValue < right.rawValue }
}
