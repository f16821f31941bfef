import Foundation
import MynahTestSupport
import Testing

/// The text, links and profiles of the README and the articles.
@Suite(.timeLimit(.minutes(15))) struct ReadMeTests {
    private static let pages =
        DocumentPage.all
        + ["Sources/README.md", "Tests/README.md"].compactMap { try? DocumentPage($0) }

    @Test func `every profile in them is clean`() async throws {
        let app = "mynah: 1\nname: x\nadvertising: {serviceUUIDs: [180D]}\nservices: [{uuid: 180D}]\n"
        let recording = try ProfileFile("level\n100\n99\n")
        let values = try ProfileFile(
            #"{"at": 1, "service": "180D", "characteristic": "2A37", "value": "0048"}"#)
        var whole = 0
        for page in Self.pages {
            for block in page.blocks(of: "yaml").map(\.text) where !block.hasPrefix("jobs:") {
                whole += block.contains("mynah: 1") ? 1 : 0
                let text = block.replacing("ride.csv", with: recording.path)
                    .replacing("strap.jsonl", with: values.path)
                let file = try ProfileFile(text.hasPrefix("app:") ? app + text : text)
                let result = try await VirtualStage.play("check", "--radio", "virtual", file.path)
                #expect(result.status == .exited(0), "\(page.path): \(result.output)")
            }
        }
        #expect(whole >= 2)
    }

    @Test func `the README names every command`() async throws {
        let text = try DocumentPage("README.md").text
        let help = try await VirtualStage.play("--help").output
        let commands = help.components(separatedBy: "SUBCOMMANDS:\n").last?.components(separatedBy: "\n")
            .prefix { !$0.isEmpty }.filter { !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        for command in ["run", "check", "show", "new"] {
            #expect(try #require(commands).contains(command))
        }
        for command in try #require(commands) { #expect(text.contains("| `mynah \(command)")) }
    }

    @Test func `every link leads to a file, and every article is linked`() throws {
        var found: Set<String> = []
        for page in Self.pages {
            let folder = page.path.split(separator: "/").dropLast().joined(separator: "/")
            let pieces = page.text
            let links =
                pieces.components(separatedBy: "](").dropFirst()
                .compactMap { $0.components(separatedBy: ")").first }.filter { !$0.hasPrefix("http") }
                .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
                + pieces.components(separatedBy: "<doc:").dropFirst()
                .compactMap { $0.components(separatedBy: ">").first }
                .map { "\(DocumentPage.articles)/\($0).md" }
            for link in links {
                let isThere = FileManager.default.fileExists(atPath: "\(repository)/\(link)")
                #expect(isThere, "\(page.path) links to \(link)")
            }
            if page.path == "README.md" { found.formUnion(links) }
        }
        // The page that lists the articles is for DocC.
        let articles = Self.pages.map(\.path).filter {
            $0.hasPrefix(DocumentPage.articles) && !$0.hasSuffix("/Mynah.md")
        }
        #expect(articles.filter { !found.contains($0) } == [])
    }

    @Test func `every source that the guide to the sources names is there`() throws {
        let page = try DocumentPage("Sources/README.md")
        let files = FileManager.default
        let sources = Set(
            files.enumerator(atPath: "\(repository)/Sources")?.compactMap { ($0 as? String)?.fileName } ?? [])
        let named = page.text.matches(of: /`([A-Za-z+\/]+\.swift)`/).map { String($0.1) }
        #expect(named.count > 10)
        for name in named {
            let isThere =
                name.contains("/") && name.hasPrefix("Mynah")
                ? files.fileExists(atPath: "\(repository)/Sources/\(name)") : sources.contains(name.fileName)
            #expect(isThere, "\(name)")
        }
    }

    /// Rows of tables, and what a program prints, are as long as they are.
    @Test func `no line of text is longer than 120 columns`() {
        for page in Self.pages {
            let printed = page.blocks(of: "console").reduce(into: Set<Int>()) { lines, block in
                lines.formUnion(
                    block.lines.indices.filter { !block.lines[$0].hasPrefix("$ ") }.map { $0 + block.line })
            }
            for (number, line) in page.lines.enumerated() where !line.hasPrefix("|") {
                #expect(line.count <= 120 || printed.contains(number), "\(page.path): \(line)")
            }
        }
    }

    @Test func `the README has at most 200 lines, and 30 in a section`() throws {
        let lines = try DocumentPage("README.md").lines
        #expect(lines.count <= 201)
        let starts = lines.indices.filter { lines[$0].hasPrefix("## ") }
        for (start, end) in zip(starts, starts.dropFirst() + [lines.endIndex - 1]) {
            #expect(end - start <= 30, "\(lines[start])")
        }
    }
}

extension String {
    fileprivate var fileName: String { String(split(separator: "/").last ?? "") }
}
