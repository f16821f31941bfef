import MynahCore
import MynahSupport
import Testing

@testable import MynahProfiles

/// The key `app.accessorySetup`.
@Suite struct AccessorySetupTests {
    private static func load(_ app: String, _ rest: String = "central: {}\n") throws(ProfileIssues) -> Profile
    {
        try ProfileLoader.load(text: "mynah: 1\nname: P\napp: {\(app)}\n\(rest)", file: "p.yaml")
    }

    private static func issues(_ app: String, _ rest: String = "central: {}\n") -> [String] {
        do throws(ProfileIssues) {
            return try load(app, rest).warnings.map(\.description)
        } catch {
            return error.issues.map(\.description)
        }
    }

    @Test func `a descriptor has what an accessory advertises`() throws {
        let app = try #require(
            try Self.load(
                "iOS: 18, accessorySetup: [{serviceUUID: 180D, nameSubstring: St}, {companyIdentifier: 76}]"
            ).app)
        #expect(
            app.accessorySetup == [
                .init(serviceUUID: "180D", nameSubstring: "St"), .init(companyIdentifier: 76),
            ])
        #expect(app.usesAccessorySetup)
    }

    @Test(arguments: [
        ("iOS: 18, accessorySetup: []", "accessorySetup needs a descriptor"),
        ("iOS: 18, accessorySetup: [{nameSubstring: Strap}]", "a descriptor needs serviceUUID or company"),
        ("iOS: 18, accessorySetup: [{serviceUUID: 180D, nameSubstring: \"\"}]", "must not be empty"),
        ("iOS: 18, accessorySetup: [{companyIdentifier: 65536}]", "between 0 and 65535"),
        ("iOS: 18, accessorySetup: [{service: 180D}]", "unknown key \"service\" in a descriptor"),
        ("accessorySetup: [{serviceUUID: 180D}]", "warning: AccessorySetupKit came with iOS 18"),
        (
            "iOS: 18, accessorySetup: [{serviceUUID: 180D}], authorization: denied",
            "warning: authorization has no effect with accessorySetup"
        ),
        (
            "iOS: 18, accessorySetup: [{serviceUUID: 180D}], pairing: ask",
            "warning: pairing has no effect with accessorySetup"
        ),
    ])
    func `each mistake is said`(app: String, message: String) {
        let issues = Self.issues(app)
        #expect(issues.contains { $0.contains(message) }, "\(issues)")
    }

    @Test func `without a central it has no effect, and services are an assumption`() {
        let app = "iOS: 18, accessorySetup: [{serviceUUID: 180D}]"
        #expect(Self.issues(app) == [])
        #expect(Self.issues(app, "").map { $0.contains("no effect without a central: section") } == [true])
        let services =
            "central: {}\nservices: [{uuid: FFE0, characteristics: [{uuid: FFE1, properties: [notify]}]}]\n"
        #expect(Self.issues(app, services).map { $0.contains("is an assumption") } == [true])
    }

    @Test(arguments: [
        ("02010603030D1806095374726170", true), ("02010603030D180609426F617264", false),
        ("02010603030F1806095374726170", false), ("02010603030D18", false),
    ])
    func `an accessory has all that a descriptor names`(data: String, matches: Bool) throws {
        let descriptor = Profile.App.AccessoryDescriptor(serviceUUID: "180D", nameSubstring: "tra")
        let advertisement = AdvertisementData(try #require(Hex.decode(data)))
        #expect(descriptor.matches(advertisement) == matches)
        #expect(!Profile.App.AccessoryDescriptor(companyIdentifier: 0x59).matches(advertisement))
    }

    @Test func `the company is that of the manufacturer data`() throws {
        let advertisement = AdvertisementData(try #require(Hex.decode("04FF590001")))
        #expect(Profile.App.AccessoryDescriptor(companyIdentifier: 0x59).matches(advertisement))
        #expect(!Profile.App.AccessoryDescriptor(companyIdentifier: 0x4C).matches(advertisement))
    }
}
