public import MynahCore

/// What one app of a phone wants to advertise: CoreBluetooth takes a local name and service UUIDs, and nothing else.
public struct AppAdvertisement: Hashable, Sendable {
    /// CBAdvertisementDataLocalNameKey; none if it is `nil` or empty.
    public var localName: String?
    /// CBAdvertisementDataServiceUUIDsKey, each in the width it goes out in.
    public var serviceUUIDs: [BluetoothUUID]
    /// How it goes out now.
    public var mode: AdvertisingMode

    /// What an app wants, in the foreground unless said.
    public init(localName: String? = nil, serviceUUIDs: [BluetoothUUID], mode: AdvertisingMode = .foreground)
    {
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
        self.mode = mode
    }
}

/// Where an iPhone puts the overflow area while all of its advertising apps are in the background.
public enum OverflowPlacement: String, Hashable, Sendable, CaseIterable {
    /// Behind the Flags, as captured up to iOS 11.
    case advertisingData
    /// In the scan response, as reported from iOS 12 on: a scanner has to ask for it.
    case scanResponse

    /// The placement of a major version of iOS.
    public init(iOS version: Int) {
        self = version < 12 ? .advertisingData : .scanResponse
    }
}

/// What an iPhone puts on the air for its apps.
public struct PhoneAdvertisement: Hashable, Sendable {
    /// Advertising data and scan response, or `nil` if nothing is on the air.
    public var bytes: ExactAdvertisement?
    /// The shortest and longest time between two advertising events.
    public var interval: ClosedRange<Duration>
    /// The shared mask.
    public var overflow: OverflowArea
    /// What of each app's request does not go out in clear, and why; one entry for each app, in their order.
    public var omitted: [[AdvertisingReport.Omission]]

    /// What a radio is asked to send, or `nil` if nothing is.
    public var advertisement: Advertisement? {
        guard let bytes else { return nil }
        var advertisement = Advertisement()
        advertisement.exact = bytes
        advertisement.interval = interval.lowerBound
        return advertisement
    }
}
