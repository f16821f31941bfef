import MynahCore
import MynahTestSupport
import Testing

@testable import MynahEmulator

/// Changes of advertising by tests, one after the other.
@Suite struct AdvertisingChangeTests {
    private static func change(_ name: String, of set: String?) -> AdvertisingChange {
        var change = AdvertisementChange(localName: name)
        change.set = set
        return AdvertisingChange(change, isOn: nil)
    }

    @Test func `a change without a set is one of the first set`() {
        let first = Self.change("A", of: nil).named("1")
        let second = Self.change("B", of: "1").named("1").after(first)
        let third = Self.change("C", of: nil).named("1").after(second)
        #expect(third.sets.map(\.set) == ["1"])
        #expect(third.sets.map(\.data.localName) == ["C"])
    }

    @Test func `it stays with the first set while that set is off`() {
        var beacon = Advertisement(localName: "Beacon")
        beacon.name = "2"
        var both = Advertisement(localName: "Main")
        both.otherSets = [beacon]
        var off = AdvertisingChange()
        off.switched = ["1": false]
        let changed = off.after(Self.change("A", of: nil).named("1")).applied(to: both)
        #expect(changed?.localName == "Beacon" && changed?.otherSets.isEmpty == true)
    }
}

/// Values of an advertisement, while the run starts.
@Suite(.timeLimit(.minutes(15))) struct AdvertisingStartTests {
    @Test func `a value that is due before the run has started does not stop the later ones`() async throws {
        let rig = DeviceRig()
        await rig.radio.holdAdvertising()
        let emulator = try rig.emulator([
            """
            mynah: 1
            name: Beacon
            advertising:
              every: 100 ms
              manufacturerData: {0x0499: {layout: [{n: uint8}], fields: {n: {generate: counter}}}}
            """
        ])
        let start = Task { try await emulator.start() }
        try await until("the radio is asked to advertise") { await rig.radio.heldCount > 0 }
        // The radio takes longer to start than three values last.
        rig.clock.advance(by: .milliseconds(350))
        await rig.radio.release()
        try await start.value
        func number() async -> UInt8? { await rig.radio.advertisement?.manufacturerData.first?.data.first }
        // Each look lets the next value be due: the values do not end with the one that came too early.
        try await until("a later value is advertised") {
            rig.clock.advance(by: .milliseconds(100))
            return await number().map { $0 > 3 } ?? false
        }
        #expect(await rig.radio.advertisement?.localName == "Beacon")
        await emulator.stop()
    }
}
