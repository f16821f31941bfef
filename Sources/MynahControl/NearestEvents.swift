package import MynahEmulator
package import MynahSupport

/// The events that differ least from a match: at most three, all with the event name of the match.
package struct NearestEvents: Sendable {
    /// An event and its differences from the match.
    package struct Candidate: Hashable, Sendable {
        /// The event.
        package let entry: Journal.Entry
        /// The members of the match in which the event differs; empty if it matches.
        package let differs: [String]

        /// The event as one JSON object, with `differs` as its last member.
        package var json: JSON {
            let differs = JSON.Member("differs", .array(differs.map { .string($0) }))
            guard case .object(let members) = entry.json else { return .object([differs]) }
            return .object(members + [differs])
        }
    }

    private var nearest: NearestMatches<Journal.Entry>

    /// The candidates so far; the first one differs in the fewest members.
    package var candidates: [Candidate] {
        nearest.candidates.map { Candidate(entry: $0.item, differs: $0.differs) }
    }

    /// Makes an empty list of the events nearest to a match.
    package init(to match: EventMatch) {
        nearest = NearestMatches(to: match, limit: 3)
    }

    /// Considers an event, which must be later than those of earlier calls.
    package mutating func add(_ entry: Journal.Entry) { nearest.compare(entry, entry.event) }

    /// The events as a JSON list.
    package var json: JSON { .array(candidates.map(\.json)) }
}
