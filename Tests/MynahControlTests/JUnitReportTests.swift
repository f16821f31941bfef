import MynahControl
import Testing

/// The report of test cases in JUnit's XML.
@Suite struct JUnitReportTests {
    @Test func `a report has a case with its time, its failure and its error`() throws {
        let report = JUnitReport([
            .init("passes", of: "Lock", time: .milliseconds(1005)),
            .init("a <b> & \"c\"\u{1}", troubles: [.failure("x\ny")]),
            .init("ends", time: .seconds(-1), troubles: [.error("gone")]),
        ])
        #expect(
            report.text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites><testsuite name="mynah" tests="3" failures="1" errors="1">
                <testcase classname="Lock" name="passes" time="1.005"></testcase>
                <testcase classname="mynah" name="a &lt;b&gt; &amp; &quot;c&quot;\u{FFFD}">\
                <failure message="x&#10;y"/></testcase>
                <testcase classname="mynah" name="ends" time="0.000"><error message="gone"/></testcase>
                </testsuite></testsuites>

                """)
    }
}
