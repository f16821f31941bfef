package import MynahEmulator
package import MynahSupport

/// The events that came nearest to a match: at most three with the right name, and their differences.
package struct NearestEvents: Sendable {
    /// An event and its differences from the match.
    package struct Candidate: Hashable, Sendable {
        /// The event.
        package let entry: Journal.Entry
        /// The members of the match in which the event differs; empty if it matches.
        package let differs: [String]

        /// The event as one JSON object that ends with `differs`.
        package var json: JSON {
            let differs = JSON.Member("differs", .array(differs.map { .string($0) }))
            guard case .object(let members) = entry.json else { return .object([differs]) }
            return .object(members + [differs])
        }
    }

    private var nearest: NearestMatches<Journal.Entry>

    /// The nearest events so far, the nearest first.
    package var candidates: [Candidate] {
        nearest.candidates.map { Candidate(entry: $0.item, differs: $0.differs) }
    }

    /// Finds the nearest events to a match.
    package init(to match: EventMatch) {
        nearest = NearestMatches(to: match, limit: 3)
    }

    /// Compares an event, which must be later than those before.
    package mutating func add(_ entry: Journal.Entry) { nearest.compare(entry, entry.event) }

    /// The events as a JSON list.
    package var json: JSON { .array(candidates.map(\.json)) }
}
