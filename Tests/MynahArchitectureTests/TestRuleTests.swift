import Foundation
import Testing

@Suite struct TestRuleTests {
    @Test func `every test source keeps the rules for tests`() throws {
        let files = try SourceFolder.files(in: "Tests").filter { TestRules.isTest($0.path) }
        #expect(files.count > 150)
        for file in files { #expect(TestRules.violations(of: file.path, file.text) == []) }
    }

    @Test(arguments: [
        "await withCheckedContinuation { continuation in keep(continuation) }",
        "let (stream, continuation) = AsyncStream<Int>.makeStream()",
        "try await until { isDone }",
        "await controller.wait { $0.isDone }",
        "while !isDone { await Task.yield() }",
        "try await Task.sleep(for: .seconds(1))",
        "@Suite struct ATests { @Test func `a b`() async { #expect(true) } }",
        "@Suite(.serialized) struct ATests { @Test func a() async throws { #expect(true) } }",
        """
        @Suite struct ATests { @Test func a() { #expect(true) } }\n@Suite struct BTests {\nfunc b() \
        async {} }
        """,
        "@Test func a() { #expect(true) }",
        "@Suite struct ATests { @Test func `expect nothing`() { run() } }",
        "@Suite struct ATests { @Test(arguments: [1]) func a(b: Int) { run(\"#expect\") /* #expect(b) */ } }",
    ])
    func `a source that breaks a rule is found`(text: String) {
        #expect(TestRules.violations(of: "Tests/MynahTests/ATests.swift", text).count == 1)
    }

    @Test(arguments: [
        "try await until(\"it is done\") { isDone }",
        "let value: Int = try await waiting(for: \"a value\") { keep($0) }",
        "// withCheckedContinuation { } and until { } are for others",
        "@Suite(.timeLimit(.minutes(15))) struct ATests { @Test func a() async { #expect(true) } }",
        "@Suite struct ATests { @Test func `until {`() { let a = Task { await b() }; #expect(a) } }",
        "@Suite struct ATests { @Test func a() { expectViolation(1) } }",
    ])
    func `a source that keeps the rules is not`(text: String) {
        #expect(TestRules.violations(of: "Tests/MynahTests/ATests.swift", text) == [])
    }

    @Test func `a suite of the command line that starts processes says so`() {
        func found(_ suite: String, _ call: String) -> Int {
            TestRules.violations(
                of: "Tests/MynahCLITests/ATests.swift",
                "\(suite) struct ATests { @Test func a() { #expect(\(call) != nil) } }"
            ).count
        }
        #expect(found("@Suite", "Program([])") == 1)
        #expect(found("@Suite(.processes)", "Program([])") == 0)
        #expect(found("@Suite", "VirtualStage.play([])") == 0)
    }

    @Test func `every source that may pause exists, and pauses as often as is allowed`() throws {
        let files = try SourceFolder.files(in: "Tests")
        for (path, allowed) in TestRules.pauses {
            let file = try #require(files.first { $0.path == path })
            let pauses = ["Task.yield", "Task.sleep"].map { file.text.components(separatedBy: $0).count - 1 }
            #expect(pauses.reduce(0, +) == allowed.count, "\(path)")
        }
    }
}

/// The sources of the repository.
enum SourceFolder {
    /// Every file of Sources, read once for all rules.
    static let sources = Result {
        try files(in: "Sources").map { (path: $0.path, source: SourceText($0.text)) }
    }

    static func files(in folder: String) throws -> [(path: String, text: String)] {
        let root = ArchitectureTests.root.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        return try files.map { file in
            (folder + file.path.dropFirst(root.path.count), try String(contentsOf: file, encoding: .utf8))
        }
        .sorted { $0.path < $1.path }
    }
}
