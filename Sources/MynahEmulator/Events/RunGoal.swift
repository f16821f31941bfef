/// The condition that ends a run: expected events, or a time limit.
public struct RunGoal: Sendable {
    /// How the run ended.
    public enum End: Hashable, Sendable {
        /// Everything that was waited for has come.
        case reached
        /// The run's time is up.
        case overdue
        /// The run was ended before what was waited for had come.
        case cutShort
    }

    private let isAwaiting: Bool
    private var missing: [EventMatch]
    /// The reason for the run's end, or `nil` while it plays.
    public private(set) var end: End?

    /// A run that ends when an event of each match has come, in any order; with none only its time ends it.
    public init(_ matches: [EventMatch] = []) {
        missing = matches
        isAwaiting = !matches.isEmpty
    }

    /// Observes an event, for which several matches may wait; returns whether the run ends with it.
    public mutating func observe(_ event: DeviceEvent) -> Bool {
        guard end == nil, isAwaiting else { return false }
        missing.removeAll { $0.matches(event) }
        guard missing.isEmpty else { return false }
        end = .reached
        return true
    }

    /// Notes that the time is up; returns whether the run ends with it.
    public mutating func timeIsUp() -> Bool {
        guard end == nil else { return false }
        end = .overdue
        return true
    }

    /// Notes that the run ends for another reason, which is trouble if something is waited for.
    public mutating func cutShort() {
        if end == nil, isAwaiting { end = .cutShort }
    }

    /// The expected events that did not come, as the user wrote them; empty if all came.
    public var missed: [String] {
        switch end {
        case .overdue, .cutShort: missing.map(\.text)
        case .reached, nil: []
        }
    }
}
