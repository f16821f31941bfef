import Foundation

/// A page of the documentation, with its code blocks.
package struct DocumentPage: Sendable {
    /// A code block, and the section it is in.
    package struct Block: Sendable {
        /// The language after the opening fence, such as `yaml`.
        package var language: String
        package var section: String
        /// The line of the page on which its text begins, from 0.
        package var line: Int
        package var lines: [String]

        package var text: String { lines.joined(separator: "\n") + "\n" }
    }

    /// A file that a reader writes, or a command with what it prints.
    package enum Step: Sendable {
        case file(name: String, text: String)
        case command(DocumentCommand)
    }

    package static let articles = "Sources/Mynah/Mynah.docc"
    private static let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    /// The README, and every article.
    package static let all: [DocumentPage] = {
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: "\(Self.repository)/\(articles)")) ?? []
        let paths = ["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(articles)/\($0)" }
        return paths.compactMap { try? DocumentPage($0) }
    }()

    /// The path in the repository.
    package let path: String
    package let lines: [String]
    package let blocks: [Block]

    package init(_ path: String) throws {
        self.path = path
        lines = try String(contentsOfFile: "\(Self.repository)/\(path)", encoding: .utf8)
            .components(separatedBy: "\n")
        var (blocks, open, section): ([Block], Block?, String) = ([], nil, "")
        for (number, line) in lines.enumerated() {
            if let block = open {
                if line == "```" {
                    blocks.append(block)
                    open = nil
                } else {
                    open?.lines.append(line)
                }
            } else if line.hasPrefix("```") {
                open = Block(
                    language: String(line.dropFirst(3)), section: section, line: number + 1, lines: [])
            } else if line.hasPrefix("## ") {
                section = String(line.dropFirst(3))
            }
        }
        self.blocks = blocks
    }

    package var text: String { lines.joined(separator: "\n") }

    package func blocks(of language: String) -> [Block] { blocks.filter { $0.language == language } }

    /// The sections that have commands to play, in order, each with its steps.
    ///
    /// A `yaml` block that begins with a comment of one file name is that file.
    package var sections: [(name: String, steps: [Step])] {
        var sections: [(name: String, steps: [Step])] = []
        for block in blocks {
            let steps: [Step] =
                switch block.language {
                case "console": DocumentCommand.all(in: block).map { .command($0) }
                case "yaml": Self.fileName(of: block).map { [.file(name: $0, text: block.text)] } ?? []
                default: []
                }
            guard !steps.isEmpty else { continue }
            if sections.last?.name == block.section {
                sections[sections.endIndex - 1].steps += steps
            } else {
                sections.append((block.section, steps))
            }
        }
        return sections
    }

    private static func fileName(of block: Block) -> String? {
        block.lines.first?.wholeMatch(of: /# ([a-z0-9-]+\.yaml)/).map { String($0.1) }
    }

    /// Every command that is played.
    package var commands: [DocumentCommand] {
        sections.flatMap { section in
            section.steps.compactMap { if case .command(let command) = $0 { command } else { nil } }
        }
    }
}

/// A command of a `console` block, with what it prints.
package struct DocumentCommand: Sendable {
    /// A line below the command.
    package enum Expectation: Hashable, Sendable {
        /// `...`: any number of lines.
        case gap
        /// A line, at this place in the page, from 0.
        case line(String, number: Int)
        /// A line typed at a prompt, which a pipe does not print.
        case input(String)
        /// `^C`: Ctrl-C is typed.
        case interrupt
    }

    /// As a shell runs it, in one line.
    package var words: String
    package var expected: [Expectation]

    package static func all(in block: DocumentPage.Block) -> [DocumentCommand] {
        var commands: [DocumentCommand] = []
        var isContinued = false
        for (number, line) in block.lines.enumerated() {
            if isContinued || line.hasPrefix("$ ") {
                let part = isContinued ? line.trimmingCharacters(in: .whitespaces) : String(line.dropFirst(2))
                if !isContinued {
                    commands.append(DocumentCommand(words: "", expected: []))
                }
                isContinued = part.hasSuffix("\\")
                commands[commands.endIndex - 1].words += isContinued ? String(part.dropLast()) : part
            } else if !commands.isEmpty {
                commands[commands.endIndex - 1].expect(line, at: block.line + number)
            }
        }
        return commands
    }

    private mutating func expect(_ line: String, at number: Int) {
        if line == "..." {
            expected.append(.gap)
        } else if line == "^C" {
            expected.append(.interrupt)
        } else if verb == "connect", let typed = line.firstMatch(of: #/^[A-Z][A-Za-z ]*> /#) {
            expected.append(.input(String(line[typed.range.upperBound...])))
        } else {
            expected.append(.line(line, number: number))
        }
    }

    /// `run` of `mynah run`; empty if it is another program.
    package var verb: String {
        let words = words.split(separator: " ").map(String.init)
        guard words.count > 1, words[0].hasSuffix("mynah") else { return "" }
        return words[1]
    }

    /// The options of `mynah`, such as `--radio`.
    package var options: Set<String> {
        guard !verb.isEmpty else { return [] }
        return Set(words.split(separator: " ").filter { $0.hasPrefix("--") }.map(String.init))
    }

    /// Whether it goes on until somebody ends it.
    package var runsOn: Bool {
        if words.hasSuffix(" &") || words == "make run" { return true }
        let ends: Set = ["--until", "--timeout", "--scenario", "--help", "--version"]
        return (verb == "run" || verb == "scan") && options.isDisjoint(with: ends)
    }

    /// Whether it fails.
    package var fails: Bool {
        expected.contains { if case .line(let line, _) = $0 { line.contains("error: ") } else { false } }
    }

    /// The names of the events that it prints, as text or as JSON.
    package var events: Set<String> {
        guard verb == "run" || verb == "air" || words.contains("events.jsonl") else { return [] }
        return Set(
            expected.compactMap { expectation -> String? in
                guard case .line(let line, _) = expectation else { return nil }
                let text = line.firstMatch(
                    of: /^(?:[^:{]*: )?[0-9:]{8}\.[0-9]{3}  ([a-zA-Z.]+)/)
                let json = line.firstMatch(of: /^\{"time":"[^"]*","event":"([a-zA-Z.]+)"/)
                return (text?.1 ?? json?.1).map(String.init)
            })
    }
}

/// Hides what differs from run to run, on both sides of a comparison.
package enum DocumentMask {
    package static func of(_ line: String) -> String {
        var text = line.replacing(/([0-9A-F]{2}:){5}[0-9A-F]{2}/, with: "ADDRESS")
        text = text.replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/, with: "TIME")
        text = text.replacing(/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}/, with: "TIME")
        // A UUID with the Bluetooth base is not random.
        text = text.replacing(/[0-9A-F]{8}(-[0-9A-F]{4}){3}-(?!00805F9B34FB)[0-9A-F]{12}/, with: "UUID")
        text = text.replacing(/passkey [0-9]{6}/, with: "passkey N")
        // Heart rates of 60 to 109, also with the energy that was expended.
        text = text.replacing(/\b(00[3-6][0-9A-F]|08[3-6][0-9A-F]{5})\b/, with: "RATE")
        text = text.replacing(/RATE  [0-9]+ bpm/, with: "RATE  N bpm")
        text = text.replacing(/energy expended [0-9]+ kJ/, with: "energy expended N kJ")
        text = text.replacing(/"heartRate":[0-9]+/, with: "\"heartRate\":N")
        text = text.replacing(/(coalesced"?[ :])[0-9]+/) { "\($0.1)N" }
        text = text.replacing(
            /((?:advertisingEvents|Seconds|packetsSent|packetsReceived|airtimeMilliseconds)"?[ :])[0-9.]+/
        ) { "\($0.1)N" }
        while text.last == " " { text.removeLast() }
        return text
    }
}
