import MynahConsole
import Testing

@Suite struct TerminalTypeTests {
    @Test(
        arguments: [
            (nil, false), ("", false), ("dumb", false), ("unknown", false), ("xterm-256color", true),
            ("linux", true),
            ("screen", true),
        ] as [(String?, Bool)])
    func `a terminal that is dumb or unnamed gets no escapes`(name: String?, takesEscapes: Bool) {
        #expect(TerminalType.takesEscapes(name) == takesEscapes)
    }
}
