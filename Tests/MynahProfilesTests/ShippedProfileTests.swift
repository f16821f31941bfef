import MynahCore
import MynahProfiles
import Testing

@Suite struct ShippedProfileTests {
    static let names = [
        "battery", "device-information", "environmental-sensing", "everything-accessory", "everything-app",
        "health-thermometer", "heart-rate", "nordic-uart",
    ]

    @Test("each shipped profile is read without a warning", arguments: names)
    func eachIsRead(_ name: String) throws {
        let profile = try ProfileLoader.load(path: "\(repository)/profiles/\(name).yaml")
        #expect(profile.warnings.map(\.description) == [])
        #expect(!profile.services.isEmpty)
        #expect(profile.advertising != nil)
        #expect((profile.app != nil) == (name == "everything-app"))
    }

    @Test("every profile in the folder is known to these tests")
    func noneIsForgotten() {
        #expect(files(in: "\(repository)/profiles", ending: ".yaml") == Self.names.map { $0 + ".yaml" })
    }
}
