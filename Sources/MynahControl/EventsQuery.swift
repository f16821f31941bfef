package import MynahEmulator
import MynahSupport

/// The query of `GET /v1/events`: `?since=&last=&match=&limit=&hold=`.
///
/// - `since`: the number of the first event. The default is the last mark, or without marks the first event
///   since the run started or the journal was cleared.
/// - `last`: begin with this number of latest events, 1 to 10,000, of those since `since`.
/// - `match`: only events that match, as an `EventMatch` in object form or text form.
/// - `limit`: the largest number of events, 1 to 10,000; the default is 1,000.
/// - `hold`: a name that the client chooses for a stream. When the last stream with this name ends, the
///   phones with this name as their `holder` are removed.
package struct EventsQuery: Hashable, Sendable {
    /// The names of the query's parameters.
    package static let parameters = ["since", "last", "match", "limit", "hold"]

    /// The number of the first event, or `nil` for the default.
    package var since: UInt64?
    /// The number of past events to return, which are the latest ones, or `nil` to return all of them.
    package var last: UInt64?
    /// The match for the events, or `nil` for all events; a device must be given by its name in events.
    package var match: EventMatch?
    /// The largest number of events on a page.
    package var limit = 1000
    /// The name of the stream in `hold`, or `nil` if no phone is removed when the stream ends.
    package var hold: String?

    /// The largest length of a name in `hold`, in bytes.
    static let longestHolder = 64

    /// The pattern of a name in `hold`.
    static let holderPattern = "^[A-Za-z0-9._-]{1,64}$"

    /// Whether a name is valid in `hold`, and as the `holder` of a phone.
    static func isHolder(_ name: String) -> Bool {
        (1...longestHolder).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The problem of a name that is not valid in `hold` or as the `holder` of a phone.
    static func wrongHolder(_ name: String) -> ControlProblem {
        ControlProblem(
            400,
            """
            a holder has 1 to \(longestHolder) letters, digits, dots, hyphens and underscores, and \
            \(ControlProblem.shortened(name)) has not
            """)
    }

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
        hold = try body.text("hold")
        if let hold, !Self.isHolder(hold) { throw Self.wrongHolder(hold) }
    }

    /// Converts a parameter's value to the JSON of the corresponding member in a request's body.
    private static func json(_ name: String, _ value: String) throws(ControlProblem) -> JSON {
        guard name != "hold" else { return .string(value) }
        guard name == "match" else { return Int(value).map { .integer($0) } ?? .string(value) }
        guard value.drop(while: { $0 == " " }).first == "{" else { return .string(value) }
        do throws(JSON.ParseError) {
            return try JSON(parsing: Array(value.utf8), rounding: false)
        } catch {
            throw .unread("match", error)
        }
    }

    /// Returns the number of the first requested event.
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
