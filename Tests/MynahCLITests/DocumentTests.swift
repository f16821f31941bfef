import Foundation
import Glibc
import MynahEmulator
import MynahProfiles
import MynahTestSupport
import Testing

/// The README and the articles, held against the program.
@Suite(.processes, .timeLimit(.minutes(15))) struct DocumentTests {
    private static let isRecording = ProcessInfo.processInfo.environment["MYNAH_RECORD"] != nil
    private static let pages = DocumentPage.all.filter { !$0.sections.isEmpty }.map(\.path)

    /// A folder as a reader has it who has cloned the repository and built the program; gone with this.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "mynah-page-\(UUID().uuidString)")
            .path

        init() throws {
            let files = FileManager.default
            try files.createDirectory(
                atPath: "\(path)/.build-release/release", withIntermediateDirectories: true)
            for name in ["Makefile", "profiles"] {
                try files.createSymbolicLink(
                    atPath: "\(path)/\(name)", withDestinationPath: "\(repository)/\(name)")
            }
            try files.createSymbolicLink(
                atPath: "\(path)/.build-release/release/mynah",
                withDestinationPath: try #require(Program.path))
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    @Test(arguments: pages)
    func `the commands of a page print what the page says`(path: String) async throws {
        let folder = try Folder()
        let page = try DocumentPage(path)
        let record = Self.isRecording ? DocumentRecord() : nil
        for section in page.sections {
            do {
                if StagedDocument.plays(section.steps) {
                    try await StagedDocument(folder: folder.path, record: record).play(section.steps)
                } else {
                    let air = try TemporaryDirectory()
                    try await DocumentPlayer(folder: folder.path, air: air, record: record)
                        .play(section.steps)
                }
            } catch {
                Issue.record("\(path), section \"\(section.name)\":\n\(error)")
            }
        }
        try record?.write(to: page)
    }

    @Test func `the screen in the README is what a terminal shows`() async throws {
        let page = try DocumentPage("README.md")
        let picture = try #require(page.blocks(of: "screen").first)
        let profile = try #require(page.blocks(of: "yaml").first { $0.text.hasPrefix("# strap.yaml") })
        let (file, air) = (try ProfileFile(profile.text), try TemporaryDirectory())
        let terminal = try Terminal(rows: 30, columns: 100)
        let device = try Program(["run", "--radio", "virtual", file.path], terminal: terminal, air: air)
        #expect(try await terminal.output.line(containing: "ready") != nil)
        let phone = try Program(
            [
                "connect", "My strap", "--radio", "virtual", "--quiet", "--command",
                "subscribe heart-rate-measurement", "--command", "wait 10 min",
            ], air: air)
        var frames: [[String]] = []
        let wanted = picture.lines.map(Self.withoutCounts)
        do {
            var size = 0
            try await until("the screen shows what the README says", limit: .seconds(120)) {
                guard size != terminal.output.size else { return false }
                size = terminal.output.size
                frames = Self.frames(terminal.output.lines)
                return frames.contains { frame in
                    let masked = Set(frame.map(Self.withoutCounts))
                    return wanted.allSatisfy { masked.contains($0) }
                }
            }
        } catch {
            let shown = frames.last?.joined(separator: "\n") ?? ""
            if !Self.isRecording { Issue.record("\(error)\n\(shown)") }
        }
        if Self.isRecording, let frame = frames.last {
            // Without empty lines and the last events, which need room.
            let lines = frame.filter {
                !$0.isEmpty && $0.firstMatch(of: /[0-9]{2}:[0-9]{2}:[0-9]{2}\./) == nil
            }
            var page = page.lines
            page.replaceSubrange(picture.line..<(picture.line + picture.lines.count), with: lines)
            try page.joined(separator: "\n").write(
                toFile: "\(repository)/README.md", atomically: true, encoding: .utf8)
        }
        phone.child.send(SIGINT)
        device.child.send(SIGINT)
        #expect(try await device.child.end() == .exited(0))
        _ = try await phone.end()
    }

    /// A line whose counts and rate may be any, because a busy machine draws no screen for some values.
    private static func withoutCounts(_ line: String) -> String {
        DocumentMask.of(line).replacing(/( +[0-9]+){3} +[0-9.]+\/s/, with: " COUNTS")
    }

    /// Each screen that was drawn whole, as its reader sees it.
    private static func frames(_ lines: [String]) -> [[String]] {
        var frames: [[String]] = []
        for line in lines {
            let parts = line.components(separatedBy: "\u{1B}[H")
            if parts.count > 1 { frames.append([]) }
            guard !frames.isEmpty else { continue }
            let text = (parts.last ?? "").replacing(#/\u{1B}\[[0-9;?]*[A-Za-z]/#, with: "")
            frames[frames.endIndex - 1].append(text.replacing("\r", with: ""))
        }
        return Array(frames.dropLast())
    }

    // MARK: Completeness

    /// Options that need hardware or another program, and are played by other tests.
    private static let hardware: [String: String] = [
        "run --adapter": "BlueZ only; the lab and MynahCLITests with a stand-in for bluetoothd have it",
        "run --notification-rate": "BlueZ only; MynahCLITests have it",
        "run --name-subscribers": "BlueZ 5.80 or later only; the lab has it",
        "serve --adapter": "BlueZ only",
        "run --with-pipe": "another program has to hold the pipe; ParentTests have it",
        "serve --with-pipe": "another program has to hold the pipe; ParentTests have it",
        "air --with-pipe": "another program has to hold the pipe; ParentTests have it for the others",
        "air --vhci": "the kernel's module hci_vhci has to be there; the lab has it",
        "scan --with-pipe": "another program has to hold the pipe; ParentTests have it",
        "connect --with-pipe": "another program has to hold the pipe; ParentTests have it",
        "scan --with-parent": "another program has to start it; run and serve have it",
        "connect --with-parent": "another program has to start it; run and serve have it",
        "ctl --control": "the examples have MYNAH_CONTROL; MynahCLITests have it",
        "ctl --control-token-file": "a port that is free is known only when it runs; MynahCLITests have it",
    ]

    @Test(arguments: ["run", "check", "show", "new", "scan", "connect", "serve", "ctl", "air"])
    func `every option of a command is in an example that is played`(verb: String) async throws {
        let help = try await Program.run(verb, "--help").output
        let options = Set(help.matches(of: /\n +(?:-h, )?(--[a-z-]+)/).map { String($0.1) })
        #expect(options.contains("--help"))
        let commands = DocumentPage.all.flatMap(\.commands)
        let used = commands.filter { $0.verb == verb }.reduce(into: Set<String>()) {
            $0.formUnion($1.options)
        }
        let anywhere = commands.reduce(into: Set<String>()) { $0.formUnion($1.options) }
        // All commands have these two, and one example is enough.
        let shared = anywhere.intersection(["--help", "--version"])
        let missing = options.subtracting(used).subtracting(shared)
        #expect(missing.filter { Self.hardware["\(verb) \($0)"] == nil }.sorted() == [])
        let excused = Self.hardware.keys.filter { $0.hasPrefix("\(verb) ") }.map {
            $0.dropFirst(verb.count + 1)
        }
        #expect(excused.filter { !missing.contains(String($0)) } == [])
    }

    /// Events that need hardware or another program, and are played by other tests.
    private static let hardwareEvents: [String: String] = [
        "radio.lost": "bluetoothd, an adapter or a controller has to go away; BadControllerTests have it",
        "peripheral.failedToConnect": "a controller has to refuse; CentralConnectionTests have it",
        "radio.recovered": "and come back; BadControllerTests have it",
    ]

    @Test func `every event is in an example that is played`() {
        let shown = DocumentPage.all.flatMap(\.commands).reduce(into: Set<String>()) {
            $0.formUnion($1.events)
        }
        let missing = Set(DeviceEvent.Name.allCases.map(\.rawValue)).subtracting(shown)
        #expect(missing.filter { Self.hardwareEvents[$0] == nil }.sorted() == [])
        #expect(Self.hardwareEvents.keys.filter { !missing.contains($0) } == [])
    }
}
