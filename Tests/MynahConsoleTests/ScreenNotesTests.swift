import MynahConsole
import Testing

@Suite struct ScreenNotesTests {
    @Test func `the last messages are at the bottom, and no more than a quarter of the screen`() {
        var notes = ScreenNotes()
        #expect(notes.bottom(height: 40) == [])
        for number in 1...5 { notes.add("note \(number)") }
        #expect(notes.bottom(height: 40) == ["note 3", "note 4", "note 5"])
        #expect(notes.bottom(height: 8) == ["note 4", "note 5"])
        for height in [-1, 0, 1, 3] { #expect(notes.bottom(height: height) == []) }
        #expect(notes.last.count == 5)
    }

    @Test func `a message of several lines is several, and none of them acts on the terminal`() {
        var notes = ScreenNotes()
        notes.add("a\u{1B}[2J\n  ^")
        #expect(notes.last == ["a\u{FFFD}[2J", "  ^"])
    }

    @Test func `old messages are forgotten, and counted`() {
        var notes = ScreenNotes()
        for number in 1...150 { notes.add("\(number)") }
        #expect(notes.last.first == "(50 earlier messages are not repeated)")
        #expect(notes.last.dropFirst().first == "51")
        #expect(notes.last.last == "150")
    }
}
