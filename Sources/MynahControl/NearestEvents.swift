package import MynahEmulator
package import MynahSupport

/// The events that came nearest to a match: at most three of its name, with what they differ in.
///
/// Fewer different members are nearer; of equally near events the later ones are kept, and come first.
package struct NearestEvents: Sendable {
    /// An event, and what it differs in.
    package struct Candidate: Hashable, Sendable {
        /// The event.
        package let entry: Journal.Entry
        /// The members of the match that the event differs in; empty if it matches.
        package let differs: [String]

        /// The event as one JSON object that ends with `differs`.
        package var json: JSON {
            let differs = JSON.Member("differs", .array(differs.map { .string($0) }))
            guard case .object(let members) = entry.json else { return .object([differs]) }
            return .object(members + [differs])
        }
    }

    private static let limit = 3
    private let match: EventMatch
    /// The nearest events so far, the nearest first.
    package private(set) var candidates: [Candidate] = []

    /// The nearest events to a match, of those that it takes.
    package init(to match: EventMatch) {
        self.match = match
    }

    /// Takes an event that is later than those before.
    package mutating func take(_ entry: Journal.Entry) {
        guard entry.event.name == match.name else { return }
        let differs = match.differing(from: entry.event)
        let index = candidates.firstIndex { $0.differs.count >= differs.count } ?? candidates.count
        guard index < Self.limit else { return }
        candidates.insert(Candidate(entry: entry, differs: differs), at: index)
        if candidates.count > Self.limit { candidates.removeLast() }
    }

    /// The events as a list.
    package var json: JSON { .array(candidates.map(\.json)) }
}
