import Foundation
import MynahTestSupport
import Testing

/// The commands and files that a newcomer copies out of the README and the articles.
@Suite(.timeLimit(.minutes(15))) struct ReadMeTests {
    private static let articles = "Sources/Mynah/Mynah.docc"

    private static func pages() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(repository)/\(articles)")
        return ["README.md", "Tests/README.md"]
            + names.filter { $0.hasSuffix(".md") }.map { "\(articles)/\($0)" }
    }

    private static func text(of page: String) throws -> String {
        try String(contentsOfFile: "\(repository)/\(page)", encoding: .utf8)
    }

    private static func blocks(of language: String, in page: String) throws -> [String] {
        // Every other piece is a block.
        let pieces = try text(of: page).components(separatedBy: "```")
        return stride(from: 1, to: pieces.count, by: 2).map { pieces[$0] }
            .filter { $0.hasPrefix("\(language)\n") }.map { String($0.dropFirst(language.count + 1)) }
    }

    @Test func `every profile in them is clean`() async throws {
        let app = "mynah: 1\nname: x\nadvertising: {serviceUUIDs: [180D]}\nservices: [{uuid: 180D}]\n"
        var whole = 0
        for page in try Self.pages() {
            for block in try Self.blocks(of: "yaml", in: page) where !block.hasPrefix("jobs:") {
                whole += block.hasPrefix("mynah:") ? 1 : 0
                let file = try ProfileFile(block.hasPrefix("app:") ? app + block : block)
                let result = try await Program.run("check", "--radio", "virtual", file.path)
                #expect(result.status == .exited(0), "\(page): \(result.output)")
            }
        }
        #expect(whole >= 2)
    }

    @Test func `the README names every command, and its event is JSON`() async throws {
        let text = try Self.text(of: "README.md")
        let help = try await Program.run("--help").output
        let commands = help.components(separatedBy: "SUBCOMMANDS:\n").last?.components(separatedBy: "\n")
            .prefix { !$0.isEmpty }.filter { !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        for command in ["run", "check", "show", "new"] {
            #expect(try #require(commands).contains(command))
        }
        for command in try #require(commands) { #expect(text.contains("| `mynah \(command)")) }
        let event = try #require(try Self.blocks(of: "", in: "README.md").first { $0.contains("\"event\"") })
        #expect(try json(event)["event"] as? String == "subscribed")
    }

    @Test func `every link leads to a file, and every article is linked`() throws {
        var found: Set<String> = []
        for page in try Self.pages() {
            let folder = page.split(separator: "/").dropLast().joined(separator: "/")
            let pieces = try Self.text(of: page)
            let links =
                pieces.components(separatedBy: "](").dropFirst()
                .compactMap { $0.components(separatedBy: ")").first }.filter { !$0.hasPrefix("http") }
                .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
                + pieces.components(separatedBy: "<doc:").dropFirst()
                .compactMap { $0.components(separatedBy: ">").first }.map { "\(Self.articles)/\($0).md" }
            for link in links {
                let isThere = FileManager.default.fileExists(atPath: "\(repository)/\(link)")
                #expect(isThere, "\(page) links to \(link)")
            }
            if page == "README.md" { found.formUnion(links) }
        }
        // The page that lists the articles is for DocC.
        let articles = try Self.pages().filter { $0.hasPrefix(Self.articles) && !$0.hasSuffix("/Mynah.md") }
        #expect(articles.filter { !found.contains($0) } == [])
    }

    @Test func `no line of text is longer than 120 columns, and the README has at most 200`() throws {
        for page in try Self.pages() {
            for line in try Self.text(of: page).components(separatedBy: "\n")
            where !line.hasPrefix("|") && !line.hasPrefix("{") {
                #expect(line.count <= 120, "\(page): \(line)")
            }
        }
        #expect(try Self.text(of: "README.md").components(separatedBy: "\n").count <= 201)
    }
}
