import Testing

@testable import MynahConsole

@Suite struct NextCommandTests {
    @Test(arguments: [
        ("Strap", 80, ["    in a new terminal: mynah connect Strap"]),
        ("Mynah HRM", 80, ["    in a new terminal: mynah connect 'Mynah HRM'"]),
        ("It's; rm", 80, [#"    in a new terminal: mynah connect 'It'\''s; rm'"#]),
        ("$HOME", 80, ["    in a new terminal: mynah connect '$HOME'"]),
        ("-v", 80, ["    in a new terminal: mynah connect -- '-v'"]),
        ("", 80, ["    in a new terminal: mynah connect ''"]),
        ("Mynah HRM", 40, ["    in a new terminal:", "    mynah connect 'Mynah HRM'"]),
        ("Mynah HRM", 20, ["  in a new terminal:", "  mynah connect DEVICE"]),
    ])
    func `a name is quoted as a shell needs it, and left out if it does not fit`(
        name: String, width: Int, lines: [String]
    ) {
        #expect(NextCommand.connect(to: name, width: width) == lines)
    }
}
