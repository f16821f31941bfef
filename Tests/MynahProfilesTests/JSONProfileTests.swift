import MynahCore
import MynahSupport
import Testing

@testable import MynahProfiles

/// Profiles that a request of the control API has as JSON, which was never a text with lines.
@Suite struct JSONProfileTests {
    private func problems(_ text: String) throws -> [String] {
        let json = try JSON(parsing: Array(text.utf8))
        do throws(ProfileIssues) {
            return try ProfileLoader.load(json, name: "profile").warnings.map(\.description)
        } catch {
            #expect(error.issues.allSatisfy { $0.mark == nil && $0.sourceLine == nil })
            return error.issues.map(\.description)
        }
    }

    @Test(arguments: [
        (
            #"{"mynah": 1, "name": "x", "services": [{"uuid": "180F"}, {"uuid": "batery"}]}"#,
            #"profile: services[1].uuid: error: unknown service "batery"; did you mean "battery"?"#
        ),
        (
            #"{"mynah": 1, "name": "x", "servces": []}"#,
            #"profile: servces: error: unknown key "servces" in a profile; did you mean "services"?"#
        ),
        (
            #"{"mynah": 1, "name": "x", "device": {"name": "a"}, "name": "y"}"#,
            #"profile: name: error: the key "name" is repeated; remove one"#
        ),
        (#"{"name": "x"}"#, "profile: error: mynah: 1 is missing; it is the version of the format"),
        (#"{"mynah": 1, "name": null}"#, "profile: name: error: name is empty"),
        (
            "[1]",
            """
            profile: error: a profile must be a mapping of \(Words.list(ProfileSection.table.keys)), not a \
            list
            """
        ),
        (
            #"{"mynah": 1, "name": "x", "services": [{"use": "battery", "omit": ["2A37"]}]}"#,
            """
            profile: services[0].omit[0]: error: unknown characteristic "2A37" of battery; known are \
            battery-level
            """
        ),
    ])
    func `an issue has the path to its value, and neither line nor column`(text: String, issue: String) throws
    {
        #expect(try problems(text) == [issue])
    }

    @Test func `the issues are in the order of the values`() throws {
        let text =
            #"{"mynah": 1, "name": "x", "device": {"appearance": "x"}, "security": {"io": "y"}, "b": 1}"#
        let paths = try problems(text).compactMap { $0.split(separator: ": ").dropFirst().first }
        #expect(paths == ["device.appearance", "security.io", "b"])
    }

    @Test func `numbers and Booleans are read as in YAML`() throws {
        let text = """
            {"mynah": 1.0, "name": "x", "advertising": {"txPower": true, "localName": ""}, "services": [
            {"uuid": "180F", "characteristics": [
            {"uuid": "2A19", "properties": ["read"], "value": {"hex": 64}}]}]}
            """
        #expect(try problems(text) == [])
        let profile = try ProfileLoader.load(JSON(parsing: Array(text.utf8)), name: "profile")
        guard case .bytes([0x64])? = profile.services.first?.characteristics.first?.value else {
            Issue.record("not the byte 64")
            return
        }
        #expect(profile.advertising?.advertisement.localName == nil)
    }

    @Test func `a radio's shortcoming has the path of the part that it cannot play`() throws {
        let text = """
            {"mynah": 1, "name": "x", "services": [{"uuid": "180F", "characteristics": [
            {"uuid": "2A19", "properties": ["read"], "errors": {"read": 5}}]}]}
            """
        let profile = try ProfileLoader.load(JSON(parsing: Array(text.utf8)), name: "profile")
        var radio = RadioCapabilities(name: "Radio")
        radio.readErrors = .init([0x80])
        let issues = profile.issues(with: radio, isChosen: true)
        #expect(issues.map(\.path) == ["services[0].characteristics[0].errors.read"])
    }
}
