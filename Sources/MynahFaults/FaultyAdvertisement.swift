package import MynahCore

/// The fields of an advertisement that a fault changes; a field that is `nil` stays as it is.
package struct FaultyAdvertisement: Hashable, Sendable {
    /// The local name; empty for none.
    package var localName: String?
    /// The service UUIDs; empty for none.
    package var serviceUUIDs: [BluetoothUUID]?
    /// The manufacturer-specific data; empty for none.
    package var manufacturerData: [Advertisement.ManufacturerData]?
    /// The service data; empty for none.
    package var serviceData: [Advertisement.ServiceData]?
    /// The appearance.
    package var appearance: UInt16?
    /// The advertising interval.
    package var interval: Duration?
    /// `true` if the advertisement is connectable.
    package var isConnectable: Bool?

    /// Changes nothing, unless fields are set.
    package init(localName: String? = nil) {
        self.localName = localName
    }

    /// The advertisement with the changes.
    ///
    /// Bytes that were to be sent exactly are composed again if the contents change.
    package func applied(to advertisement: Advertisement) -> Advertisement {
        var result = advertisement
        if let localName { result.localName = localName.isEmpty ? nil : localName }
        if let serviceUUIDs { result.serviceUUIDs = serviceUUIDs }
        if let manufacturerData { result.manufacturerData = manufacturerData }
        if let serviceData { result.serviceData = serviceData }
        if let appearance { result.appearance = appearance }
        if result != advertisement { result.exact = nil }
        if let interval { result.interval = interval }
        if let isConnectable { result.isConnectable = isConnectable }
        return result
    }
}
