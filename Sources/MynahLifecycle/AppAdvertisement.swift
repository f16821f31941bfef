package import MynahCore

/// The advertisement that one app of a phone requests: Core Bluetooth accepts a local name and service
/// UUIDs only.
package struct AppAdvertisement: Hashable, Sendable {
    /// CBAdvertisementDataLocalNameKey; none if it is `nil` or empty.
    package var localName: String?
    /// CBAdvertisementDataServiceUUIDsKey, each in the width it goes out in.
    package var serviceUUIDs: [BluetoothUUID]
    /// How it goes out now.
    package var mode: AdvertisingMode

    /// A request of an app that is in the foreground by default.
    package init(localName: String? = nil, serviceUUIDs: [BluetoothUUID], mode: AdvertisingMode = .foreground)
    {
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
        self.mode = mode
    }
}

/// The payload of an iPhone's overflow area while all of its advertising apps are in the background.
package enum OverflowPlacement: String, Hashable, Sendable, CaseIterable {
    /// After the Flags in the advertising data, as captured up to iOS 11.
    case advertisingData
    /// In the scan response, as reported from iOS 12 on: only an active scanner gets it.
    case scanResponse

    /// The placement of a major version of iOS.
    package init(iOS version: Int) {
        self = IOSVersion(version).hidesOverflowArea ? .scanResponse : .advertisingData
    }
}

/// The advertising of an iPhone for all its apps.
package struct PhoneAdvertisement: Hashable, Sendable {
    /// Advertising data and scan response, or `nil` if nothing is on the air.
    package var bytes: ExactAdvertisement?
    /// The shortest and longest time between two advertising events.
    package var interval: ClosedRange<Duration>
    /// The shared mask.
    package var overflow: OverflowArea
    /// The parts of each app's request that are not advertised in clear, and why; one entry for each app, in
    /// order.
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
