import Foundation
import Glibc
import MynahTestSupport
import Testing

/// Plays the commands of a section as processes, in a folder of their own and on an air of their own.
struct DocumentPlayer {
    /// A line of the page that the program did not print.
    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// A command that is under way.
    private final class Running {
        let command: DocumentCommand
        let child: ChildProcess
        let output: OutputReader
        /// Where its input is typed, if the page has some.
        let keyboard: Keyboard?
        private var lines: (size: Int, masked: [String]) = (0, [])

        init(_ command: DocumentCommand, child: ChildProcess, output: OutputReader, keyboard: Keyboard?) {
            (self.command, self.child, self.output, self.keyboard) = (command, child, output, keyboard)
        }

        /// The lines that it has printed, as they are compared.
        var shown: [String] {
            let size = output.size
            if size != lines.size {
                // The many processes of the tests leave no way to watch a directory.
                let masked = output.lines.filter { !$0.contains("cannot be watched") }.map(DocumentMask.of)
                lines = (size, masked)
            }
            return lines.masked
        }
    }

    /// A pipe to type into, open at both ends, so that nobody has to be there to read.
    private final class Keyboard {
        private var ends: [Int32] = [-1, -1]
        var reader: Int32 { ends[0] }

        init() throws {
            let isMade = makePipe(&ends) == 0
            try #require(isMade)
        }

        deinit { for end in ends { close(end) } }

        func type(_ line: String) throws {
            let bytes = Array((line + "\n").utf8)
            let isWritten = write(ends[1], bytes, bytes.count) == bytes.count
            try #require(isWritten)
        }
    }

    let folder: String
    let air: TemporaryDirectory
    /// Given a line that did not come, takes what came in its place.
    var record: DocumentRecord?

    /// Plays the steps, and ends what runs on.
    func play(_ steps: [DocumentPage.Step]) async throws {
        var runningOn: [Running] = []
        for step in steps {
            switch step {
            case .file(let name, let text):
                try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
            case .command(let command):
                let running = try start(command)
                if command.runsOn {
                    runningOn.append(running)
                    try await waitUntilReady(running)
                } else {
                    try await compare(running)
                    try await end(running)
                }
            }
        }
        // Their output depends on the commands after them.
        for running in runningOn {
            try await compare(running)
            try await stop(running)
        }
    }

    /// Waits until its device is on the air, if it says so on the terminal.
    private func waitUntilReady(_ running: Running) async throws {
        let words = running.command.words
        guard words == "make run" || ["run", "serve", "air"].contains(running.command.verb),
            !words.contains(" > ")
        else { return }
        try await until("\(words) is ready", of: running) {
            running.shown.contains { $0.contains("  ready  ") || $0.contains("\"ready\"") }
        }
    }

    /// Waits as long as the command prints anything, and half a minute after that.
    private func until(_ awaited: String, of running: Running, _ condition: () throws -> Bool) async throws {
        var (size, last) = (-1, ContinuousClock.now)
        try await MynahTestSupport.until(awaited) {
            if try condition() { return true }
            if running.output.size != size { (size, last) = (running.output.size, .now) }
            guard ContinuousClock.now - last < .seconds(30) else {
                throw Mismatch(description: "30 s without another line, in which was awaited: \(awaited)")
            }
            return false
        }
    }

    private func start(_ command: DocumentCommand) throws -> Running {
        let program = try #require(Program.path, "the program is built with the tests")
        let output = try #require(OutputReader())
        let isTyped = command.expected.contains { if case .input = $0 { true } else { false } }
        let keyboard = isTyped ? try Keyboard() : nil
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let child = try #require(
            ChildProcess(
                "sh", ["-c", "cd \"$0\" && \(adapted(command))", folder],
                passing: [keyboard?.reader ?? null: 0, output.writer: 1, output.writer: 2],
                environment: [
                    "PATH": "\(URL(fileURLWithPath: program).deletingLastPathComponent().path):\(path)",
                    "MYNAH_AIR": air.path, "MYNAH_CONTROL": "unix:mynah.sock", "TZ": "UTC",
                    "NETSIM_HCI_PORT": "1", "MAKEFLAGS": nil,
                    "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/mynah/bus",
                ]))
        output.start()
        return Running(command, child: child, output: output, keyboard: keyboard)
    }

    /// The command without what a test cannot do.
    private func adapted(_ command: DocumentCommand) -> String {
        var words = command.words.hasSuffix(" &") ? String(command.words.dropLast(2)) : command.words
        // The release build takes minutes; the folder has the program of the debug build in its place.
        if words == "make run" { words = "make -o build run HAS_ADAPTER=" }
        // The shell becomes the program, so that a signal reaches it.
        return words.contains("|") || words.contains(";") ? words : "exec \(words)"
    }

    /// Compares what it prints with the page, line by line, while it prints it.
    private func compare(_ running: Running) async throws {
        var (next, hasGap, isInterrupted) = (0, false, false)
        for expectation in running.command.expected {
            switch expectation {
            case .gap: hasGap = true
            case .input(let text): try running.keyboard?.type(text)
            case .interrupt:
                running.child.send(SIGINT)
                isInterrupted = true
            case .line(let line, let number):
                next = try await find(line, at: number, in: running, from: next, maySkip: hasGap)
                hasGap = false
            }
        }
        try running.keyboard?.type("quit")
        if !running.command.runsOn || isInterrupted {
            try await finish(running, from: next, mayPrintMore: hasGap)
        }
    }

    /// Waits for a line, at this place or later, and returns the place after it.
    private func find(
        _ line: String, at number: Int, in running: Running, from: Int, maySkip: Bool
    ) async throws -> Int {
        var next = from
        let wanted = DocumentMask.of(line)
        do {
            try await until("\"\(line)\" is printed", of: running) {
                let lines = running.shown
                guard from < lines.endIndex else { return false }
                let end = maySkip ? lines.endIndex : from + 1
                if let place = lines[from..<end].firstIndex(of: wanted) {
                    next = place + 1
                    return true
                }
                if !maySkip { throw Mismatch(description: "another line came: \(lines[from])") }
                return false
            }
        } catch {
            if let place = record?.replace(line, at: number, by: running.output.lines.dropFirst(from)) {
                return place + 1
            }
            let lines = running.output.lines.joined(separator: "\n")
            throw Mismatch(
                description: "\(running.command.words)\nwanted: \(line)\n\(error)\nall lines:\n\(lines)")
        }
        return next
    }

    private func finish(_ running: Running, from next: Int, mayPrintMore: Bool) async throws {
        _ = try await running.output.text()
        let rest = running.shown.dropFirst(next)
        guard mayPrintMore || rest.isEmpty else {
            throw Mismatch(
                description: "\(running.command.words)\nprinted more: \(rest.joined(separator: "\n"))")
        }
    }

    private func end(_ running: Running) async throws {
        let status = try await running.child.end()
        guard (status == .exited(0)) != running.command.fails else {
            throw Mismatch(description: "\(running.command.words)\nended with \(status)")
        }
    }

    private func stop(_ running: Running) async throws {
        let isMake = running.command.words.hasPrefix("make")
        // make passes on SIGTERM, and then fails.
        running.child.send(isMake ? SIGTERM : SIGINT)
        let status = try await running.child.end()
        guard isMake || status == .exited(0) else {
            throw Mismatch(description: "\(running.command.words)\nended with \(status)")
        }
    }
}

/// Lines of a page that are to be replaced by what was printed.
final class DocumentRecord {
    private var replacements: [Int: String] = [:]

    /// Finds the line that begins with the same word, and returns its place.
    ///
    /// Returns `nil` if there is none.
    func replace(_ line: String, at number: Int, by lines: ArraySlice<String>) -> Int? {
        guard let place = lines.firstIndex(where: { Self.key($0) == Self.key(line) }) else { return nil }
        replacements[number] = lines[place]
        return place
    }

    /// The first word, or the name of an event.
    private static func key(_ line: String) -> String {
        let text = DocumentMask.of(line).replacing(#/^([^:{]*: )?TIME  /#, with: "")
        let name = text.firstMatch(of: /"event":"([^"]*)"/)?.1
        return String(name ?? text.split(separator: " ").first ?? "")
    }

    /// Replaces them in a page.
    func write(to page: DocumentPage) throws {
        guard !replacements.isEmpty else { return }
        var lines = page.lines
        for (number, line) in replacements { lines[number] = line }
        try lines.joined(separator: "\n").write(
            toFile: "\(repository)/\(page.path)", atomically: true, encoding: .utf8)
    }
}
