/// The planned actions, in order of time; actions for the same time stay in the order of planning.
struct PlannedActions<Instant: Comparable> {
    struct Planned {
        var action: UserAction
        var target: AppTarget
        var due: Instant
    }

    private var planned: [Planned] = []

    /// The time of the next action, or `nil` if nothing is planned.
    var next: Instant? { planned.first?.due }

    mutating func add(_ action: UserAction, on target: AppTarget, due: Instant) {
        let index = planned.firstIndex { $0.due > due } ?? planned.endIndex
        planned.insert(Planned(action: action, target: target, due: due), at: index)
    }

    /// Removes and returns the next action if its time has come, or returns `nil`.
    mutating func removeNext(at now: Instant) -> Planned? {
        guard let first = planned.first, first.due <= now else { return nil }
        return planned.removeFirst()
    }

    mutating func removeAll() {
        planned = []
    }
}
