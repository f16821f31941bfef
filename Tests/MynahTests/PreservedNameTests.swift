import MynahTestSupport
import Testing

@testable import Mynah

@Suite struct PreservedNameTests {
    private static let parts = [
        "a", "a+b", "a%2Bb", "b", "+", "%", "a b", "a/b", "../x", "ä", "A", ".", "-",
        String(repeating: "x", count: 100),
        String(repeating: "x", count: 101), String(repeating: "x", count: 101) + "y",
        String(repeating: "+", count: 34), String(repeating: "ü", count: 300),
    ]

    @Test func `every app and identifier has a file of its own, whose name fits and names no directory`() {
        let names = Self.parts.flatMap { app in
            Self.parts.map { PreservedName(app: app, restoreIdentifier: $0) }
        }
        let files = names.map(\.fileName)
        #expect(Set(files).count == files.count)
        for file in files {
            // The longest suffix is the number of a file that was set aside.
            #expect((file + ".unusable-10000").utf8.count <= 255)
            #expect(!file.contains("/") && file.split(separator: "+").count == 3, "\(file)")
        }
    }

    @Test func `names are readable where they can be`() {
        let name = PreservedName(app: "Lock app", restoreIdentifier: "com.example.lock")
        #expect(name.fileName == "peripheral+Lock%20app+com.example.lock.json")
        #expect(name.formerFileName == "peripheral-com.example.lock.json")
    }

    @Test func `a file of an earlier version goes to the first of two apps, with a warning to the other`()
        throws
    {
        let temporary = try TemporaryDirectory()
        try temporary.write(
            #"{"mynahState": 1, "restoreIdentifier": "id", "services": []}"#, to: "peripheral-id.json")
        let directory = try StateDirectory(path: temporary.path)
        func load(_ app: String) -> (state: PreservedState?, warning: String?) {
            directory.load(PreservedName(app: app, restoreIdentifier: "id"))
        }
        let first = load("One")
        #expect(first.state != nil && first.warning == nil)
        let second = load("Two")
        #expect(second.state == nil)
        #expect(second.warning?.contains("was given to the app One, which came first; Two has") == true)
        #expect(load("One").state != nil)
    }
}
