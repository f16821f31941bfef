/// The items whose events came nearest to satisfying a match.
///
/// Only events with the right name count. Events that differ in fewer members are nearer. Among equally near
/// events, later ones come first, and earlier ones are dropped first.
package struct NearestMatches<Item: Sendable>: Sendable {
    /// An item, with the members in which its event differs from the match.
    package struct Candidate: Sendable {
        package let item: Item
        /// The members of the match in which the event differs; empty if it matches.
        package let differs: [String]
    }

    private let match: EventMatch
    private let limit: Int
    /// The nearest items so far, the nearest first.
    package private(set) var candidates: [Candidate] = []

    /// Finds the `limit` items that are nearest to a match.
    package init(to match: EventMatch, limit: Int) {
        self.match = match
        self.limit = limit
    }

    /// Considers an item, whose event must be later than those of earlier calls.
    package mutating func compare(_ item: Item, _ event: DeviceEvent) {
        guard event.name == match.name else { return }
        let differs = match.differing(from: event)
        let index = candidates.firstIndex { $0.differs.count >= differs.count } ?? candidates.count
        guard index < limit else { return }
        candidates.insert(Candidate(item: item, differs: differs), at: index)
        if candidates.count > limit { candidates.removeLast() }
    }
}
