import MynahTestSupport
import Testing

import Glibc

@testable import MynahProfiles

@Suite struct ProfileFilesTests {
    private static func expanded(_ path: String) -> Result<[String], ProfileIssues> {
        Result { () throws(ProfileIssues) in try ProfileFiles.expanding(path) }
    }

    @Test(arguments: [
        ("a.yaml", true), ("a.yml", true), ("a.json", true), ("A.YAML", true), ("profile.schema.json", false),
        ("x.Schema.JSON", false), (".a.yaml", false), ("a.jsonl", false), ("a.txt", false), ("yaml", false),
        (".yaml", false),
    ])
    func `a folder plays its files of these names`(name: String, isPlayed: Bool) {
        #expect(ProfileFiles.isProfile(name) == isPlayed)
    }

    @Test func `a folder is its profiles by name, without the folders in it`() throws {
        let folder = try TemporaryDirectory()
        for name in ["b.yaml", "a.yml", "c.json", "profile.schema.json", ".d.yaml", "values.jsonl"] {
            try folder.write("", to: name)
        }
        let inner = folder.path + "/inner.yaml"
        try #require(mkdir(inner, 0o700) == 0)
        defer { rmdir(inner) }
        let files = ["a.yml", "b.yaml", "c.json"].map { "\(folder.path)/\($0)" }
        #expect(try Self.expanded(folder.path).get() == files)
        #expect(try Self.expanded(folder.path + "/").get() == files)
        let file = files[0]
        #expect(try Self.expanded(file).get() == [file])
        #expect(try Self.expanded("/nonexistent.yaml").get() == ["/nonexistent.yaml"])
    }

    @Test func `a folder without a profile is an error that says so`() throws {
        let folder = try TemporaryDirectory()
        try folder.write("", to: "profile.schema.json")
        let issues = ProfileIssues([
            ProfileIssue(
                file: folder.path,
                message: """
                    the folder has no profile; the profiles of a folder are its files that end with .yaml, \
                    .yml, .json, and folders in it are not searched
                    """)
        ])
        #expect(Self.expanded(folder.path) == .failure(issues))
    }

    @Test func `the standard input has another name`() {
        #expect(throws: ProfileIssues.self) { try ProfileFiles.expanding("-") }
        do {
            _ = try ProfileFiles.expanding("-")
        } catch {
            #expect(error.issues.map(\.message).first?.contains("write /dev/stdin") == true)
        }
    }
}
