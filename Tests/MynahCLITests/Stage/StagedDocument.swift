import Foundation
import MynahSupport
import MynahTestSupport
import Testing

/// Plays the commands of a section in virtual time, if they need nothing that only processes have.
struct StagedDocument {
    /// A command as it is played.
    private struct Line {
        /// The program: `mynah`, `cat` or `grep`.
        let program: String
        let words: [String]
        /// The file that its output goes to, or `nil`.
        var file: String?

        private static let radios: Set = ["run", "scan", "connect", "record"]
        private static let verbs = radios.union(["check", "show", "new", "import"])
        /// Options whose effect is outside the command's own text.
        private static let others: Set = ["--control", "--log-level", "--help", "--version"]

        init?(_ command: DocumentCommand) {
            let text = command.words.hasSuffix(" &") ? String(command.words.dropLast(2)) : command.words
            guard !text.contains("|"), !text.contains(";") else { return nil }
            var words = ShellWords.of(text)
            if let place = words.firstIndex(of: ">") {
                guard place == words.count - 2 else { return nil }
                file = words[place + 1]
                words.removeLast(2)
            }
            program = words.removeFirst()
            self.words = words
            switch program {
            case "cat", "grep": return
            case "mynah":
                guard let verb = words.first, Self.verbs.contains(verb),
                    Self.others.isDisjoint(with: words)
                else { return nil }
                guard Self.radios.contains(verb), !words.contains("fast") else { return }
                guard let radio = words.firstIndex(of: "--radio"), words[radio + 1] == "virtual" else {
                    return nil
                }
            default: return nil
            }
        }

        private static let paths: Set = ["--state-dir", "--output", "--capture", "--report"]

        /// Its words with the files of a folder by their whole paths.
        func words(in folder: String) -> [String] {
            zip([""] + words, words).map { before, word in
                let isFile = FileManager.default.fileExists(atPath: "\(folder)/\(word)")
                return isFile || word.hasSuffix(".yaml") || Self.paths.contains(before)
                    ? "\(folder)/\(word)" : word
            }
        }
    }

    /// A command that is under way.
    private struct Running {
        let command: DocumentCommand
        let line: Line
        let played: PlayedCommand
    }

    let folder: String
    /// Given a line that did not come, takes what came in its place.
    var record: DocumentRecord?

    /// Whether it can play a section.
    static func plays(_ steps: [DocumentPage.Step]) -> Bool {
        steps.allSatisfy { step in
            if case .command(let command) = step { Line(command) != nil } else { true }
        }
    }

    /// Plays the steps, and ends what runs on.
    func play(_ steps: [DocumentPage.Step]) async throws {
        try await VirtualStage.play { stage in
            var runningOn: [Running] = []
            for step in steps {
                switch step {
                case .file(let name, let text): try write(text, to: name)
                case .command(let command):
                    let line = try #require(Line(command))
                    for running in runningOn { try keep(running) }
                    guard line.program == "mynah" else {
                        try compare(command, Self.read(line, in: folder))
                        continue
                    }
                    let running = Running(
                        command: command, line: line, played: stage.start(line.words(in: folder)))
                    if command.runsOn {
                        runningOn.append(running)
                        if command.verb == "run", line.file == nil {
                            _ = try await running.played.terminal.line("ready") {
                                $0.contains("  ready  ") || $0.contains("\"ready\"")
                            }
                        }
                    } else {
                        try await compare(running)
                        try keep(running)
                    }
                }
            }
            // Their output depends on the commands after them.
            for running in runningOn {
                try await compare(running)
                running.played.quit()
                try await end(running)
            }
        }
    }

    private func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
    }

    /// Writes what a command has printed so far to the file that it goes to.
    private func keep(_ running: Running) throws {
        if let file = running.line.file { try write(running.played.output.text, to: file) }
    }

    /// The output of `cat` or `grep`.
    private static func read(_ line: Line, in folder: String) throws -> [String] {
        let name = try #require(line.words.last)
        let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        return line.program == "cat" ? lines : lines.filter { $0.contains(line.words[0]) }
    }

    // MARK: Comparison

    /// A line as it is compared.
    private static func masked(_ line: String, in folder: String) -> String {
        DocumentMask.of(line.replacing("\(folder)/", with: ""))
    }

    private func masked(_ line: String) -> String { Self.masked(line, in: folder) }

    /// The texts of a command on its terminal: without those that go to a file.
    private func terminal(of running: Running) -> PlayedOutput {
        running.line.file == nil ? running.played.terminal : running.played.error
    }

    /// Compares lines that are all there with the page.
    private func compare(_ command: DocumentCommand, _ lines: [String]) throws {
        let output = PlayedOutput()
        for line in lines { output.add(line + "\n") }
        var (next, hasGap) = (0, false)
        for expectation in command.expected {
            switch expectation {
            case .gap: hasGap = true
            case .line(let line, let number):
                let lines = output.lines.map(masked)
                let end = hasGap ? lines.endIndex : min(next + 1, lines.endIndex)
                let place = lines[min(next, end)..<end].firstIndex(of: masked(line))
                next = try (place ?? replaced(line, at: number, in: output, from: next, command)) + 1
                hasGap = false
            case .input, .interrupt: break
            }
        }
        try finish(command, output, from: next, mayPrintMore: hasGap)
    }

    /// Compares what a command prints with the page, line by line, while it prints it.
    private func compare(_ running: Running) async throws {
        let (command, output) = (running.command, terminal(of: running))
        var (next, hasGap, hasEnded) = (0, false, false)
        for expectation in command.expected {
            switch expectation {
            case .gap: hasGap = true
            case .input(let text): running.played.type(text)
            case .interrupt:
                running.played.quit()
                hasEnded = true
            case .line(let line, let number):
                let place = try await place(of: masked(line), in: output, from: next, maySkip: hasGap)
                next = try (place ?? replaced(line, at: number, in: output, from: next, command)) + 1
                hasGap = false
            }
        }
        if command.verb == "connect" { running.played.type("quit") }
        guard !command.runsOn || hasEnded else { return }
        try await end(running)
        try finish(command, output, from: next, mayPrintMore: hasGap)
    }

    /// Waits for a line, at this place or later, and returns its place; `nil` if another came.
    private func place(
        of line: String, in output: PlayedOutput, from: Int, maySkip: Bool
    ) async throws -> Int? {
        let read = Lock(0)
        let found = Lock<Int?>(nil)
        _ = try await output.line(line) { [folder] each in
            let place = read.withLock { read in
                defer { read += 1 }
                return read
            }
            guard place >= from else { return false }
            let isIt = Self.masked(each, in: folder) == line
            if isIt { found.withLock { $0 = place } }
            return isIt || !maySkip
        }
        return found.withLock { $0 }
    }

    /// The place of the line that a record takes in place of one that did not come.
    private func replaced(
        _ line: String, at number: Int, in output: PlayedOutput, from: Int, _ command: DocumentCommand
    ) throws -> Int {
        let lines = output.lines.map { $0.replacing("\(folder)/", with: "") }
        if let place = record?.replace(line, at: number, by: lines.dropFirst(from)) { return place }
        throw DocumentPlayer.Mismatch(
            description: "\(command.words)\nwanted: \(line)\nall lines:\n\(lines.joined(separator: "\n"))")
    }

    private func finish(
        _ command: DocumentCommand, _ output: PlayedOutput, from next: Int, mayPrintMore: Bool
    ) throws {
        let rest = output.lines.map(masked).dropFirst(next)
        guard mayPrintMore || rest.isEmpty else {
            throw DocumentPlayer.Mismatch(
                description: "\(command.words)\nprinted more: \(rest.joined(separator: "\n"))")
        }
    }

    private func end(_ running: Running) async throws {
        let result = await running.played.end()
        guard (result.status == .exited(0)) != running.command.fails else {
            throw DocumentPlayer.Mismatch(
                description: "\(running.command.words)\nended with \(result.status)\n\(result.error)")
        }
    }
}

/// The words of a command line.
enum ShellWords {
    /// The words of a line, without their quotation marks.
    static func of(_ line: String) -> [String] {
        var words: [String] = []
        var (word, isQuoted): (String?, Bool) = (nil, false)
        for character in line {
            switch character {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let done = word { words.append(done) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }
}
