import MynahConsole
import MynahSupport
import Testing

/// The report of `mynah doctor`.
@Suite struct DoctorReportTests {
    private let findings = [
        Finding("kernel", .fine, "6.1.0"),
        Finding("otherAdvertisers", .loss, "1 other", meaning: "They share.", remedy: "end them"),
        Finding("bus", .unknown, "a\u{1B}b"),
    ]

    @Test func `text has a line for each check, with meaning and remedy below it`() {
        #expect(
            DoctorReport(findings).lines(isBold: false) == [
                "fine     kernel            6.1.0",
                "loss     otherAdvertisers  1 other",
                "                           They share.",
                "                           -> end them",
                "unknown  bus               a\u{FFFD}b",
                "",
                "A run works, with 1 loss; 1 check could not be made.",
            ])
    }

    @Test func `on a terminal the verdicts that are not fine are bold`() {
        let lines = DoctorReport(findings).lines(isBold: true)
        #expect(lines[0] == "fine     kernel            6.1.0")
        #expect(lines[1] == "\u{1B}[1mloss\u{1B}[0m     otherAdvertisers  1 other")
    }

    @Test(arguments: [
        ([Finding.Verdict.fine, .skipped], 0, "A run works."),
        ([.fine, .unknown, .skipped], 0, "Nothing stops a run, but 1 check could not be made."),
        ([.unknown, .unknown], 0, "Nothing stops a run, but 2 checks could not be made."),
        ([.loss, .fine, .loss], 2, "A run works, with 2 losses."),
        ([.loss, .stop], 1, "A run will not work: 1 check stops it."),
        ([.stop, .stop], 1, "A run will not work: 2 checks stop it."),
        ([], 0, "A run works."),
    ])
    func `the worst finding decides`(verdicts: [Finding.Verdict], code: Int32, summary: String) {
        let report = DoctorReport(verdicts.map { Finding("x", $0, "y") })
        #expect(report.verdict.exitCode == code)
        #expect(report.lines(isBold: false).last == summary)
    }

    @Test func `json has the same fields for every check`() {
        #expect(
            DoctorReport(findings).json.text == """
                {"verdict":"loss","exitCode":2,"unknown":1,"checks":[\
                {"id":"kernel","verdict":"fine","found":"6.1.0","meaning":null,"remedy":null},\
                {"id":"otherAdvertisers","verdict":"loss","found":"1 other","meaning":"They share.",\
                "remedy":"end them"},\
                {"id":"bus","verdict":"unknown","found":"a\\u001Bb","meaning":null,"remedy":null}]}
                """)
    }
}
