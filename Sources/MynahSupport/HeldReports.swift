/// Passes reports on in order, each only after the files that had changed before it are in place.
///
/// A process that is killed right after a report must have its contents in the file already. The reports
/// after it wait too, so that the order is kept. The caller never waits.
package final class HeldReports<Report: Sendable>: Sendable {
    private enum Phase: Equatable {
        /// No report is held.
        case passing
        /// The reports wait for a change; the number distinguishes one wait from another.
        case waiting(Int)
        /// A thread passes on the held reports.
        case releasing
    }

    private struct State {
        var phase = Phase.passing
        var waits = 0
        /// The held reports, each with the number of the change that it waits for.
        var held: [(number: Int, report: Report)] = []
        /// The disk takes too long: nothing waits until it has caught up.
        var isImpatient = false
        var isTimed = false

        /// Waits for the first that is held; returns the number of that wait, and whether the longest time
        /// begins with it.
        mutating func wait() -> (number: Int, isUntimed: Bool) {
            waits += 1
            phase = .waiting(waits)
            defer { isTimed = true }
            return (waits, !isTimed)
        }
    }

    /// The change that is waited for next.
    private typealias Next = (number: Int, wait: (number: Int, isUntimed: Bool))

    private let state = Lock(State())
    private let writer: FileWriter
    private let pass: @Sendable (Report) -> Void
    private let late: @Sendable () -> Report?
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Holds reports for a writer's changes.
    ///
    /// `pass` is called on the thread that reports, or on another. `later` calls its argument after the
    /// longest time that a report may be held; then everything is passed on, after the report that `late`
    /// makes.
    package init(
        for writer: FileWriter, pass: @escaping @Sendable (Report) -> Void,
        late: @escaping @Sendable () -> Report?,
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.writer = writer
        self.pass = pass
        self.late = late
        self.later = later
    }

    /// Passes a report on, now or when the changes so far are in place.
    package func report(_ report: Report) {
        let number = writer.latest
        let (isDirect, wait): (Bool, (number: Int, isUntimed: Bool)?) = state.withLock { state in
            if state.phase == .passing, state.isImpatient || writer.isSettled(number) { return (true, nil) }
            state.held.append((number, report))
            return (false, state.phase == .passing ? state.wait() : nil)
        }
        if isDirect { return pass(report) }
        guard let wait else { return }
        if wait.isUntimed { later { self.overdue(number) } }
        if !writer.whenSettled(number, { self.settled(wait.number) }) { settled(wait.number) }
    }

    private func settled(_ wait: Int) {
        if claim(wait) { release() }
    }

    /// The files of a wait are in place; returns whether this thread passes on the held reports.
    private func claim(_ wait: Int) -> Bool {
        state.withLock { state in
            state.isImpatient = false
            guard state.phase == .waiting(wait) else { return false }
            state.phase = .releasing
            return true
        }
    }

    /// The longest time is over; a change that was waited for then may be settled, and another waited for.
    private func overdue(_ number: Int) {
        let late = late()
        let (isOver, next): (Bool, Int?) = state.withLock { state in
            guard case .waiting = state.phase, let first = state.held.first else {
                state.isTimed = false
                return (false, nil)
            }
            guard first.number == number else { return (false, first.number) }
            state.isTimed = false
            state.isImpatient = true
            state.phase = .releasing
            if let late { state.held.insert((0, late), at: 0) }
            return (true, nil)
        }
        if isOver { release() }
        if let next { later { self.overdue(next) } }
    }

    /// Passes on the reports that need not wait any more, until one waits for another change, or none is
    /// left.
    private func release() {
        while true {
            let (reports, next): ([Report], Next?) = state.withLock { state in
                let count = state.held.prefix { state.isImpatient || writer.isSettled($0.number) }.count
                let reports = state.held.prefix(count).map(\.report)
                state.held.removeFirst(count)
                guard reports.isEmpty else { return (reports, nil) }
                guard let first = state.held.first else {
                    state.phase = .passing
                    return ([], nil)
                }
                return ([], (first.number, state.wait()))
            }
            for report in reports { pass(report) }
            guard reports.isEmpty else { continue }
            guard let next else { return }
            if next.wait.isUntimed { later { self.overdue(next.number) } }
            if writer.whenSettled(next.number, { self.settled(next.wait.number) }) { return }
            guard claim(next.wait.number) else { return }
        }
    }
}
