import Glibc
import MynahTestSupport
import Testing

@testable import MynahHCI

/// Notes about runs that have an air of their own.
@Suite struct AirNoteTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var found: [AirNote.Content] { AirNote.contents(in: directory.path) }

    private func leave(_ devices: String) throws -> AirNote {
        try #require(AirNote.leave(.init(clock: "fast", devices: devices), in: directory.path))
    }

    @Test func `a note is there until it is removed, or forgotten`() throws {
        let one = try leave("Lock")
        var other: AirNote? = try leave("Strap")
        #expect(found.map(\.devices) == ["Lock", "Strap"])
        #expect(found.allSatisfy { $0.clock == "fast" && $0.process == Int(getpid()) })
        one.remove()
        one.remove()
        #expect(found.map(\.devices) == ["Strap"])
        withExtendedLifetime(other) {}
        other = nil
        #expect(found.isEmpty && directory.files.isEmpty)
    }

    @Test func `a note of a process that was killed is a leftover, and deleted`() throws {
        let note = try leave("Lock")
        let name = try #require(directory.files.first)
        try directory.write(try directory.read(name), to: "private-0000000000000001")
        #expect(found.map(\.devices) == ["Lock"])
        #expect(directory.files == [name])
        note.remove()
        #expect(directory.files.isEmpty)
    }

    @Test func `many leftovers do not hide the note of a process that lives`() throws {
        for number in 0..<100 {
            try directory.write("{}", to: "private-0000000000000\(100 + number)")
        }
        // A random name comes after them.
        let note = try leave("Lock")
        defer { note.remove() }
        let own = try #require(directory.files.first { !$0.hasPrefix("private-0000000000000") })
        #expect(found.map(\.devices) == ["Lock"])
        #expect(directory.files == [own])
    }

    @Test(arguments: [
        "", "{", "[]", "{\"mynahNote\": 1}", "{\"mynahNote\": 2, \"process\": 1}", "\0\u{1B}[2J",
    ])
    func `a note of a process that lives is ignored if it makes no sense`(text: String) throws {
        let note = try leave("Lock")
        defer { note.remove() }
        let path = "\(directory.path)/\(try #require(directory.files.first))"
        try #require(truncate(path, 0) == 0)
        try directory.write(text, to: try #require(directory.files.first))
        #expect(found.isEmpty)
        #expect(directory.files.count == 1)
        // A huge one is not read to its end.
        try #require(truncate(path, 1 << 30) == 0)
        #expect(found.isEmpty)
    }

    @Test func `text of a note is cut, and safe for a terminal`() throws {
        let note = try leave("\u{1B}[2J" + String(repeating: "x", count: 9000))
        defer { note.remove() }
        let devices = try #require(found.first?.devices)
        #expect(devices.hasPrefix("\u{FFFD}[2J") && devices.hasSuffix("x…"))
        #expect(devices.unicodeScalars.count == 201)
    }

    @Test func `links, pipes, directories and what cannot be read are left alone`() throws {
        let note = try leave("Lock")
        defer { note.remove() }
        let own = try #require(directory.files.first)
        func path(_ number: Int) -> String { "\(directory.path)/private-000000000000000\(number)" }
        try #require(symlink(own, path(1)) == 0)
        try #require(symlink("/nonexistent", path(2)) == 0)
        try #require(mkfifo(path(3), 0o600) == 0)
        try #require(mkdir(path(4), 0o700) == 0)
        defer { rmdir(path(4)) }
        let before = directory.files
        #expect(found.map(\.devices) == ["Lock"])
        #expect(directory.files == before)
    }

    @Test func `without a usable directory there is no note`() throws {
        try directory.write("", to: "file")
        #expect(AirNote.leave(.init(clock: "fast", devices: ""), in: directory.path + "/file") == nil)
        #expect(AirNote.leave(.init(clock: "fast", devices: ""), in: directory.path + "/a/b") == nil)
        #expect(AirNote.contents(in: directory.path + "/a").isEmpty)
    }
}
