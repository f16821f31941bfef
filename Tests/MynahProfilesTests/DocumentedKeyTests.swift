import MynahSupport
import MynahTestSupport
import Testing

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
