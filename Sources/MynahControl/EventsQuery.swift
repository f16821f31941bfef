package import MynahEmulator
import MynahSupport

/// The query of `GET /v1/events`: `?since=&last=&match=&limit=`.
///
/// - `since`: the number of the first event. The default is the last mark, or without marks the first event
///   since the run started or the journal was cleared.
/// - `last`: begin with this number of latest events, 1 to 10,000, of those since `since`.
/// - `match`: only events that match, as an `EventMatch` in object form or text form.
/// - `limit`: the largest number of events, 1 to 10,000; the default is 1,000.
package struct EventsQuery: Hashable, Sendable {
    /// The names of the query's parameters.
    package static let parameters = ["since", "last", "match", "limit"]

    /// The number of the first event, or `nil` for the default.
    package var since: UInt64?
    /// The number of latest events with which to begin, or `nil` for all events.
    package var last: UInt64?
    /// The match for the events, in which devices have their names in events, or `nil` for all events.
    package var match: EventMatch?
    /// The largest number of events on a page.
    package var limit = 1000

    /// Parses the items of the query after percent-decoding.
    ///
    /// Throws a problem with status 400 that names the invalid item.
    package init(_ items: [(name: String, value: String)]) throws(ControlProblem) {
        var members: [JSON.Member] = []
        for (name, value) in items {
            guard Self.parameters.contains(name) else {
                throw .unknown("query parameter", name, among: Self.parameters)
            }
            members.append(.init(name, try Self.json(name, value)))
        }
        let body = try ControlBody(.object(members), known: Self.parameters)
        since = try body.since()
        last = try body.number("last", in: 1...10_000).map { UInt64($0) }
        match = try body.match("match")
        if let limit = try body.number("limit", in: 1...10_000) { self.limit = limit }
    }

    /// Converts a parameter's value to the JSON of the corresponding member in a request's body.
    private static func json(_ name: String, _ value: String) throws(ControlProblem) -> JSON {
        guard name == "match" else { return Int(value).map { .integer($0) } ?? .string(value) }
        guard value.drop(while: { $0 == " " }).first == "{" else { return .string(value) }
        do throws(JSON.ParseError) {
            return try JSON(parsing: Array(value.utf8), rounding: false)
        } catch {
            throw .unread("match", error)
        }
    }

    /// Returns the number of the first event.
    ///
    /// Throws a problem with status 400 if `since` is after the next event.
    package func start(in journal: Journal) throws(ControlProblem) -> UInt64 {
        guard let last else { return try journal.start(since: since) }
        // The last events may be before the last mark.
        let kept = journal.kept
        let first = max(kept.lowerBound, kept.upperBound > last ? kept.upperBound - last : 1)
        return since == nil ? first : max(try journal.start(since: since), first)
    }

    /// Returns the requested events so far, up to the limit.
    ///
    /// Throws a problem with status 400 if `since` is after the next event.
    package func page(of journal: Journal) async throws(ControlProblem) -> FoundEvents {
        let start = try start(in: journal)
        var events: [Journal.Entry] = []
        var lost: UInt64 = 0
        await journal.forEachSlice(from: start) { slice in
            lost += slice.lost
            let matching = slice.entries.filter { match?.matches($0.event) ?? true }
            events += matching.prefix(limit - events.count)
            return events.count < limit
        }
        return FoundEvents(events: events, next: events.last.map { $0.seq + 1 } ?? start + lost, lost: lost)
    }
}
