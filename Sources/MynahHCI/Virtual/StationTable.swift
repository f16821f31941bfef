import MynahSupport

/// A table with one value for each station.
///
/// A value is changed in place. When a station is added or removed, only indices move, and not the values,
/// which are large. An index is valid until a station is removed.
struct StationTable<Value> {
    private var places = SortedMap<Station, Int>()
    private var stations: [Station] = []
    private var values: [Value] = []

    var count: Int { values.count }
    var indices: Range<Int> { values.indices }

    /// The index of a station, or `nil` if it is not in the table.
    func index(of station: Station) -> Int? { places[station] }

    /// The station at an index.
    func station(at index: Int) -> Station { stations[index] }

    /// The value at an index.
    subscript(at index: Int) -> Value {
        _read { yield values[index] }
        _modify { yield &values[index] }
    }

    /// Adds a station with its value; the station must not be in the table yet.
    mutating func add(_ station: Station, _ value: Value) {
        places[station] = values.count
        stations.append(station)
        values.append(value)
    }

    /// Removes a station; the last station of the table gets the index that becomes free.
    mutating func remove(_ station: Station) {
        guard let index = places.removeValue(forKey: station), let last = stations.last else { return }
        if last != station {
            values.swapAt(index, values.count - 1)
            stations[index] = last
            places[last] = index
        }
        values.removeLast()
        stations.removeLast()
    }
}

extension StationTable: Sendable where Value: Sendable {}
