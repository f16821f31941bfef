import MynahEmulator
import MynahProfiles

/// Orders the reports of a connection as the events happened on the air.
///
/// The radio reports events immediately, but a command gets its answer slightly later. An event after an
/// answer is therefore held until the command has reported its result.
struct ReportOrder {
    /// A report with its time.
    struct Report {
        var report: ConnectReport
        var time: WallTime
        /// The device that the report is about, or `nil` if it is about none.
        var device: EventPeripheral?
    }

    /// The number of commands that are being carried out; without a command, answers do not hold reports.
    private var commands = 0
    /// The reports held until the running command reports its result, and the time of the last answer to it.
    ///
    /// The value is `nil` while no reports are held.
    private var waiting: (reports: [Report], answered: WallTime)?

    /// Handles the beginning of a command; returns the reports to pass on now.
    mutating func begin() -> [Report] {
        commands += 1
        return release()
    }

    /// Handles the end of a command; returns the reports to pass on now.
    mutating func end() -> [Report] {
        commands -= 1
        return release()
    }

    /// Handles the answer to a request; returns the reports to pass on now.
    mutating func answered(at time: WallTime) -> [Report] {
        guard commands > 0 else { return release() }
        defer { waiting = ([], time) }
        return waiting?.reports ?? []
    }

    /// Adds a report of the radio; returns the reports to pass on now.
    mutating func reports(
        _ report: ConnectReport, of device: EventPeripheral? = nil, at time: WallTime
    ) -> [Report] {
        let report = Report(report: report, time: time, device: device)
        guard waiting != nil else { return [report] }
        waiting?.reports.append(report)
        return []
    }

    /// Adds the report of a command; returns the reports to pass on now.
    mutating func commandReports(
        _ report: ConnectReport, of device: EventPeripheral? = nil, at time: WallTime
    ) -> [Report] {
        let time = waiting?.answered ?? time
        return [Report(report: report, time: time, device: device)] + release()
    }

    /// Stops holding reports, and returns those held so far.
    mutating func release() -> [Report] {
        defer { waiting = nil }
        return waiting?.reports ?? []
    }
}
