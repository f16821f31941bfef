import MynahSupport

/// The contents and the interval of a device's advertising, before a radio encodes them.
public struct Advertisement: Hashable, Sendable {
    /// The local name, or `nil` if none is advertised.
    public var localName: String?
    /// Service UUIDs; each is encoded in its own width.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Solicited services: UUIDs of services that the device wants to find on a central.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// Manufacturer-specific data, in order.
    public var manufacturerData: [ManufacturerData] = []
    /// Service data, in order.
    public var serviceData: [ServiceData] = []
    /// The appearance to advertise, or `nil` for none.
    public var appearance: UInt16?
    /// Whether the TX power level is advertised.
    public var includesTxPower = false
    /// Further AD structures, which are advertised unchanged.
    public var raw: [ADStructure] = []
    /// The advertising interval, used as minimum and maximum, or `nil` for the radio's default.
    public var interval: Duration?
    /// `true` if centrals may connect to the device.
    public var isConnectable = true
    /// The bytes that a radio with exact advertising must send instead of composing its own, or `nil` if it
    /// composes them.
    public var exact: ExactAdvertisement?

    /// A connectable advertisement with this local name and these services; empty by default.
    public init(localName: String? = nil, serviceUUIDs: [BluetoothUUID] = []) {
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
    }

    /// Manufacturer-specific data of one company.
    public struct ManufacturerData: Hashable, Sendable {
        /// The company identifier.
        public var company: UInt16
        /// The data after the company identifier.
        public var data: [UInt8]

        /// Data of a company.
        public init(company: UInt16, data: [UInt8]) {
            self.company = company
            self.data = data
        }
    }

    /// Service data.
    public struct ServiceData: Hashable, Sendable {
        /// The service UUID.
        public var uuid: BluetoothUUID
        /// The data after the service UUID.
        public var data: [UInt8]

        /// Data of a service.
        public init(uuid: BluetoothUUID, data: [UInt8]) {
            self.uuid = uuid
            self.data = data
        }
    }
}

/// Advertising data and scan response data, byte for byte.
public struct ExactAdvertisement: Hashable, Sendable {
    /// The AD structures of the advertising PDU.
    public var data: [ADStructure]
    /// The AD structures of the scan response.
    public var scanResponse: [ADStructure]

    /// An advertisement with these structures.
    public init(data: [ADStructure], scanResponse: [ADStructure]) {
        self.data = data
        self.scanResponse = scanResponse
    }

    /// The most that a legacy advertising PDU, and a scan response, carry, in bytes (Core Specification, Vol
    /// 6, Part B, 2.3.1).
    package static let legacyCapacity = 31
}

/// The advertising data and scan response that the radio in use really sends.
public struct AdvertisingReport: Hashable, Sendable {
    /// Whether the radio advertises.
    public var isOn: Bool
    /// The advertising data.
    public var data: [UInt8]
    /// The scan response data.
    public var scanResponse: [UInt8]
    /// The shortest and longest advertising interval, without the random delay of up to 10 ms; `nil` if
    /// unknown.
    public var interval: ClosedRange<Duration>?
    /// `true` if centrals may connect to the device.
    public var isConnectable: Bool
    /// The advertiser's address, or `nil` if it is unknown.
    public var address: DeviceAddress?
    /// The requested fields that are not advertised, each with the reason.
    public var omitted: [Omission]

    /// A requested field that is not advertised.
    public struct Omission: Hashable, Sendable {
        /// The item's name in a profile, such as `localName` or `serviceUUIDs[2]`.
        public var item: String
        /// The reason, as a sentence without its full stop.
        public var reason: String

        /// An omission.
        package init(item: String, reason: String) {
            self.item = item
            self.reason = reason
        }
    }

    /// A report.
    package init(
        isOn: Bool, data: [UInt8] = [], scanResponse: [UInt8] = [], interval: ClosedRange<Duration>? = nil,
        isConnectable: Bool = true, address: DeviceAddress? = nil, omitted: [Omission] = []
    ) {
        self.isOn = isOn
        self.data = data
        self.scanResponse = scanResponse
        self.interval = interval
        self.isConnectable = isConnectable
        self.address = address
        self.omitted = omitted
    }

    /// Silence.
    package static let silent = AdvertisingReport(isOn: false)
}

/// An advertisement that does not fit, by field.
package struct AdvertisementError: Error, Hashable, Sendable {
    /// The field of the profile that does not fit, such as `manufacturerData`.
    package var field: String
    /// How many bytes it takes with its headers.
    package var needed: Int
    /// How many were left for it.
    package var available: Int
    /// The payload that it does not fit into: `advertising data` or `scan response`.
    package var payload: String

    /// An error naming a field.
    package init(field: String, needed: Int, available: Int, payload: String) {
        self.field = field
        self.needed = needed
        self.available = available
        self.payload = payload
    }
}

extension AdvertisementError: CustomStringConvertible {
    /// A sentence with the figures.
    package var description: String {
        """
        \(field) takes \(needed) bytes and \(available) of \(ExactAdvertisement.legacyCapacity) \
        \(available == 1 ? "is" : "are") left in the \(payload)
        """
    }
}
