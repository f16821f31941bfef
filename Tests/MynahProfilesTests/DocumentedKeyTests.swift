import MynahSupport
import MynahTestSupport
import Testing

import Glibc

@testable import MynahProfiles

/// The profiles in the README and the articles, held against the schema.
@Suite struct DocumentedKeyTests {
    @Test func `every key of the schema is in a profile of the README or an article`() throws {
        let validator = SchemaValidator(root: ProfileFormat.schema)
        var used: Set<String> = []
        for page in DocumentPage.all {
            for block in page.blocks(of: "yaml").map(\.text) where !block.hasPrefix("jobs:") {
                let isPart = block.hasPrefix("app:")
                let value = try EditorYAML.json((isPart ? "mynah: 1\nname: x\n" : "") + block)
                #expect(validator.problems(of: value) == [], "\(page.path)")
                used.formUnion(validator.keys(of: value))
            }
        }
        #expect(validator.allKeys.subtracting(used).sorted() == [])
    }

    /// Each table begins with a header of its own.
    @Test func `the tables of keys in the article are those of the format`() {
        let path = "\(repository)/Sources/Mynah/Mynah.docc/Profiles.md"
        var lines = contents(of: path).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        for table in ProfileFormat.keyTables {
            guard let start = lines.firstIndex(of: table[0]) else {
                Issue.record("the article lacks the table \(table[0])")
                continue
            }
            let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
            if getenv("MYNAH_WRITE_SCHEMA") != nil { lines.replaceSubrange(start..<end, with: table) }
            #expect(
                lines[start...].prefix { $0.hasPrefix("|") } == table[...],
                "make it anew: MYNAH_WRITE_SCHEMA=1 swift test --filter DocumentedKeyTests")
        }
        guard getenv("MYNAH_WRITE_SCHEMA") != nil, let file = fopen(path, "w") else { return }
        fputs(lines.joined(separator: "\n"), file)
        fclose(file)
    }

    @Test func `the decoder reads every profile of the article about profiles`() throws {
        let page = try #require(DocumentPage.all.first { $0.path.hasSuffix("/Profiles.md") })
        let ride = try TemporaryFile(Array("time,level\n0,100\n60,99\n".utf8))
        let blocks = page.blocks(of: "yaml").map { $0.text.replacing("ride.csv", with: ride.path) }
        #expect(blocks.count >= 4)
        for block in blocks {
            let problems = try TemporaryFile(Array(block.utf8)).problems()
            #expect(problems.filter { $0.contains("error: ") } == [])
        }
    }
}
