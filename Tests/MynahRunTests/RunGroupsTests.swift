import MynahEmulator
import MynahProfiles
import Testing

@testable import MynahRun

@Suite struct RunGroupsTests {
    private static func profile(
        _ name: String, _ app: String? = nil, on phone: String? = nil
    ) throws -> Profile {
        let app = app.map { "app: \($0)\n" } ?? ""
        let phone = phone.map { "phone: {name: \($0)}\n" } ?? ""
        return try ProfileLoader.load(text: "mynah: 1\nname: \(name)\n\(app)\(phone)", file: "\(name).yaml")
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

    @Test func `apps of one phone with different iOS are told where, what is the default and what to do`()
        throws
    {
        let (one, two) = (try Self.profile("One", "{iOS: 18}"), try Self.profile("Two", "{}"))
        let message = try #require(RunGroups([one, two]).issues.first?.description)
        #expect(
            message.hasPrefix(
                """
                Two.yaml:3:6: error: iOS is 17 (the default) here and 18 in One.yaml, and both are apps of \
                one phone: write the same in both, or give one of them another phone, as phone: {name: Two}
                """), "\(message)")
        let turned = try #require(RunGroups([two, one]).issues.first?.description)
        #expect(turned.hasPrefix("One.yaml:3:12: error: iOS is 18 here and 17 (the default) in Two.yaml"))
    }

    @Test func `a phone that two profiles describe differently is one error, with its line`() throws {
        func profile(_ name: String, _ phone: String) throws -> Profile {
            try ProfileLoader.load(
                text: "mynah: 1\nname: \(name)\napp: {}\nphone: {name: Anna, \(phone)}\n",
                file: "\(name).yaml")
        }
        for (here, there) in [("iOS: 17", "iOS: 18"), ("model: A", "model: B")] {
            let issues = RunGroups([try profile("One", here), try profile("Two", there)]).issues
            let key = here.prefix { $0 != ":" }
            #expect(issues.count == 1)
            #expect(
                issues.first?.description.hasPrefix(
                    "Two.yaml:4:\(23 + key.count): error: phone.\(key) differs from One.yaml, which has an "
                        + "app of the same phone: write it alike, or give one of them another phone") == true,
                "\(issues)")
        }
    }

    @Test func `each phone with a name has a radio, and apps without one share theirs`() throws {
        let groups = RunGroups([
            try Self.profile("One", "{}", on: "Anna"), try Self.profile("Two", "{}"),
            try Self.profile("One", "{iOS: 16}", on: "Bob"), try Self.profile("Three", "{}", on: "Anna"),
            try Self.profile("Four", "{}"),
        ])
        #expect(groups.labels == [["One", "Three"], ["Two", "Four"], ["One~2"]])
        #expect(groups.names.phones.map(\.label) == ["One", "Two", "One~2"])
        #expect(groups.issues.isEmpty)
    }

    @Test func `two profiles describe one phone alike`() throws {
        let groups = RunGroups([
            try Self.profile("One", "{iOS: 17}", on: "Zoe\u{308}"),
            try Self.profile("Two", "{iOS: 16}", on: "Zo\u{EB}"),
        ])
        let messages = groups.issues.map(\.description)
        #expect(messages.count == 2)
        #expect(
            messages.first?.hasPrefix(
                "Two.yaml:4:15: error: phone.name looks the same, but has other bytes: copy the name from "
                    + "One.yaml, which has an app of the same phone") == true, "\(messages)")
        #expect(messages.last?.hasPrefix("Two.yaml:3:12: error: iOS is 16 here and 17 in One.yaml") == true)
    }
}
