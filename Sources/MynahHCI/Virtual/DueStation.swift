/// A station and the time of its next event.
struct DueStation: Comparable, Sendable {
    var time: AirTime
    var station: Station

    /// Whether the first event is earlier; at the same time, the smaller station number comes first.
    static func < (left: DueStation, right: DueStation) -> Bool {
        left.time == right.time ? left.station < right.station : left.time < right.time
    }
}
