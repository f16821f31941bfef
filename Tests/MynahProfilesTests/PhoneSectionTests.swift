import MynahCore
import MynahTestSupport
import Testing

@testable import MynahProfiles

/// The section `phone`, with what a phone has by itself.
@Suite struct PhoneSectionTests {
    private static func issues(_ phone: String) -> [String] {
        let text = "mynah: 1\nname: P\napp: {}\nphone: \(phone)\n"
        do throws(ProfileIssues) {
            return try ProfileLoader.load(text: text, file: "p.yaml").warnings.map(\.description)
        } catch {
            return error.issues.map(\.description)
        }
    }

    private static let many = (0..<256).map { _ in "{app: a}" }.joined(separator: ", ")

    private static let wrong: [(phone: String, message: String)] = [
        ("{services: [anvs]}", "4:20: error: unknown service of a phone \"anvs\"; did you mean \"ancs\"?"),
        ("{services: [ams, ams]}", "4:25: error: the service ams is repeated"),
        ("{services: [battery], batteryLevel: 101}", "batteryLevel must be between 0 and 100, not 101"),
        ("{txPower: 21}", "4:18: error: txPower must be between -127 and 20, not 21"),
        ("{nearbyInfo: 071EA3DD}", "4:21: error: nearbyInfo must have 5 or 6 bytes, not 4"),
        (
            "{nearbyInfo: 071EA3DD89E0}",
            "4:21: warning: nearbyInfo has no effect without the background mode bluetooth-peripheral"
        ),
        ("{services: [battery], iOS: 6}", "error: iOS must be between 7 and 99, not 6"),
        ("{services: [device-information], model: \"\"}", "error: phone.model must have 1 to 64 bytes"),
        ("{}", "4:8: error: phone needs a name, as in phone: {name: Anna}"),
        (
            "{services: [ams], notifications: []}",
            "4:26: warning: notifications has no effect without the service ancs in phone.services"
        ),
        (
            "{name: Anna, model: x}",
            "4:21: warning: model has no effect without the service device-information"
        ),
        ("{services: [ancs], notifications: [{title: x}]}", "error: a notification needs app"),
        ("{services: [ancs], notifications: [{app: \"\"}]}", "error: app must have 1 to 128 bytes"),
        (
            "{services: [ancs], notifications: [{app: a, date: today}]}",
            "error: date must be a date and a time"
        ),
        ("{services: [ancs], notifications: [{app: a, category: gossip}]}", "category \"gossip\""),
        ("{services: [ancs], notifications: [{app: a, flags: [loud]}]}", "flag of a notification \"loud\""),
        ("{services: [ancs], notifications: [{app: a, title: \"a\\u0001\"}]}", "error: title has a control"),
        (
            "{services: [ancs], notifications: [\(many)]}",
            "error: a phone shows up to 255 notifications"
        ),
        (
            "{services: [ams], media: {index: 1, tracks: [{title: x}]}}",
            "error: index is 1, and the queue has 1"
        ),
        ("{services: [ams], media: {volume: 101}}", "error: volume must be between 0 and 100"),
        ("{services: [ams], media: {shuffle: some}}", "shuffle \"some\""),
        ("{services: [ams], media: {elapsed: 25 h}}", "error: elapsed must be at most"),
    ]

    @Test(arguments: 0..<22) func `each mistake is said where it is`(_ number: Int) {
        let (phone, message) = Self.wrong[number]
        let issues = Self.issues(phone)
        #expect(issues.contains { $0.contains(message) }, "\(issues)")
    }

    @Test func `a phone needs no name, and may say what an app does`() throws {
        #expect(Self.issues("{services: [ancs, ams], iOS: 16}").isEmpty)
        let text = "mynah: 1\nname: P\napp: {iOS: 17}\nphone: {services: [ams], iOS: 16}\n"
        #expect(throws: ProfileIssues.self) { try ProfileLoader.load(text: text, file: "p.yaml") }
        let profile = try ProfileLoader.load(
            text: text.replacing("{iOS: 17}", with: "{}"), file: "p.yaml")
        #expect(profile.app?.iOS == 16 && profile.phone?.name == nil)
        #expect(profile.phone?.services == [.ams])
        #expect(Self.issues("{txPower: -3}").isEmpty)
    }

    @Test func `the Nearby Info of a phone is for apps in the background, and says what is assumed`() throws {
        let text = "mynah: 1\nname: P\napp: {backgroundModes: [bluetooth-peripheral]}\nphone: "
        let profile = try ProfileLoader.load(text: text + "{nearbyInfo: 071EA3DD89E0}\n", file: "p.yaml")
        #expect(profile.app?.nearbyInfo == [0x07, 0x1E, 0xA3, 0xDD, 0x89, 0xE0])
        #expect(profile.warnings.map(\.severity) == [.note])
        #expect(profile.warnings.first?.message.contains("in the foreground is assumed") == true)
        let other = try ProfileLoader.load(text: text + "{nearbyInfo: 031C8BA89D}\n", file: "p.yaml")
        let differences = try #require(profile.phone).differences(from: #require(other.phone))
        #expect(differences.map(\.key) == ["nearbyInfo"])
    }

    @Test func `apps of one phone agree about its TX power, or one of them names it`() throws {
        func phone(_ text: String) throws -> Profile.PhoneDescription {
            let profile = try ProfileLoader.load(
                text: "mynah: 1\nname: P\napp: {}\nphone: \(text)\n", file: "p.yaml")
            return try #require(profile.phone)
        }
        let twelve = try phone("{txPower: 12}")
        #expect(try twelve.differences(from: phone("{txPower: 8}")).map(\.key) == ["txPower"])
        #expect(try twelve.differences(from: phone("{services: [ams]}")).isEmpty)
    }
}
