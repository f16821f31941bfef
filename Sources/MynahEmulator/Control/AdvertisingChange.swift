import Mynah
package import MynahCore

/// A change of what a device advertises; `nil` keeps what its profile says.
package struct AdvertisingChange: Hashable, Sendable {
    /// `true` to advertise, `false` to stop, `nil` to leave it as it is.
    package var isOn: Bool?
    /// The local name; empty for none.
    package var localName: String?
    /// The service UUIDs, in order.
    package var serviceUUIDs: [BluetoothUUID]?

    /// A change.
    package init(isOn: Bool? = nil, localName: String? = nil, serviceUUIDs: [BluetoothUUID]? = nil) {
        self.isOn = isOn
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
    }

    /// This change after an earlier one.
    func after(_ earlier: AdvertisingChange) -> AdvertisingChange {
        AdvertisingChange(
            isOn: isOn ?? earlier.isOn, localName: localName ?? earlier.localName,
            serviceUUIDs: serviceUUIDs ?? earlier.serviceUUIDs)
    }

    /// The changed advertisement, or `nil` if nothing is advertised.
    func applied(to advertisement: Advertisement?) -> Advertisement? {
        guard isOn ?? (advertisement != nil) else { return nil }
        var changed = advertisement ?? Advertisement()
        if let localName { changed.localName = localName.isEmpty ? nil : localName }
        if let serviceUUIDs { changed.serviceUUIDs = serviceUUIDs }
        return changed
    }
}

extension EmulatedDevice {
    /// The advertisement with what a test has changed, or `nil` if it does not advertise.
    var requestedAdvertisement: Advertisement? { change.applied(to: advertisement) }

    /// The services that it is to advertise.
    var advertisedServices: [BluetoothUUID] { requestedAdvertisement?.serviceUUIDs ?? [] }

    /// The table that its memory begins with: static values are the radio's, and stay as a test has set them.
    var memory: AttributeTable {
        var memory = table
        for (attribute, value) in services.staticValues { memory.set(.stored(value), of: attribute) }
        return memory
    }
}
