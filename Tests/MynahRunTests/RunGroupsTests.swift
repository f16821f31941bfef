import MynahEmulator
import MynahProfiles
import Testing

@testable import MynahRun

@Suite struct RunGroupsTests {
    private static func profile(_ name: String, _ app: String? = nil) throws -> Profile {
        let app = app.map { "app: \($0)\n" } ?? ""
        return try ProfileLoader.load(text: "mynah: 1\nname: \(name)\n\(app)", file: "\(name).yaml")
    }

    @Test func `apps share a phone, and each accessory has a radio of its own`() throws {
        let groups = RunGroups([
            try Self.profile("Strap"), try Self.profile("One", "{}"), try Self.profile("Strap"),
            try Self.profile("Two", "{}"),
        ])
        #expect(groups.groups.map { $0.map(\.name) } == [["Strap"], ["One", "Two"], ["Strap"]])
        #expect(groups.labels == [["Strap"], ["One", "Two"], ["Strap~2"]])
        #expect(groups.names.devices.map(\.label) == ["Strap", "One", "Strap~2", "Two"])
        #expect(groups.issues.isEmpty)
    }

    @Test func `apps of one phone have the same iOS and different names`() throws {
        let first = try Self.profile("One", "{iOS: 17}")
        let groups = RunGroups([first, first, try Self.profile("Two", "{iOS: 16}")])
        let messages = groups.issues.map(\.description)
        #expect(
            messages.first?.hasPrefix(
                "One.yaml:2:7: error: the name \"One\" is taken by One.yaml; "
                    + "two apps of a phone need different names"
            )
                == true)
        #expect(messages.count == 3)
        #expect(messages.dropFirst().allSatisfy { $0.contains("iOS is 16 here and 17 in One.yaml") })
    }
}
