/// The parameters of a scan.
public struct ScanOptions: Hashable, Sendable {
    /// `true` if the scan is active, so that scannable devices get a scan request.
    public var isActive: Bool
    /// `true` to report every advertising event, or `false` to report each device only once.
    public var allowsDuplicates: Bool
    /// The scan interval, which equals `window` for a continuous scan.
    public var interval: Duration
    /// The scan window.
    public var window: Duration
    /// Solicited services: a device also matches the scan if it solicits one of these services.
    ///
    /// Only a central manager that scans for services uses this list; the radio reports every device.
    public var solicitedServiceUUIDs: [BluetoothUUID]
    /// Whether the radio also receives the periodic advertising of the devices that it hears.
    package var synchronization = Synchronization.none

    /// Whether a scan also receives periodic advertising.
    package enum Synchronization: Int, Hashable, Sendable {
        case none
        /// Receives it if the controller can.
        case ifSupported
        /// Receives it, or fails if the controller cannot.
        case required
    }

    /// Makes the options of a scan; by default, the scan is active and continuous, and reports each device
    /// once.
    public init(
        isActive: Bool = true, allowsDuplicates: Bool = false, interval: Duration = .milliseconds(60),
        window: Duration = .milliseconds(60), solicitedServiceUUIDs: [BluetoothUUID] = []
    ) {
        self.isActive = isActive
        self.allowsDuplicates = allowsDuplicates
        self.interval = interval
        self.window = window
        self.solicitedServiceUUIDs = solicitedServiceUUIDs
    }
}

/// A received advertising PDU, or the joined fragments of extended advertising.
public struct ScanReport: Hashable, Sendable {
    /// The kind of an advertising event (Core Specification, Vol 6, Part B, 2.3.1).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Connectable and scannable.
        case connectable
        /// Connectable by one device only.
        case directed
        /// Scannable.
        case scannable
        /// Neither connectable nor scannable.
        case nonConnectable
        /// A scan response.
        case scanResponse
    }

    /// The advertiser's address, which is the identity address if the radio resolved it.
    public var address: DeviceAddress
    /// The private address on the air, or `nil` if the radio did not resolve it.
    public var resolvedAddress: DeviceAddress?
    /// The kind of advertising event, which tells whether the device is connectable and scannable.
    public var kind: Kind
    /// The AD structures, as bytes.
    public var data: [UInt8]
    /// The RSSI in dBm, or `nil` if it is unknown.
    public var rssi: Int8?
    /// `true` for extended advertising, which carries up to 1650 bytes.
    public var isExtended: Bool
    /// The identifier of the advertising set, 0 to 15, or `nil` for legacy advertising.
    package var set: UInt8?
    /// The primary PHY of the advertising set, or `nil` for legacy advertising.
    package var primaryPHY: AdvertisingPHY?
    /// The PHY of the data, or `nil` for legacy advertising and if there is no data.
    package var secondaryPHY: AdvertisingPHY?
    /// The interval of the set's periodic advertising, or `nil` if it has none.
    package var periodicInterval: Duration?
    /// `true` if `data` is periodic advertising data.
    package var isPeriodic = false

    package init(
        address: DeviceAddress, kind: Kind, data: [UInt8], rssi: Int8? = nil, isExtended: Bool = false
    ) {
        self.address = address
        self.kind = kind
        self.data = data
        self.rssi = rssi
        self.isExtended = isExtended
    }
}
