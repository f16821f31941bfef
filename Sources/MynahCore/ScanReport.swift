/// How a central listens.
public struct ScanOptions: Hashable, Sendable {
    /// Whether it asks scannable devices for their scan response.
    public var isActive: Bool
    /// Whether it hears each advertising event, or each device but once.
    public var allowsDuplicates: Bool
    /// The time between two windows of listening, and how long each is; the same: it listens all the time.
    public var interval: Duration
    /// How long each window is.
    public var window: Duration
    /// The services that a device may look for instead of advertising one that was asked for.
    ///
    /// They count for a manager that names services; a radio reports every device.
    public var solicitedServiceUUIDs: [BluetoothUUID]

    /// Asks for scan responses, hears each device once, and listens all the time, unless said.
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

/// Something that a central heard: one advertising PDU, whole.
public struct ScanReport: Hashable, Sendable {
    /// The kind of an advertising event (Core Specification, Vol 6, Part B, 2.3.1).
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Anyone may connect, and ask for more.
        case connectable
        /// One certain central may connect.
        case directed
        /// Anyone may ask for more.
        case scannable
        /// It may only be heard.
        case nonConnectable
        /// It is what was asked for.
        case scanResponse
    }

    /// The address of the sender: its identity address if the radio resolved it.
    public var address: DeviceAddress
    /// The private address that the radio resolved; `nil` if it resolved none.
    public var resolvedAddress: DeviceAddress?
    /// The kind of advertising event, which says if the device is connectable and scannable.
    public var kind: Kind
    /// The AD structures.
    public var data: [UInt8]
    /// The received signal strength, in dBm; `nil` if it is not known.
    public var rssi: Int8?
    /// Whether it came by extended advertising, with up to 1650 bytes.
    public var isExtended: Bool

    /// A report.
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
