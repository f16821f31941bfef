import MynahEmulator
import MynahSupport

/// The check of the events so far for a verification.
struct VerificationReview {
    /// The most events that the response to a failed verification contains.
    static let timelineLimit = 100

    private let verification: Verification
    private var matched = 0
    /// The numbers of the events that match `order`, each after the one before.
    private var steps: [UInt64] = []
    private(set) var lost: UInt64 = 0
    private var total = 0
    /// The latest events.
    private var timeline: [Journal.Entry] = []
    private var end: UInt64 = 0

    init(_ verification: Verification) {
        self.verification = verification
    }

    /// The number of matching events or, without a match, the number of events in `order` that came in
    /// order.
    var count: Int { verification.match == nil ? steps.count : matched }

    mutating func add(_ slice: Journal.Slice) {
        lost += slice.lost
        end = slice.next
        total += slice.entries.count
        timeline = (timeline + slice.entries.suffix(Self.timelineLimit)).suffix(Self.timelineLimit)
        for entry in slice.entries {
            if let match = verification.match, match.matches(entry.event) { matched += 1 }
            let order = verification.order
            if steps.count < order.count, order[steps.count].matches(entry.event) { steps.append(entry.seq) }
        }
    }

    /// Checks the events of the journal; returns the problem, or `nil` if the expected events have happened.
    func problem(from start: UInt64, in journal: Journal) async -> ControlProblem? {
        if let match = verification.match, !verification.expectation.holds(matched) {
            let came = matched.counting("event")
            // The matching events are listed only if there are too many of them.
            return problem(
                "\(Self.text(match)) matched \(came); expected \(verification.expectation.text)",
                await nearest(to: match, withMatching: !isTooFew, from: start, in: journal))
        }
        if steps.count < verification.order.count {
            let match = verification.order[steps.count]
            let place = steps.last.map { ", after event \($0)" } ?? ""
            return problem(
                "no event matched item \(steps.count + 1) of the order, \(Self.text(match))\(place)",
                await nearest(to: match, withMatching: true, from: start, in: journal))
        }
        if lost > 0, isSpoiltByLoss {
            return problem(
                """
                \(lost.counting("event is", "events are")) not kept any more, and cannot be counted; set a \
                mark, or begin at a later event
                """,
                .array([]))
        }
        return nil
    }

    private var isTooFew: Bool {
        switch verification.expectation {
        case .exactly(let number), .atLeast(let number): matched < number
        case .never: false
        }
    }

    /// Whether the result could be wrong because lost events may have matched too.
    private var isSpoiltByLoss: Bool {
        guard verification.match != nil else { return false }
        return switch verification.expectation {
        case .exactly, .never: true
        case .atLeast: false
        }
    }

    private static func text(_ match: EventMatch) -> String { ControlProblem.shortened(match.text) }

    private func nearest(
        to match: EventMatch, withMatching: Bool, from start: UInt64, in journal: Journal
    ) async -> JSON {
        var nearest = NearestEvents(to: match)
        await journal.forEachSlice(from: start) { slice in
            for entry in slice.entries where entry.seq < end {
                if withMatching || !match.matches(entry.event) { nearest.add(entry) }
            }
            return slice.next < end
        }
        return nearest.json
    }

    private func problem(_ detail: String, _ nearest: JSON) -> ControlProblem {
        let omitted = total - timeline.count
        return ControlProblem(
            422, detail,
            [
                .init("count", .integer(count)), .init("timeline", .array(timeline.map(\.json))),
                .init("nearest", nearest),
            ] + (omitted == 0 ? [] : [.init("omitted", .integer(omitted))]) + JSON.lost(lost))
    }
}
