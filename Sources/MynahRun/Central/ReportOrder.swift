import MynahEmulator

/// Puts the reports of a connection in the order of the air.
///
/// The radio reports events at once, but a command hears of its answer a little later. Events after an
/// answer wait until the command has reported.
struct ReportOrder {
    /// A report and its time.
    struct Report {
        var report: ConnectReport
        var time: WallTime
    }

    /// `true` while a command is carried out; other requests to the device have no report.
    private var isAtWork = false
    /// The reports after the last answer, and its time; `nil` if no command has yet to report an answer.
    private var waiting: (reports: [Report], answered: WallTime)?

    /// A command begins; returns what is to be reported now.
    mutating func begin() -> [Report] {
        isAtWork = true
        return release()
    }

    /// A command has ended; returns what is to be reported now.
    mutating func end() -> [Report] {
        isAtWork = false
        return release()
    }

    /// A request has got its answer; returns what is to be reported now.
    mutating func answered(at time: WallTime) -> [Report] {
        guard isAtWork else { return release() }
        defer { waiting = ([], time) }
        return waiting?.reports ?? []
    }

    /// The radio has reported something; returns what is to be reported now.
    mutating func reports(_ report: ConnectReport, at time: WallTime) -> [Report] {
        guard waiting != nil else { return [Report(report: report, time: time)] }
        waiting?.reports.append(Report(report: report, time: time))
        return []
    }

    /// A command has reported; returns what is to be reported now.
    mutating func commandReports(_ report: ConnectReport, at time: WallTime) -> [Report] {
        let time = waiting?.answered ?? time
        return [Report(report: report, time: time)] + release()
    }

    /// No report of a command is due any more; returns what has waited for it.
    mutating func release() -> [Report] {
        defer { waiting = nil }
        return waiting?.reports ?? []
    }
}
