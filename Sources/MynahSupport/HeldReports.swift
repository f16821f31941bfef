/// A queue that holds each report, such as an event, until all earlier changes to files are written.
///
/// If the process is killed right after a report, the file must already have the reported contents. While a
/// report is held, the later ones wait too, so that the order is kept. The thread that makes a report never
/// waits.
package final class HeldReports<Report: Sendable>: Sendable {
    private enum Phase: Equatable {
        /// No report is held.
        case passing
        /// Reports are held until a change is written; the number identifies this wait.
        case waiting(Int)
        /// A thread is passing on the held reports.
        case releasing
    }

    private struct State {
        var phase = Phase.passing
        var waits = 0
        /// The held reports, each with the number of the change that must be written first.
        var held: [(number: Int, report: Report)] = []
        /// Whether reports are passed on without waiting, because the disk is too slow.
        ///
        /// This ends when all changes are written.
        var isImpatient = false
        var isTimed = false

        /// Begins a wait for the change that must be written before the first held report.
        ///
        /// The result is the number of the wait, and whether the caller must start the time limit.
        mutating func wait() -> (number: Int, isUntimed: Bool) {
            waits += 1
            phase = .waiting(waits)
            defer { isTimed = true }
            return (waits, !isTimed)
        }
    }

    /// The number of the change that the first held report waits for, and the result of `State.wait()`.
    private typealias Next = (number: Int, wait: (number: Int, isUntimed: Bool))

    private let state = Lock(State())
    private let writer: FileWriter
    private let pass: @Sendable (Report) -> Void
    private let late: @Sendable () -> Report?
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Makes a queue of reports that wait for a writer's changes.
    ///
    /// `pass` is called on the reporting thread or on the writer's thread. `later` must call its argument
    /// after the longest time that a report may be held. If the report is still held then, all held reports
    /// are passed on, after the report that `late` returns.
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

    /// Passes a report on immediately, or, if changes to files are not written yet, after them.
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

    /// Ends the wait with this number; returns whether the caller has to pass on the held reports.
    ///
    /// The result is `false` if the wait has already ended.
    private func claim(_ wait: Int) -> Bool {
        state.withLock { state in
            state.isImpatient = false
            guard state.phase == .waiting(wait) else { return false }
            state.phase = .releasing
            return true
        }
    }

    /// Handles the end of the time limit that was started for the change with this number.
    ///
    /// If the first held report still waits for the change, all held reports are passed on.
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

    /// Passes on held reports until one has to wait for another change, or none is left.
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
