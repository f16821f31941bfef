import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// The identifiers that an app stores in a state directory.
@Suite(.timeLimit(.minutes(5))) struct SavedIdentifiersTests {
    private let temporary: TemporaryDirectory
    private let directory: StateDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        directory = try StateDirectory(path: temporary.path)
    }

    private func load(_ app: String) -> (content: SavedIdentifiers?, warning: String?) {
        directory.load(insteadOf: SavedIdentifiers(app: app)) { json throws(PreservedStateProblem) in
            try SavedIdentifiers(json: json, app: app)
        }
    }

    @Test(arguments: ["App", "a/../b", "ein Türschloß", String(repeating: "x", count: 300), ""])
    func `each app finds what it stored`(app: String) async throws {
        let identifier = try #require(PeripheralIdentifier("12345678-1234-1234-1234-123456789ABC"))
        var stored = SavedIdentifiers(
            app: app, managers: [[:], ["Door": identifier, "": identifier, "\"\u{1B}": identifier]])
        stored.stopped = [.scan]
        directory.save(stored) { error in Issue.record("\(error)") }
        directory.save(SavedIdentifiers(app: app + "2")) { error in Issue.record("\(error)") }
        await directory.writer.settle()
        let (found, warning) = load(app)
        #expect(found == stored && warning == nil)
        #expect(load("never seen").content == nil)
    }

    @Test(arguments: [
        ("", "it is not JSON"), ("[]", "it is not a JSON object"), ("{}", "it has no version"),
        (#"{"mynahState": 2}"#, "version 2"),
        (#"{"mynahState": 9223372036854775808}"#, "it is of version 9223372036854775808, and"),
        (#"{"mynahState": 1, "app": "B", "managers": []}"#, "it belongs to another app"),
        (#"{"mynahState": 1, "app": "A"}"#, "managers are missing"),
        (#"{"mynahState": 1, "app": "A", "managers": {}}"#, "managers are missing"),
        (#"{"mynahState": 1, "app": "A", "managers": [1]}"#, "a manager is not an object"),
        (#"{"mynahState": 1, "app": "A", "managers": [{"D": 1}]}"#, "the peripheral D has no identifier"),
        (#"{"mynahState": 1, "app": "A", "managers": [{"D": "x"}]}"#, "the peripheral D has no identifier"),
    ])
    func `a damaged file is set aside, and the warning says why`(text: String, reason: String) throws {
        try temporary.write(text, to: "app+A.json")
        let (found, warning) = load("A")
        #expect(found == nil)
        #expect(warning?.contains(reason) == true, "\(warning ?? "none")")
        #expect(temporary.files.contains("app+A.json.unusable-1") && !temporary.files.contains("app+A.json"))
    }
}
