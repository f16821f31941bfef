package import MynahEmulator
package import MynahSupport

/// The request `POST /v1/verify`: checks past events without waiting.
///
/// The body is `{match, exactly | atLeast | never, since, order}`:
/// - `match`: the events to count, as an `EventMatch` in object form or text form.
/// - `exactly`, `atLeast`: the number of events that must match. With `never: true`, none may match. The
///   default is at least 1.
/// - `order`: a list of at most 1,000 matches. Events that match them must have happened in this order; other
///   events may have happened in between. This member can be used with `match` or alone.
/// - `since`: the number of the first event to check. The default is the last mark, or without marks the
///   first event since the run started or the journal was cleared.
package struct Verification: Hashable, Sendable {
    /// The number of events that must match.
    package enum Expectation: Hashable, Sendable {
        case exactly(Int)
        case atLeast(Int)
        case never

        func holds(_ count: Int) -> Bool {
            switch self {
            case .exactly(let number): count == number
            case .atLeast(let number): count >= number
            case .never: count == 0
            }
        }

        var text: String {
            switch self {
            case .exactly(let number): "exactly \(number)"
            case .atLeast(let number): "at least \(number)"
            case .never: "none"
            }
        }
    }

    /// The result of a verification that succeeded.
    package struct Answer: Hashable, Sendable {
        /// The number of matching events or, without `match`, the number of events in `order`.
        package let count: Int
        /// The number of events from `since` on that are no longer in the journal.
        package let lost: UInt64

        /// The body of the response: `{count}`, and `lost` if events were lost.
        package var json: JSON { .object([.init("count", .integer(count))] + JSON.lost(lost)) }
    }

    /// The members of the body.
    package static let members = ["match", "exactly", "atLeast", "never", "since", "order"]

    /// The events to count, or `nil` to check only the order.
    ///
    /// A device in the match must be given by its name in events.
    package var match: EventMatch?
    /// The number of events that must match.
    package var expectation: Expectation
    /// The matches of events that must have happened in this order.
    package var order: [EventMatch]
    /// The number of the first event to check, or `nil` for the default.
    package var since: UInt64?

    package init(
        _ match: EventMatch?, _ expectation: Expectation = .atLeast(1), order: [EventMatch] = [],
        since: UInt64? = nil
    ) {
        self.match = match
        self.expectation = expectation
        self.order = order
        self.since = since
    }

    /// Parses the body; throws a problem with status 400 if the body is not valid.
    package init(parsing bytes: [UInt8]) throws(ControlProblem) {
        let body = try ControlBody(parsing: bytes, known: Self.members)
        let match = try body.match("match")
        let order = try body.matches("order", atMost: 1000) ?? []
        let expectation = try Self.expectation(body)
        guard match != nil || expectation == nil else {
            throw ControlProblem(
                400, "\"match\" is missing: exactly, atLeast and never count what it matches")
        }
        guard match != nil || !order.isEmpty else {
            throw ControlProblem(
                400, "\"match\" or \"order\" is missing, as in {\"match\": {\"event\": \"write\"}}")
        }
        // If no event can match, a check that no event does is always true, so it is refused.
        if expectation.map({ $0 == .never || $0 == .exactly(0) }) ?? false, let problem = match?.problem {
            throw ControlProblem(400, "match: \(problem.message)")
        }
        self.init(match, expectation ?? .atLeast(1), order: order, since: try body.since())
    }

    private static func expectation(_ body: ControlBody) throws(ControlProblem) -> Expectation? {
        var found: [Expectation] = []
        if let number = try body.number("exactly", in: 0 ... .max) { found.append(.exactly(number)) }
        if let number = try body.number("atLeast", in: 0 ... .max) { found.append(.atLeast(number)) }
        if let isNever = try body.bool("never") {
            guard isNever else {
                throw ControlProblem(400, "\"never\" may only be true; leave it out instead")
            }
            found.append(.never)
        }
        guard found.count <= 1 else {
            throw ControlProblem(400, "only one of \"exactly\", \"atLeast\" and \"never\" is allowed")
        }
        return found.first
    }

    /// Replaces every match with the result of `transform`, for example to insert devices' names in events.
    package mutating func mapMatches(
        _ transform: (EventMatch) throws(ControlProblem) -> EventMatch
    ) throws(ControlProblem) {
        if let match { self.match = try transform(match) }
        for index in order.indices { order[index] = try transform(order[index]) }
    }

    /// Checks the events so far.
    ///
    /// Throws a problem with status 422, `count`, `timeline` and `nearest` if the expected events have not
    /// happened. Throws a problem with status 400 if `since` is after the next event.
    package func answer(from journal: Journal) async throws(ControlProblem) -> Answer {
        let start = try journal.start(since: since)
        var review = VerificationReview(self)
        await journal.forEachSlice(from: start) { slice in
            review.add(slice)
            return true
        }
        if let problem = await review.problem(from: start, in: journal) { throw problem }
        return Answer(count: review.count, lost: review.lost)
    }
}
