import MynahCore
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
