import MynahCore
import MynahHCI

/// The periodic advertising train of an advertising set, as far as a capture shows it.
struct ObservedTrain: Hashable {
    /// The shortest and the longest interval, in units of 1.25 ms, or `nil` if it is not known.
    ///
    /// Only a host that advertises sets a range; all others know the interval in use.
    private(set) var interval: ClosedRange<UInt16>?
    /// Whether other intervals were seen later.
    private(set) var hasOtherIntervals = false
    /// The periodic advertising data.
    private(set) var data = ObservedAdvertising.Payloads()
    /// The number of events that were received only in part.
    var incompleteCount = 0
    /// The number of observations of subevents, which only trains with responses have.
    var subeventCount = 0

    /// The shortest interval, 7.5 ms (Core Specification, Vol 4, Part E, 7.8.61).
    private static let shortestInterval: UInt16 = 6

    /// Notes the interval; one that is not valid is ignored.
    mutating func note(_ interval: ClosedRange<UInt16>) {
        guard interval.lowerBound >= Self.shortestInterval else { return }
        if let known = self.interval { hasOtherIntervals = hasOtherIntervals || known != interval }
        self.interval = self.interval ?? interval
    }

    /// Adds the data of an event.
    mutating func addData(_ bytes: [UInt8], at time: Int64) { data.add(bytes, at: time) }
}

/// Follows the trains to which the hosts of a capture are synchronized (Core Specification, Vol 4, Part E,
/// 7.7.65.14 to 7.7.65.16).
struct ReceivedTrains {
    private struct Key: Hashable {
        var source: Int
        var handle: UInt16
    }

    private struct Train {
        var sync: LEPeriodicSync
        /// The reports so far of an event whose data is not complete.
        var pieces: [UInt8] = []
    }

    /// The part of an event that a report completes.
    enum Outcome: Hashable {
        case data([UInt8])
        /// The controller did not receive all data of the event.
        case incomplete
        /// A subevent, whose data has responses.
        case subevent
    }

    private var trains: [Key: Train] = [:]
    /// The number of reports about trains whose synchronization was not captured.
    private(set) var strayCount = 0
    /// The maximum length of the data of one event, in bytes (7.8.62).
    private static let longestData = 1650

    /// Notes that a host is synchronized to a train.
    mutating func begin(_ sync: LEPeriodicSync, _ source: Int) {
        trains[Key(source: source, handle: sync.handle)] = Train(sync: sync)
    }

    /// Notes that synchronization was lost.
    mutating func end(_ handle: UInt16, _ source: Int) {
        trains[Key(source: source, handle: handle)] = nil
    }

    /// Notes a reset of a controller, which ends all its synchronizations.
    mutating func reset(_ source: Int) {
        for key in Array(trains.keys) where key.source == source { trains[key] = nil }
    }

    /// Adds a report; returns the train and what the report completes, or `nil` if more data must follow.
    mutating func add(
        _ report: LEPeriodicReport, isOfSubevent: Bool, _ source: Int
    ) -> (sync: LEPeriodicSync, outcome: Outcome)? {
        let key = Key(source: source, handle: report.handle)
        guard var train = trains[key] else {
            strayCount += 1
            return nil
        }
        if isOfSubevent { return (train.sync, .subevent) }
        let data = train.pieces + report.data
        train.pieces = report.progress == .more && data.count <= Self.longestData ? data : []
        trains[key] = train
        switch report.progress {
        case .complete: return (train.sync, .data(data))
        case .more: return data.count <= Self.longestData ? nil : (train.sync, .incomplete)
        case .truncated: return (train.sync, .incomplete)
        }
    }

    // MARK: Versions of events

    /// Returns an event about a train as its first version, with whether it is about a subevent.
    ///
    /// Controllers have other versions for trains with responses (7.7.65.14 and 7.7.65.15), and other events
    /// for synchronizations that a peer transferred (7.7.65.24).
    static func firstVersion(of event: HCIEvent) -> (event: HCIEvent, isOfSubevent: Bool) {
        guard event.code == HCIEvent.leMeta, let subevent = event.parameters.first else {
            return (event, false)
        }
        var event = event
        switch subevent {
        case 0x24: event.parameters[0] = HCIEvent.LESubevent.periodicSyncEstablished
        case 0x18 where event.parameters.count > 6, 0x26 where event.parameters.count > 6:
            // The connection handle and the service data of the transfer follow the status.
            event.parameters.removeSubrange(2..<6)
            event.parameters[0] = HCIEvent.LESubevent.periodicSyncEstablished
        case 0x25 where event.parameters.count > 9:
            // The event counter and the number of the subevent precede the data status.
            let isOfSubevent = event.parameters[8] != 0xFF
            event.parameters.removeSubrange(6..<9)
            event.parameters[0] = HCIEvent.LESubevent.periodicReport
            return (event, isOfSubevent)
        default: break
        }
        return (event, false)
    }
}
