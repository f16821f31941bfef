import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Snapshots of a device with several advertising sets, and of one whose links are limited.
@Suite(.timeLimit(.minutes(15))) struct SnapshotOnHostTests {
    private func snapshots(
        _ profile: String, _ changes: [(set: String?, isOn: Bool)] = []
    ) async throws -> [JSON] {
        let rig = try await CentralRig(starts: false)
        let device = EmulatedDevice(try ProfileLoader.load(text: profile, file: "test.yaml"), seed: 1)
        let emulator = Emulator([device], on: rig.device, clock: ContinuousClock())
        try await emulator.start()
        var all = [try #require(await emulator.snapshot(of: "Test")?.json)]
        for change in changes {
            let set = change.set.map { [JSON.Member("set", .string($0))] } ?? []
            _ = try await emulator.advertise(.object(set + [.init("on", .bool(change.isOn))]), for: "Test")
            all.append(try #require(await emulator.snapshot(of: "Test")?.json))
        }
        await emulator.stop()
        return all
    }

    /// The sets of a snapshot, in its order: `beacon` is on the air, `-beacon` is not.
    private func sets(_ snapshot: JSON) -> String {
        let advertising = snapshot["advertising"] ?? .null
        return ([advertising] + (advertising["sets"]?.arrayValue ?? [])).map { set in
            (set["on"] == .bool(true) ? "" : "-") + (set["set"]?.stringValue ?? "")
        }.joined(separator: " ")
    }

    @Test func `sets that are off the air are there by their names`() async throws {
        let profile = """
            mynah: 1
            name: Test
            advertising:
              - {name: main, serviceUUIDs: [180F]}
              - {name: beacon, localName: "", connectable: false, scannable: false, raw: [{0xFF: 4C 00}]}
            services: [{uuid: 180F, characteristics: [{uuid: 2A19, properties: [read], value: {hex: 64}}]}]
            """
        let seen = try await snapshots(profile, [("beacon", false), ("main", false), ("beacon", true)])
        #expect(seen.map(sets) == ["main beacon", "main -beacon", "- -main -beacon", "beacon -main"])
    }

    @Test func `a device with one set has no others`() async throws {
        let profile = "{mynah: 1, name: Test, advertising: {localName: Test}}"
        let seen = try await snapshots(profile, [(nil, false)])
        #expect(seen.map(sets) == ["", "-"])
        #expect(seen[0]["limits"] == nil)
    }

    @Test func `limits of links and the ways in which values are sent are there by their keys`() async throws
    {
        let profile = """
            mynah: 1
            name: Test
            advertising: {localName: Lamp}
            centrals: 1
            mtu: 185
            security: {keySize: 7}
            services:
              - uuid: FFE0
                characteristics:
                  - {uuid: FFE1, properties: [notify], subscription: none, value: {hex: 00}}
                  - {uuid: FFE2, properties: [notify], subscription: always, pieces: mtu, value: {hex: 00}}
                  - {uuid: FFE3, properties: [notify], value: {hex: 00}}
            """
        let snapshot = try await snapshots(profile)[0]
        #expect(snapshot["limits"]?.text == #"{"centrals":1,"mtu":185,"keySize":7}"#)
        let attributes = try #require(snapshot["attributes"]?.arrayValue)
        #expect(attributes.map { $0["subscription"]?.stringValue } == ["none", "always", nil])
        #expect(attributes.map { $0["pieces"]?.stringValue } == [nil, "mtu", nil])
    }
}
