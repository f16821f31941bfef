import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct DeviceLabelTests {
    @Test(
        arguments: [
            ([], []), (["A"], ["A"]), (["A", "B"], ["A", "B"]), (["A", "A", "A"], ["A", "A~2", "A~3"]),
            (["A", "B", "A", "B"], ["A", "B", "A~2", "B~2"]),
            (["A", "A", "A~2"], ["A", "A~3", "A~2"]),
            (["A~2", "A", "A", "A~2"], ["A~2", "A", "A~3", "A~2~2"]),
        ] as [([String], [String])])
    func `devices of one name are numbered in order, and each label is another`(
        names: [String], labels: [String]
    ) {
        #expect(DeviceLabels.unique(names) == labels)
        #expect(Set(labels).count == labels.count)
    }

    @Test(
        arguments: [
            ("A", [], "A"), ("A", ["B"], "A"), ("A", ["A"], "A~2"), ("A", ["A~2"], "A"),
            ("A", ["A", "A~2", "A~4"], "A~3"), ("A~2", ["A", "A~2"], "A~2~2"),
        ] as [(String, [String], String)])
    func `a device that is added has the first free label`(name: String, taken: [String], label: String) {
        #expect(DeviceLabels.next(name, after: taken) == label)
    }

    @Test func `two apps of one name are told apart in events, and ready names the profile as it is`()
        async throws
    {
        let text = """
            mynah: 1
            name: Twin
            app: {}
            services: [{uuid: 180D, characteristics: [{uuid: 2A38, properties: [read], value: {hex: 01}}]}]
            """
        let profile = try ProfileLoader.load(text: text, file: "twin.yaml")
        let devices = DeviceLabels.unique(["Twin", "Twin"]).map { label in
            EmulatedDevice(profile, seed: 1, label: label)
        }
        let log = EventLog()
        let radio = FakeRadio()
        let emulator = Emulator(
            devices, on: radio, clock: ManualClock(), wallTime: { WallTime(microseconds: 0) },
            observer: { log.append($0) })
        try await emulator.start()
        let launched = log.all.filter { $0.name == .appLaunched }.map { $0.string("device") }
        #expect(launched == ["Twin", "Twin~2"])
        #expect(log.all.first { $0.name == .ready }?.string("profile") == "Twin, Twin")
        await emulator.stop()
    }
}
