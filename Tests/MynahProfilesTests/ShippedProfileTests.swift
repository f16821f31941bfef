import MynahCore
import MynahProfiles
import Testing

@Suite struct ShippedProfileTests {
    static let names = [
        "altbeacon", "battery", "bike-trainer", "blood-pressure", "body-composition", "bthome",
        "continuous-glucose", "current-time", "cycling-power",
        "cycling-speed-and-cadence", "device-information", "eddystone", "environmental-sensing", "esp32-uart",
        "everything-accessory", "everything-app", "exposure-notification", "fitness-machine",
        "flaky-heart-rate", "glucose", "glucose-meter", "health-thermometer", "heart-rate",
        "hid-gamepad", "hid-keyboard", "hid-mouse", "ibeacon", "lock", "mcumgr", "midi", "nordic-dfu",
        "nordic-uart", "phone-heart-rate-app", "phone-lock-app", "proximity", "pulse-oximeter",
        "running-speed-and-cadence", "ruuvi", "weight-scale",
    ]
    /// Those that only broadcast.
    static let broadcasters: Set = [
        "altbeacon", "bthome", "eddystone", "exposure-notification", "ibeacon", "ruuvi",
    ]

    @Test("each shipped profile is read without a warning", arguments: names)
    func eachIsRead(_ name: String) throws {
        let profile = try ProfileLoader.load(path: "\(repository)/profiles/\(name).yaml")
        #expect(profile.warnings.map(\.description) == [])
        let isCentral = name.hasPrefix("phone-")
        #expect(profile.services.isEmpty == (isCentral || Self.broadcasters.contains(name)))
        let sets = profile.advertising?.advertisement.sets ?? []
        #expect(Self.broadcasters.contains(name) == sets.contains { !$0.isConnectable && !$0.isScannable })
        #expect((profile.advertising == nil) == isCentral)
        #expect(profile.centrals.isEmpty != isCentral)
        #expect((profile.app != nil) == (name == "everything-app" || isCentral))
    }

    @Test("every profile in the folder is known to these tests")
    func noneIsForgotten() {
        #expect(
            files(in: "\(repository)/profiles", ending: ".yaml") == Self.names.map { $0 + ".yaml" }.sorted())
    }
}

@Suite struct ProfileTemplateTests {
    @Test("the first template is the one to start from, and all are there")
    func names() {
        #expect(ProfileTemplates.names.first == "heart-rate")
        #expect(ProfileTemplates.names.sorted() == ShippedProfileTests.names)
        #expect(ProfileTemplates.text(named: "nothing") == nil)
    }

    @Test(
        "a template is the shipped file without its first line, which is about its folder",
        arguments: ShippedProfileTests.names)
    func text(_ name: String) {
        let lines = contents(of: "\(repository)/profiles/\(name).yaml").split(
            separator: "\n", omittingEmptySubsequences: false)
        let text = lines.dropFirst().joined(separator: "\n")
        #expect(ProfileTemplates.text(named: name) == text, "run profiles/embed")
    }
}
