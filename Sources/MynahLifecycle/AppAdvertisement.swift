package import MynahCore

/// The advertisement that one app of a phone requests.
///
/// Core Bluetooth accepts only a local name and service UUIDs.
package struct AppAdvertisement: Hashable, Sendable {
    /// The local name (CBAdvertisementDataLocalNameKey); there is none if it is `nil` or empty.
    package var localName: String?
    /// The service UUIDs (CBAdvertisementDataServiceUUIDsKey), each with the width in which it is advertised.
    package var serviceUUIDs: [BluetoothUUID]
    /// The current mode in which the phone advertises for the app.
    package var mode: AdvertisingMode

    /// Makes the request of an app, by default in the foreground.
    package init(localName: String? = nil, serviceUUIDs: [BluetoothUUID], mode: AdvertisingMode = .foreground)
    {
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
        self.mode = mode
    }
}

/// The location of an iPhone's overflow area (`OverflowArea`) while all of its advertising apps are in the
/// background.
package enum OverflowPlacement: String, Hashable, Sendable, CaseIterable {
    /// After the Flags in the advertising data, as captured up to iOS 11.
    case advertisingData
    /// In the scan response, as reported from iOS 12 on: only an active scanner receives it.
    case scanResponse

    /// The location for a major version of iOS.
    package init(iOS version: Int) {
        self = IOSVersion(version).hidesOverflowArea ? .scanResponse : .advertisingData
    }
}

/// The advertising of an iPhone for all its apps.
package struct PhoneAdvertisement: Hashable, Sendable {
    /// The advertising data and the scan response, or `nil` if nothing is advertised.
    package var bytes: ExactAdvertisement?
    /// The range of the advertising interval.
    package var interval: ClosedRange<Duration>
    /// The overflow area, which all apps share.
    package var overflow: OverflowArea
    /// The parts of each app's request that are left out or in the overflow area, with the reasons.
    ///
    /// The apps are in the order in which they were passed to `PhoneAdvertising.compose`.
    package var omitted: [[AdvertisingReport.Omission]]

    /// The advertisement for the radio, or `nil` if the phone does not advertise.
    package var advertisement: Advertisement? {
        guard let bytes else { return nil }
        var advertisement = Advertisement()
        advertisement.exact = bytes
        advertisement.interval = interval.lowerBound
        return advertisement
    }
}
