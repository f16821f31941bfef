/// A station and the time of its next event.
struct DueStation: Comparable, Sendable {
    var time: AirTime
    var station: Station

    /// The earlier one, and at the same time the one with the smaller number.
    static func < (left: DueStation, right: DueStation) -> Bool {
        left.time == right.time ? left.station < right.station : left.time < right.time
    }
}
