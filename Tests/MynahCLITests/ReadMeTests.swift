import Foundation
import MynahTestSupport
import Testing

/// What a newcomer copies out of the README.
@Suite(.timeLimit(.minutes(5))) struct ReadMeTests {
    private func blocks(of language: String) throws -> [String] {
        let text = try String(contentsOfFile: "\(repository)/README.md", encoding: .utf8)
        return text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    @Test func `its profile is clean, and so is its app`() async throws {
        let blocks = try blocks(of: "yaml")
        #expect(blocks.count == 2)
        let app = "mynah: 1\nname: x\nadvertising: {serviceUUIDs: [180D]}\nservices: [{uuid: 180D}]\n"
        for text in [blocks[0], app + blocks[1]] {
            let file = try ProfileFile(text)
            let result = try await Program.run("check", "--radio", "bluez", file.path)
            #expect(result.status == .exited(0))
        }
    }

    @Test func `it names every command, and its event is JSON`() async throws {
        let text = try String(contentsOfFile: "\(repository)/README.md", encoding: .utf8)
        let help = try await Program.run("--help").output
        let commands = help.components(separatedBy: "SUBCOMMANDS:\n").last?.components(separatedBy: "\n")
            .prefix { !$0.isEmpty }.filter { !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        for command in ["run", "check", "show", "new"] {
            #expect(try #require(commands).contains(command))
        }
        for command in try #require(commands) { #expect(text.contains("| `mynah \(command)")) }
        let line = try #require(try blocks(of: "").first { $0.contains("\"event\"") })
        #expect(try json(line)["event"] as? String == "write")
    }
}
