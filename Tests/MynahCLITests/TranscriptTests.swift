import Foundation
import Glibc
import MynahSupport
import MynahTestSupport
import Testing

/// Replays each transcript of the article about Core Bluetooth's rules in virtual time.
///
/// A file has commands and, after them, what the last one prints of its first radio: without times, equal
/// lines that follow each other once. Of several apps, a line begins with its app. Commands before the last
/// run beside it, or to their end if they have `--until`. A last command with `--timeout` is shown up to its
/// `radio.used`. `make transcripts` records them anew, and `make transcripts-real` plays them with the
/// program, in real time.
@Suite(.processes, .timeLimit(.minutes(15))) struct TranscriptTests {
    private static let folder = "\(repository)/Tests/Transcripts"
    private static let article = "\(repository)/Sources/Mynah/Mynah.docc/CoreBluetoothRules.md"
    private static let environment = ProcessInfo.processInfo.environment
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()
    }()

    /// Commands, and what the last one prints.
    private struct Transcript {
        let path: String
        /// The lines of the commands, as they are written.
        let head: [String]
        let expected: [String]

        init(_ name: String) throws {
            path = "\(folder)/\(name).txt"
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
                .map(String.init)
            head = lines.filter { $0.hasPrefix("$ ") }
            expected = Array(lines.drop { $0.hasPrefix("$ ") })
        }

        /// The words of each command after `mynah`, with the folder for its state.
        func commands(state: TemporaryDirectory) -> [[String]] {
            head.map { line in
                ShellWords.of(String(line.dropFirst(8))).map { word in
                    if word.hasSuffix(".yaml") { return "\(repository)/\(word)" }
                    return word == "state" ? state.path : word
                }
            }
        }
    }

    @Test(arguments: TranscriptTests.names)
    func `a run prints what its transcript says`(name: String) async throws {
        let transcript = try Transcript(name)
        let shown = try await Self.play(transcript)
        guard Self.environment["MYNAH_RECORD"] != nil else {
            #expect(shown == transcript.expected)
            return
        }
        let text = (transcript.head + shown).joined(separator: "\n") + "\n"
        try text.write(toFile: transcript.path, atomically: true, encoding: .utf8)
    }

    /// In real time a busy machine may be late for what a command plans, so that one of three plays counts,
    /// and the events of different devices come in any order at the same time.
    @Test(
        .enabled(if: environment["MYNAH_REAL"] != nil, "make transcripts-real plays them"),
        arguments: TranscriptTests.names)
    func `the program prints in real time what a transcript says`(name: String) async throws {
        let transcript = try Transcript(name)
        var shown: [String] = []
        for _ in 1...3 {
            shown = try await Self.playProgram(transcript)
            if Self.orders(shown) == Self.orders(transcript.expected) { return }
        }
        #expect(shown == transcript.expected)
    }

    @Test func `the article names each rule, and each transcript with its command`() throws {
        let article = try String(contentsOfFile: Self.article, encoding: .utf8)
        for rule in 1...111 { #expect(article.contains("\n| R\(rule) |"), "R\(rule)") }
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| `") }
        var named: Set<String> = []
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let name = try #require(cells.first).trimmingCharacters(in: ["`"])
            named.insert(name)
            let text = try String(contentsOfFile: "\(Self.folder)/\(name).txt", encoding: .utf8)
            let last = try #require(text.split(separator: "\n").last { $0.hasPrefix("$ ") })
            #expect(cells.last == "`\(last.dropFirst(2))`", "\(name)")
        }
        #expect(named == Set(Self.names))
        // A rule names transcripts, or tests that exist.
        let tests = try Self.sourcesOfTests()
        for row in article.split(separator: "\n") where row.firstMatch(of: /^\| R[0-9]/) != nil {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let shown = try #require(cells.last)
            for piece in shown.split(separator: ";").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                let name = piece.trimmingCharacters(in: ["`"])
                let isThere = piece.hasPrefix("`") ? named.contains(name) : tests.contains("`\(piece)`")
                #expect(isThere, "\(row)")
            }
        }
    }

    private static func sourcesOfTests() throws -> String {
        let files = try #require(FileManager.default.enumerator(atPath: "\(repository)/Tests"))
        var text = ""
        for case let file as String in files where file.hasSuffix("Tests.swift") {
            text += try String(contentsOfFile: "\(repository)/Tests/\(file)", encoding: .utf8)
        }
        return text
    }

    /// Whether a command ends by itself; any other plays on beside those after it.
    private static func ends(_ command: [String]) -> Bool {
        command.contains("--until") || command.contains("--timeout")
    }

    /// Plays commands, and returns what the last one prints of its first radio up to the event that ends it.
    private static func play(_ transcript: Transcript) async throws -> [String] {
        let state = try TemporaryDirectory()
        let commands = transcript.commands(state: state)
        return try await VirtualStage.play { stage in
            var beside: [PlayedCommand] = []
            var output = ""
            for (index, command) in commands.enumerated() {
                if ends(command) {
                    let result = await stage.play(command)
                    #expect(result.status == .exited(0), "\(result.error)")
                    #expect(!stage.isInterrupted, "an event that the command waits for does not come")
                    output = result.output
                } else {
                    #expect(index < commands.count - 1, "the last command ends by itself")
                    let program = stage.start(command)
                    let ready = try await program.output.line(containing: "  ready ")
                    #expect(ready != nil)
                    beside.append(program)
                }
            }
            for program in beside {
                program.terminate()
                #expect(await program.end().status == .exited(0))
            }
            return shown(output, to: end(of: commands))
        }
    }

    /// The same by the program, in real time.
    private static func playProgram(_ transcript: Transcript) async throws -> [String] {
        let (air, state) = (try TemporaryDirectory(), try TemporaryDirectory())
        let commands = transcript.commands(state: state)
        var beside: [Program] = []
        var output = ""
        for command in commands {
            let program = try Program(command, air: air)
            if ends(command) {
                let result = try await program.end()
                #expect(result.status == .exited(0), "\(result.error)")
                output = result.output
            } else {
                #expect(try await program.output.line(containing: "  ready ") != nil)
                beside.append(program)
            }
        }
        for program in beside {
            program.child.send(SIGTERM)
            #expect(try await program.child.end() == .exited(0))
        }
        return shown(output, to: end(of: commands))
    }

    /// The name of the last event that is shown.
    private static func end(of commands: [[String]]) -> String {
        let last = commands.last ?? []
        let end = last.contains("--timeout") ? "radio.used" : last.last { !$0.hasPrefix("-") } ?? ""
        return String(end.prefix { $0 != " " })
    }

    /// The lines of each app and of the phone.
    private static func orders(_ lines: [String]) -> [String: [String]] {
        Dictionary(grouping: lines) { $0.firstMatch(of: #/^([^ :]+): /#).map { String($0.1) } ?? "" }
    }

    private static func shown(_ output: String, to event: String) -> [String] {
        let stamp = #/^(?:([^:]*): )?[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}  /#
        let all = output.split(separator: "\n").compactMap { line in
            line.firstMatch(of: stamp).map { (device: $0.output.1, text: line[$0.range.upperBound...]) }
        }
        // The phone of several apps is named by all of them, as in its `ready`.
        let first = all.first?.device
        let phone =
            all.first { $0.text.hasPrefix("ready ") && Self.apps($0.device).contains(first) }?.device ?? first
        var lines: [(text: String, line: String)] = []
        var mask = Mask()
        // How many lines there were before the last `radio.used`.
        var use: Int?
        for (device, line) in all where device == phone || Self.apps(phone).contains(device) {
            let text = mask.of(String(line))
            // A slow run reports it each minute too, and after the last one nothing of interest comes.
            guard event == "radio.used" || !text.hasPrefix("radio.used") else {
                use = lines.endIndex
                continue
            }
            let app = device == phone ? "" : "\(device ?? ""): "
            if lines.last?.line != app + text { lines.append((text, app + text)) }
        }
        let end = lines[..<(use ?? lines.endIndex)].lastIndex { $0.text.hasPrefix(event) }
        return lines[...(end ?? lines.endIndex - 1)].map(\.line)
    }

    /// The apps that a phone is named by.
    private static func apps(_ phone: Substring?) -> [Substring?] {
        phone?.split(separator: ", ").map { $0 } ?? []
    }

    /// Hides what differs from run to run.
    ///
    /// The second address or UUID of a run has the number 2, and so on.
    private struct Mask {
        private var seen: [String: [String]] = [:]

        mutating func of(_ line: String) -> String {
            let addressed = line.replacing(/([0-9A-F]{2}:){5}[0-9A-F]{2}/) { name("ADDRESS", of: $0.0) }
            // A UUID with the Bluetooth base is not random.
            let identified = addressed.replacing(
                /[0-9A-F]{8}(-[0-9A-F]{4}){3}-(?!00805F9B34FB)[0-9A-F]{12}/
            ) { name("UUID", of: $0.0) }
            let counted = identified.replacing(/coalesced [0-9]+/, with: "coalesced N")
            guard counted.hasPrefix("radio.used") else { return counted }
            return counted.replacing(
                /(advertisingEvents|scanSeconds|linkSeconds|airtimeMilliseconds) [0-9.]+/
            ) { "\($0.1) N" }
        }

        private mutating func name(_ kind: String, of text: Substring) -> String {
            let text = String(text)
            var names = seen[kind, default: []]
            if !names.contains(text) { names.append(text) }
            seen[kind] = names
            return names.first == text ? kind : "\(kind) \((names.firstIndex(of: text) ?? 0) + 1)"
        }
    }
}
