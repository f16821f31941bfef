import Mynah
package import MynahCore

/// A change of a device's advertising; `nil` keeps the profile's setting.
package struct AdvertisingChange: Hashable, Sendable {
    /// `true` to advertise, `false` to stop, `nil` to leave it as it is.
    package var isOn: Bool?
    /// The advertising sets that are switched on or off individually, by name.
    package var switched: [String: Bool] = [:]
    /// The changes of sets, at most one for each.
    package var sets: [AdvertisementChange] = []

    /// Makes a change of the first advertising set.
    package init(isOn: Bool? = nil, localName: String? = nil, serviceUUIDs: [BluetoothUUID]? = nil) {
        self.isOn = isOn
        var change = AdvertisementChange(localName: localName)
        change.data.serviceUUIDs = serviceUUIDs
        if change != AdvertisementChange() { sets = [change] }
    }

    /// Makes a change of one set.
    ///
    /// `isOn` switches the set if the change names one, and all advertising otherwise.
    package init(_ change: AdvertisementChange, isOn: Bool?) {
        var empty = AdvertisementChange()
        empty.set = change.set
        if change != empty { sets = [change] }
        if let set = change.set {
            switched[set] = isOn
        } else {
            self.isOn = isOn
        }
    }

    /// Returns this change with `first` as the name of the sets that have no name.
    ///
    /// A change without a name applies to the first advertising set, whose name is `first`. Afterwards, it
    /// can be combined with changes that name the set.
    func named(_ first: String?) -> AdvertisingChange {
        var named = self
        for index in named.sets.indices where named.sets[index].set == nil { named.sets[index].set = first }
        return named
    }

    /// Returns an earlier change combined with this one, which takes precedence.
    func after(_ earlier: AdvertisingChange) -> AdvertisingChange {
        var both = earlier
        both.isOn = isOn ?? earlier.isOn
        // `isOn` applies to all sets, so it overrides the earlier switches.
        if isOn != nil { both.switched = [:] }
        both.switched.merge(switched) { _, new in new }
        for change in sets {
            if let index = both.sets.firstIndex(where: { $0.set == change.set }) {
                both.sets[index] = change.after(both.sets[index])
            } else {
                both.sets.append(change)
            }
        }
        return both
    }

    /// Returns the changed advertisement, or `nil` if the device does not advertise.
    func applied(to advertisement: Advertisement?) -> Advertisement? {
        guard isOn ?? (advertisement != nil) else { return nil }
        let changed = sets.reduce(advertisement ?? Advertisement()) { $1.applied(to: $0) }
        guard !switched.isEmpty else { return changed }
        var shown = changed.sets.filter { switched[$0.name] != false }
        guard !shown.isEmpty else { return nil }
        var first = shown.removeFirst()
        first.otherSets = shown
        return first
    }
}

extension EmulatedDevice {
    /// The advertisement with the changes made by tests, or `nil` if the device does not advertise.
    var requestedAdvertisement: Advertisement? { advertised.change.applied(to: advertisement) }

    /// The services that the device requests to advertise.
    var advertisedServices: [BluetoothUUID] { requestedAdvertisement?.serviceUUIDs ?? [] }

    /// The device's initial attribute table, with the static values that tests have set.
    var memory: AttributeTable {
        var memory = table
        for (attribute, value) in services.staticValues { memory.set(.stored(value), of: attribute) }
        return memory
    }
}
