import MynahEmulator
import MynahProfiles
import MynahSupport

/// A test report from the events of a run.
///
/// Each mark starts a test case, which fails if it has an `error` event.
struct MarkReport {
    struct Case {
        let name: String
        let seq: UInt64
        var events = 0
        var errors: [String] = []
    }

    private(set) var cases: [Case]
    /// The number of events that are no longer in the journal, and therefore in no test case.
    private(set) var lost: UInt64 = 0

    /// Makes the report of all events in a journal.
    init(of journal: Journal) async {
        cases = journal.marks.map { Case(name: $0.name, seq: $0.seq) }
        guard let first = cases.first else { return }
        var index = 0
        var (cases, lost) = (cases, lost)
        await journal.forEachSlice(from: first.seq) { slice in
            lost += slice.lost
            for entry in slice.entries {
                while index + 1 < cases.count, cases[index + 1].seq <= entry.seq { index += 1 }
                cases[index].events += 1
                if entry.event.name == .error, case .notice(let notice) = entry.event.payload {
                    cases[index].errors.append(notice.message)
                }
            }
            return true
        }
        (self.cases, self.lost) = (cases, lost)
    }

    var json: JSON {
        .object(
            [
                .init(
                    "cases",
                    .array(
                        cases.map { each in
                            .object([
                                .init("name", .string(each.name)),
                                .init("seq", .integer(Int(clamping: each.seq))),
                                .init("events", .integer(each.events)),
                                .init("errors", .array(each.errors.map { .string($0) })),
                            ])
                        }))
            ] + JSON.lost(lost))
    }

    /// The report in JUnit's XML format.
    var junit: String {
        JUnitReport(
            cases.map { each in
                .init(
                    each.name, troubles: each.errors.map { .failure($0) },
                    output: each.events.counting("event"))
            }
        ).text
    }
}
