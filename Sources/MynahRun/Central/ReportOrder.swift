import MynahEmulator

/// Orders the reports of a connection as the events happened on the air.
///
/// The radio reports events immediately, but a command gets its answer slightly later. So events after an
/// answer are held until the command has reported its result.
struct ReportOrder {
    /// A report with its time.
    struct Report {
        var report: ConnectReport
        var time: WallTime
    }

    /// Whether a command is being carried out; only commands report the answers to their requests.
    private var isAtWork = false
    /// The reports to pass on after the result of the running command, and the time of the last answer that
    /// it got.
    ///
    /// The value is `nil` if the command has reported each answer, or if no command is running.
    private var waiting: (reports: [Report], answered: WallTime)?

    /// Handles the beginning of a command; returns the reports to pass on now.
    mutating func begin() -> [Report] {
        isAtWork = true
        return release()
    }

    /// Handles the end of a command; returns the reports to pass on now.
    mutating func end() -> [Report] {
        isAtWork = false
        return release()
    }

    /// Handles the answer to a request; returns the reports to pass on now.
    mutating func answered(at time: WallTime) -> [Report] {
        guard isAtWork else { return release() }
        defer { waiting = ([], time) }
        return waiting?.reports ?? []
    }

    /// Adds a report of the radio; returns the reports to pass on now.
    mutating func reports(_ report: ConnectReport, at time: WallTime) -> [Report] {
        guard waiting != nil else { return [Report(report: report, time: time)] }
        waiting?.reports.append(Report(report: report, time: time))
        return []
    }

    /// Adds the report of a command; returns the reports to pass on now.
    mutating func commandReports(_ report: ConnectReport, at time: WallTime) -> [Report] {
        let time = waiting?.answered ?? time
        return [Report(report: report, time: time)] + release()
    }

    /// Stops holding reports, and returns those held so far.
    mutating func release() -> [Report] {
        defer { waiting = nil }
        return waiting?.reports ?? []
    }
}
