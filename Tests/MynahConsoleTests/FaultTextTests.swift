import MynahSupport
import Testing

@testable import MynahConsole

@Suite struct FaultTextTests {
    private static let faults = """
        [{"name": "gone", "off": true, "applied": 0}, {"name": "slow-reads", "off": false, "applied": 0},
         {"name": "lost", "off": false, "applied": 12}, {"name": "wiped", "off": true, "applied": 1}]
        """

    private func json(_ text: String) throws -> JSON { try JSON(parsing: Array(text.utf8)) }

    @Test func `each fault has a line with its state and how often it was applied`() throws {
        #expect(
            ControlText.faults(try json(#"{"faults": \#(Self.faults)}"#)) == [
                "gone        off", "slow-reads  on", "lost        on   applied 12 times",
                "wiped       off  applied once",
            ])
        #expect(ControlText.faults(try json(#"{"faults": []}"#)) == [])
        #expect(ControlText.faults(try json("[1]")) == [])
        let escape = try json(#"{"faults": [{"name": "a\u001B[2J", "off": false, "applied": 0}]}"#)
        #expect(ControlText.faults(escape).first?.contains("\u{1B}") == false)
    }

    @Test func `the names of faults are those of the device on the command line`() throws {
        let answer = try json(
            """
            {"devices": [{"device": "Strap", "faults": \(Self.faults)},
                         {"device": "Lock", "faults": [{"name": "jammed", "off": true, "applied": 0}]}]}
            """)
        #expect(ControlText.faultNames(answer, of: ["mynah", "ctl", "fault", "Lock"]) == ["jammed"])
        #expect(ControlText.faultNames(answer, of: ["mynah", "ctl", "fault"]).count == 5)
    }
}
