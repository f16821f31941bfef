import MynahSupport
import MynahTestSupport
import Testing

/// The profiles in the README and the articles, held against the schema.
@Suite struct DocumentedKeyTests {
    @Test func `every key of the schema is in a profile of the README or an article`() throws {
        let validator = SchemaValidator(root: ProfileSchema.json)
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
}
