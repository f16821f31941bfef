import MynahCore

/// The advertising sets of one device, as far as a capture shows them.
///
/// Extended sets have an Advertising SID. Legacy sets of one address have none. They are distinguished by the
/// kind and the data of their events, if these alternate.
struct ObservedSets: Hashable {
    /// Distinguishes sets while they are observed.
    enum Key: Hashable {
        case legacy
        case extended(identifier: UInt8?)
        /// A set of the captured host, with the lowest number that no other set had when this one was
        /// enabled.
        case ofHost(Int)
    }

    /// The kind and the payload of the reports that are assumed to be of one legacy set.
    private struct Class: Hashable {
        var kind: ScanReport.Kind
        var payload: Int32?
    }

    private var keys: [Key] = []
    private var observed: [ObservedAdvertising] = []
    /// The number of directed advertising events.
    var directedCount = 0

    /// The most sets that a profile lists.
    static let limit = 64
    /// The maximum number of payloads of one kind, each of which may be that of a set of its own.
    ///
    /// If there are more, they are assumed to be one payload that changes.
    private static let payloadLimit = 4

    /// The set with this key, which is empty if it was not observed.
    subscript(key: Key) -> ObservedAdvertising {
        get { keys.firstIndex(of: key).map { observed[$0] } ?? ObservedAdvertising() }
        _modify {
            let index = place(of: key)
            yield &observed[index]
        }
    }

    private mutating func place(of key: Key) -> Int {
        if let index = keys.firstIndex(of: key) { return index }
        keys.append(key)
        observed.append(ObservedAdvertising())
        return observed.count - 1
    }

    /// Whether no advertising was seen.
    var isEmpty: Bool { observed.allSatisfy(\.isEmpty) }

    /// The sets, in the order in which they were first observed.
    ///
    /// An extended set has its Advertising SID as its index, if there are enough other sets for the lower
    /// indices.
    var sets: [ObservedAdvertising] {
        let sets = observedSets
        let extended = sets.filter { $0.identifier != nil }.sorted {
            ($0.identifier ?? 0) < ($1.identifier ?? 0)
        }
        var others = sets.filter { $0.identifier == nil }
        var placed: [ObservedAdvertising] = []
        for set in extended {
            let missing = Int(set.identifier ?? 0) - placed.count
            if missing > 0, missing <= others.count {
                placed += others.prefix(missing)
                others.removeFirst(missing)
            }
            placed.append(set)
        }
        return placed + others
    }

    private var observedSets: [ObservedAdvertising] {
        zip(keys, observed).flatMap { key, set in
            guard key == .legacy else { return [set] }
            return Self.divided(set) { Class(kind: $0.kind) }.flatMap { part in
                Self.isOneValue(part)
                    ? [part] : Self.divided(part) { Class(kind: $0.kind, payload: $0.payload) }
            }
        }.filter { !$0.isEmpty }
    }

    /// The first set, or an empty one if no advertising was seen.
    var main: ObservedAdvertising { sets.first ?? ObservedAdvertising() }

    /// Sets the number of times between reports that are needed to compute an advertising interval.
    mutating func needGaps(_ count: Int) {
        for index in observed.indices { observed[index].neededGaps = count }
    }

    /// The fields in the advertising data and the scan responses of all sets.
    var content: AdvertisementData {
        var content = AdvertisementData()
        for set in sets {
            content.add(set.usualData)
            content.add(set.usualScanResponse)
        }
        return content
    }

    // MARK: Legacy sets

    /// Whether the payloads are assumed to be one payload that changes, and not those of several sets.
    private static func isOneValue(_ set: ObservedAdvertising) -> Bool {
        let count = set.data.list.count
        return count < 2 || count > payloadLimit || ImportedAdvertising.hasChangingValues(set.data)
    }

    /// Divides a set into several ones if its reports alternate between several classes.
    ///
    /// If a device changes only at times from one class to another, the set is not divided: the reports of
    /// the rarer classes then follow each other.
    private static func divided(
        _ set: ObservedAdvertising, by name: (ObservedAdvertising.Heard) -> Class
    ) -> [ObservedAdvertising] {
        let reports = set.heard.filter { $0.kind != .scanResponse }
        var order: [Class] = []
        var counts: [Class: Int] = [:]
        var runs: [Class: Int] = [:]
        var last: (name: Class, time: Int64)?
        for report in reports {
            let name = name(report)
            // An event is heard on up to three channels, within 10 ms.
            if let last, last.name == name, report.time &- last.time < 10_000 { continue }
            if counts[name] == nil { order.append(name) }
            counts[name, default: 0] += 1
            if last?.name != name { runs[name, default: 0] += 1 }
            last = (name, report.time)
        }
        guard order.count > 1, let most = counts.values.max() else { return [set] }
        var isMostSeen = false
        for name in order {
            let count = counts[name] ?? 0
            if count == most, !isMostSeen {
                isMostSeen = true
                continue
            }
            guard count >= 3, 5 * (runs[name] ?? 0) >= 3 * count else { return [set] }
        }
        return parts(of: set, order, by: name)
    }

    private static func parts(
        of set: ObservedAdvertising, _ order: [Class], by name: (ObservedAdvertising.Heard) -> Class
    ) -> [ObservedAdvertising] {
        var parts: [Class: ObservedAdvertising] = [:]
        var last: Class?
        for report in set.heard {
            if report.kind == .scanResponse {
                // A scan response follows the event that it belongs to.
                guard let last else { continue }
                let bytes = set.scanResponses.list[Int(report.payload)].bytes
                parts[last]?.addScanResponse(bytes, at: report.time)
            } else {
                let name = name(report)
                last = name
                var part = parts[name] ?? set.unobserved
                part.note(report.kind, nil)
                part.hear(set.data.list[Int(report.payload)].bytes, at: report.time)
                parts[name] = part
            }
        }
        return order.compactMap { parts[$0] }
    }
}
