import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahControl

/// The report of a run by its marks.
@Suite(.timeLimit(.minutes(5))) struct MarkReportTests {
    @Test(arguments: [
        ("plain é 🦜", "plain é 🦜"), ("<a> & \"b\" 'c'", "&lt;a&gt; &amp; &quot;b&quot; 'c'"),
        ("]]>", "]]&gt;"), ("\t\n\r", "&#9;&#10;&#13;"), ("\0\u{1}\u{1F}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        ("\u{FFFE}\u{FFFF}", "\u{FFFD}\u{FFFD}"), ("\r\n", "&#13;&#10;"), ("&amp;", "&amp;amp;"),
    ])
    func `text is escaped for an attribute of XML, and what XML has not is replaced`(
        text: String, escaped: String
    ) {
        #expect(JUnitReport.escaped(text) == escaped)
    }

    @Test func `errors are failures of the case in which they happened`() async {
        let journal = Events.journal([Events.write("00")])
        _ = journal.mark("first")
        journal.append(Events.write("01"))
        journal.append(Events.event(.error, [("message", "a < b")]))
        _ = journal.mark("second")
        journal.append(Events.write("02"))
        let report = await MarkReport(of: journal)
        #expect(
            report.json.text == """
                {"cases":[{"name":"first","seq":2,"events":2,"errors":["a < b"]},\
                {"name":"second","seq":4,"events":1,"errors":[]}]}
                """)
        #expect(
            report.junit == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites><testsuite name="mynah" tests="2" failures="1" errors="0">
                <testcase classname="mynah" name="first"><failure message="a &lt; b"/>\
                <system-out>2 events</system-out></testcase>
                <testcase classname="mynah" name="second"><system-out>1 event</system-out></testcase>
                </testsuite></testsuites>

                """)
    }

    @Test func `a run without a mark has no case`() async {
        #expect(await MarkReport(of: Events.journal([Events.write("00")])).json.text == #"{"cases":[]}"#)
    }
}
