package import MynahSupport

/// A request for all events so far, in pages, because an instance returns at most 10,000 events at once.
package struct EventPages: Hashable, Sendable {
    /// The largest number of events on a page.
    package static let limit = 10_000

    private let match: String?
    private let limit: Int
    private var since: Int?
    private var isComplete = false
    private var events: [JSON] = []
    private var next: Int?
    private var lost = 0

    /// Makes a request for the events that match, from `since` or from the last mark on.
    package init(since: Int? = nil, match: String? = nil, limit: Int = EventPages.limit) {
        self.since = since
        self.match = match
        self.limit = limit
    }

    /// The path and query for a stream of the events.
    package var streamTarget: String { target([]) }

    /// The path and query for the next page, or `nil` after the last one.
    package var target: String? { isComplete ? nil : target(["limit=\(limit)"]) }

    private func target(_ items: [String]) -> String {
        let all =
            items + (since.map { ["since=\($0)"] } ?? [])
            + (match.map { ["match=" + ControlClient.encode($0)] } ?? [])
        return "/v1/events" + (all.isEmpty ? "" : "?" + all.joined(separator: "&"))
    }

    /// Adds the response to the request for `target`.
    package mutating func add(_ page: JSON) {
        guard case .object(let members) = page else {
            isComplete = true
            return
        }
        let value = { (key: String) in members.first { $0.key == key }?.value }
        let found = value("events")?.arrayValue ?? []
        events += found
        lost += value("lost")?.integerValue ?? 0
        let next = value("next")?.integerValue
        // A page that does not lead to later events is the last one too.
        isComplete = found.count < limit || (next ?? 0) <= (since ?? 0)
        self.next = next ?? self.next
        since = next
    }

    /// All pages combined: `{events, next}`, and `lost` if events were lost.
    package var answer: JSON {
        .object(
            [.init("events", .array(events))] + (next.map { [.init("next", .integer($0))] } ?? [])
                + (lost == 0 ? [] : [.init("lost", .integer(lost))]))
    }
}
