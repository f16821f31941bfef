import MynahConsole
import Testing

@Suite struct LineSplitterTests {
    private static func lines(_ chunks: [String], finish: Bool = true) -> [LineSplitter.Line] {
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        func drain() {
            // An overlong line is the last one, however often it is asked for.
            while let line = splitter.next(), line != lines.last || line != .overlong(number: lines.count) {
                lines.append(line)
            }
        }
        for chunk in chunks {
            splitter.add(Array(chunk.utf8))
            drain()
        }
        if finish { splitter.finish() }
        drain()
        return lines
    }

    private static let full = String(repeating: "x", count: LineSplitter.limit)

    @Test(arguments: [
        ([], []), ([""], []), (["a"], ["a"]), (["a\n"], ["a"]), (["a\nb"], ["a", "b"]),
        (["a\r\nb\r\n"], ["a", "b"]), (["\n\n"], ["", ""]),
        (["re", "ad 2A", "37\nquit", "\n"], ["read 2A37", "quit"]),
        (["a\r", "\nb\rc\n"], ["a", "b\rc"]), (["é", "\n"], ["é"]), ([full + "\n"], [full]), ([full], [full]),
        ([full + "\r\n"], [full]), ([full + "\r", "\na"], [full, "a"]),
    ])
    func `bytes become lines, however they are cut`(chunks: [String], lines: [String]) {
        #expect(Self.lines(chunks) == lines.map { .text($0) })
    }

    @Test func `a line that has no end yet waits`() {
        #expect(Self.lines(["a\nb"], finish: false) == [.text("a")])
    }

    @Test(arguments: [
        ["a\n", full + "x\n"], ["a\n" + full + "x"], ["a\n", full, "xy"], ["a\n", full + "\rx", "\n"],
    ])
    func `a line past the limit is refused by its number, and nothing of it is kept`(chunks: [String]) {
        #expect(Self.lines(chunks) == [.text("a"), .overlong(number: 2)])
        var splitter = LineSplitter()
        splitter.add(Array((Self.full + "xyz").utf8))
        for _ in 0..<2 {
            let line = splitter.next()
            #expect(line == .overlong(number: 1))
            #expect(splitter.count == 0)
        }
    }

    @Test func `lines that were taken are not kept`() {
        var splitter = LineSplitter()
        for number in 0..<1000 {
            splitter.add(Array("line \(number)\n".utf8))
            let lines = [splitter.next(), splitter.next()]
            #expect(lines == [.text("line \(number)"), nil])
            #expect(splitter.count == 0)
        }
    }
}
