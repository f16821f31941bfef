import Testing

@Suite struct SourceTextTests {
    @Test(arguments: [
        ("", 0), ("\n\n  \n", 0), ("let a = 1\n", 1), ("// a\n/// b\nlet a = 1 // c\n", 1),
        ("/* a\n b /* c */\n d */\nlet a = 1", 1), ("let a = /* b\n c */ 1", 2),
        ("let a = \"// no comment\"\nlet b = 2", 2), ("let a = \"\"\"\n  // text\n  text\n  \"\"\"", 4),
        (#"let a = "\"" // b"#, 1), ("let a = #\"\\\" // b\"#\n// c", 1),
    ])
    func `lines of code are counted without comments and blanks`(text: String, lines: Int) {
        #expect(SourceText(text).codeLines == lines)
    }

    @Test func `strings, comments and names in backticks are not code`() {
        let source = SourceText(
            #"""
            func `a Task { in a name`() { // Task {
                let a = "Task { \(call("Task {", { b })) Task {"
                let c = #"\("Task {")"#
                /* Task { */
            }
            """#)
        #expect(source.unstructuredTasks == 0)
        #expect(source.count(of: "call") == 1)
        #expect(source.functionLengths.map(\.lines) == [4])
    }

    @Test func `stored properties are those with a place of their own`() {
        let source = SourceText(
            """
            extension Driver { var elsewhere: Int { 1 } }
            final actor Driver: Sink, Other {
                static let shared = Driver()
                private static var count = 0
                struct Inner { var inner: Int }
                let one, two: Int
                let (three, four) = (3, 4)
                private(set) var five: [String: Int] = [:]
                public internal(set) var six: (Int) -> Void
                @Option(name: .long, help: "a { b }") var seven: String?
                var eight: Int { didSet { changed() } }
                lazy var nine = { 9 }()
                weak var ten: (any Sink)?
                nonisolated(unsafe) var eleven =
                    11
                var twelve:
                    [(a: Int, b: Int)] = []
                var computed: Int { 1 }
                var alsoComputed: Int
                {
                    get { 1 }
                    set {}
                }
                nonisolated var third: [Int] { [1] }
                func run() { let local = 1; var other = 2 }
                init() { let local = 1 }
            }
            struct Later { var later = 1 }
            """)
        #expect(
            source.storedProperties(of: "Driver") == [
                "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
                "twelve",
            ])
        #expect(source.storedProperties(of: "Inner") == ["inner"])
        #expect(source.storedProperties(of: "Nothing") == nil)
    }

    @Test func `a type has the lines of its parts, without those of nested types`() {
        let source = SourceText(
            """
            final class Outer {
                // No code.
                unowned let owner: Owner
                let (one, two) = (1, 2)
                enum Inner: String {
                    case a
                    struct Innermost { unowned(unsafe) var deep: Outer }
                }
                class func make() -> Outer { Outer() }
            }
            extension Outer.Inner where Self: Any {
                var b: Int { 1 }

                struct Late { let kind = Kind.self }
            }
            extension [UInt8] { func c() {} }
            """)
        #expect(
            source.typeParts == [
                .init(type: "Outer", lines: 5, properties: ["owner", "one", "two"], unowned: ["owner"]),
                .init(type: "Outer.Inner", lines: 3, properties: [], unowned: []),
                .init(type: "Outer.Inner.Innermost", lines: 1, properties: ["deep"], unowned: ["deep"]),
                .init(type: "Outer.Inner", lines: 3, properties: [], unowned: []),
                .init(type: "Outer.Inner.Late", lines: 1, properties: ["kind"], unowned: []),
                .init(type: "UInt8", lines: 1, properties: [], unowned: []),
            ])
        #expect(source.count(of: ["unowned", "let"]) == 1)
    }

    @Test func `a source is a type's if it declares or extends it`() {
        #expect(SourceText("actor Driver {}").mentions("Driver"))
        #expect(SourceText("extension Driver: Sink {}").mentions("Driver"))
        #expect(!SourceText("struct Other { var driver: Driver }").mentions("Driver"))
        #expect(!SourceText("extension DriverPart {}").mentions("Driver"))
    }

    @Test func `functions are measured from their name to their brace, with all that is between`() {
        let source = SourceText(
            """
            protocol Sink { func handle(_ event: Int) -> Int; func stop() }
            struct A {
                func long(
                    _ closure: (Int) -> Void = { _ in }
                ) -> Int {
                    // Why.

                    [1, 2].forEach { each in
                        closure(each)
                    }
                    return 1
                }
                init() { self.init(1) }
                func short() {}
            }
            """)
        #expect(source.functionLengths.map(\.name) == ["long", "init", "short"])
        #expect(source.functionLengths.map(\.lines) == [8, 1, 1])
    }

    @Test(arguments: [
        ("Task { await run() }", 1), ("let task = Task {\n}", 1), ("Task(priority: .high) { }", 1),
        ("Task.detached { self.work() }", 1), ("Task.immediate { }", 1),
        ("let task: Task<Void, Never>?", 0), ("try await Task.sleep(for: .seconds(1))", 0),
        ("if Task.isCancelled { return }", 0), ("await withTaskGroup { group in group.addTask { } }", 0),
        ("Task { Task { } }", 2),
    ])
    func `tasks are counted where they are started`(text: String, count: Int) {
        #expect(SourceText(text).unstructuredTasks == count)
    }

    @Test func `a type is measured over all its sources`() {
        let sources = [
            SourceText("actor Driver {\n    var one = 1\n    func a() {\n    }\n}"),
            SourceText("// More.\nextension Driver {\n    func b() {\n        run()\n    }\n}"),
            SourceText("struct Other {}"),
        ]
        #expect(
            RoomLimits.measure("Driver", in: sources)
                == .init(files: 2, lines: 10, properties: ["one"], function: "b", functionLines: 3))
    }
}
