/// A change of one advertising set; a field that is `nil` is not changed.
///
/// A profile describes a set as a change of an empty advertisement. Faults, rules and tests make further
/// changes.
package struct AdvertisementChange: Hashable, Sendable {
    /// The name of the set to change, or `nil` for the first set.
    package var set: String?
    /// The Flags, or `.some(nil)` to remove them.
    package var flags: UInt8??
    /// The changes of the advertising data.
    package var data = ContentsChange()
    package var scanResponse = ContentsChange()
    /// The advertising interval.
    package var interval: ClosedRange<Duration>?
    /// `true` if centrals can connect.
    package var isConnectable: Bool?
    /// `true` if scanners can request the scan response.
    package var isScannable: Bool?
    /// Extended advertising, or `.some(nil)` for legacy advertising.
    package var extended: Advertisement.Extended??
    /// The changes of periodic advertising, or `.some(nil)` to remove it.
    package var periodic: PeriodicChange??

    /// Makes a change of the local name, or a change without effect if that is `nil`.
    package init(localName: String? = nil) {
        data.localName = localName
    }

    /// Returns the advertisement with the changes.
    ///
    /// If this changes the contents of a set that has exact bytes, these bytes are dropped, and are composed
    /// from the fields again. If the set does not exist, the change has no effect.
    package func applied(to advertisement: Advertisement) -> Advertisement {
        guard let set, set != advertisement.name else { return changed(advertisement) }
        var result = advertisement
        for index in result.otherSets.indices where result.otherSets[index].name == set {
            result.otherSets[index] = changed(result.otherSets[index])
        }
        return result
    }

    private func changed(_ advertisement: Advertisement) -> Advertisement {
        var result = advertisement
        if let flags { result.flags = flags }
        data.apply(to: &result.data)
        scanResponse.apply(to: &result.scanResponse)
        if let periodic { result.periodic = periodic.map { $0.applied(to: result.periodic) } }
        if result != advertisement { result.exact = nil }
        if let interval { result.intervals = interval }
        if let isConnectable { result.isConnectable = isConnectable }
        if let isScannable { result.isScannable = isScannable }
        if let extended {
            result.extended = extended
            // Connectable legacy advertising is scannable, and connectable extended advertising is not.
            if isScannable == nil, result.isConnectable { result.isScannable = extended == nil }
        }
        return result
    }

    /// Returns an earlier change of the same set combined with this one.
    ///
    /// A field that both change has the value of this change.
    package func after(_ earlier: AdvertisementChange) -> AdvertisementChange {
        var both = self
        both.flags = flags ?? earlier.flags
        both.data = data.after(earlier.data)
        both.scanResponse = scanResponse.after(earlier.scanResponse)
        both.interval = interval ?? earlier.interval
        both.isConnectable = isConnectable ?? earlier.isConnectable
        both.isScannable = isScannable ?? earlier.isScannable
        both.extended = extended ?? earlier.extended
        if case .some(.some(let new)) = periodic, case .some(.some(let old)) = earlier.periodic {
            both.periodic = new.after(old)
        } else {
            both.periodic = periodic ?? earlier.periodic
        }
        return both
    }

    /// A change of periodic advertising, which begins it if the set has none.
    package struct PeriodicChange: Hashable, Sendable {
        package var interval: ClosedRange<Duration>?
        /// The changes of the periodic advertising data.
        package var contents = ContentsChange()

        /// Changes nothing.
        package init() {}

        func applied(to periodic: Advertisement.Periodic?) -> Advertisement.Periodic {
            var result = periodic ?? Advertisement.Periodic()
            if let interval { result.interval = interval }
            contents.apply(to: &result.contents)
            return result
        }

        func after(_ earlier: PeriodicChange) -> PeriodicChange {
            var both = PeriodicChange()
            both.interval = interval ?? earlier.interval
            both.contents = contents.after(earlier.contents)
            return both
        }
    }

    /// A change of advertising data, of a scan response or of periodic advertising data.
    package struct ContentsChange: Hashable, Sendable {
        /// The local name, or an empty text to remove it.
        package var localName: String?
        /// The service UUIDs, or an empty list to remove them.
        package var serviceUUIDs: [BluetoothUUID]?
        /// The service UUIDs in incomplete lists, or an empty list to remove them.
        package var incompleteServiceUUIDs: [BluetoothUUID]?
        /// The solicited service UUIDs, or an empty list to remove them.
        package var solicitedServiceUUIDs: [BluetoothUUID]?
        /// The manufacturer-specific data, or an empty list to remove it.
        package var manufacturerData: [Advertisement.ManufacturerData]?
        /// The service data, or an empty list to remove it.
        package var serviceData: [Advertisement.ServiceData]?
        /// The appearance, or `.some(nil)` to remove it.
        package var appearance: UInt16??
        /// The TX power level, or `.some(nil)` to remove it.
        package var txPower: Advertisement.TxPower??
        /// The raw AD structures, or an empty list to remove them.
        package var raw: [ADStructure]?

        /// Makes a change without effect.
        package init() {}

        /// Changes the fields of the contents that are not `nil` in this change.
        package func apply(to contents: inout Advertisement.Contents) {
            if let localName { contents.localName = localName.isEmpty ? nil : localName }
            if let serviceUUIDs { contents.serviceUUIDs = serviceUUIDs }
            if let incompleteServiceUUIDs { contents.incompleteServiceUUIDs = incompleteServiceUUIDs }
            if let solicitedServiceUUIDs { contents.solicitedServiceUUIDs = solicitedServiceUUIDs }
            if let manufacturerData { contents.manufacturerData = manufacturerData }
            if let serviceData { contents.serviceData = serviceData }
            if let appearance { contents.appearance = appearance }
            if let txPower { contents.txPower = txPower }
            if let raw { contents.raw = raw }
        }

        func after(_ earlier: ContentsChange) -> ContentsChange {
            var both = ContentsChange()
            both.localName = localName ?? earlier.localName
            both.serviceUUIDs = serviceUUIDs ?? earlier.serviceUUIDs
            both.incompleteServiceUUIDs = incompleteServiceUUIDs ?? earlier.incompleteServiceUUIDs
            both.solicitedServiceUUIDs = solicitedServiceUUIDs ?? earlier.solicitedServiceUUIDs
            both.manufacturerData = manufacturerData ?? earlier.manufacturerData
            both.serviceData = serviceData ?? earlier.serviceData
            both.appearance = appearance ?? earlier.appearance
            both.txPower = txPower ?? earlier.txPower
            both.raw = raw ?? earlier.raw
            return both
        }
    }
}
