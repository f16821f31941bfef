import Testing

@testable import MynahProfiles

@Suite struct LongValueTests {
    @Test(
        "a value may be written over several lines, and an editor takes it too",
        arguments: [
            "hex: |\n            01 02\n            03:04", "base64: |\n            AQID\n            BA==",
        ])
    func severalLines(_ form: String) throws {
        let text = characteristic("properties: [read]\n        value:\n          \(form)\n")
        #expect(problems(text) == [])
        let value = try profile(text).services.first?.characteristics.first?.value
        guard case .bytes(let bytes) = try #require(value) else {
            Issue.record("not bytes")
            return
        }
        #expect(bytes == [1, 2, 3, 4])
        #expect(SchemaValidator(root: ProfileFormat.schema).problems(of: try EditorYAML.json(text)) == [])
    }
}
