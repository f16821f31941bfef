/// The condition that ends a run: expected events, or a time limit.
public struct RunGoal: Sendable {
    /// The reason for the end of a run.
    public enum End: Hashable, Sendable {
        /// All expected events have happened.
        case reached
        /// The run's time limit elapsed.
        case overdue
        /// The run was ended before all expected events had happened.
        case cutShort
    }

    private let isAwaiting: Bool
    private var missing: [EventMatch]
    /// The reason for the end of the run, or `nil` while it continues.
    public private(set) var end: End?

    /// Makes the goal of a run that ends when an event of each match has happened, in any order.
    ///
    /// Without matches, only the time limit ends the run.
    public init(_ matches: [EventMatch] = []) {
        missing = matches
        isAwaiting = !matches.isEmpty
    }

    /// Checks whether an event satisfies matches, possibly several; returns whether the run ends.
    public mutating func observe(_ event: DeviceEvent) -> Bool {
        guard end == nil, isAwaiting else { return false }
        missing.removeAll { $0.matches(event) }
        guard missing.isEmpty else { return false }
        end = .reached
        return true
    }

    /// Handles the end of the time limit; returns whether the run ends.
    public mutating func timeIsUp() -> Bool {
        guard end == nil else { return false }
        end = .overdue
        return true
    }

    /// Records that the run ended for another reason, which is a failure if events are still expected.
    public mutating func cutShort() {
        if end == nil, isAwaiting { end = .cutShort }
    }

    /// The expected events that did not happen, in the user's words; empty if all happened.
    public var missed: [String] {
        switch end {
        case .overdue, .cutShort: missing.map(\.text)
        case .reached, nil: []
        }
    }
}
