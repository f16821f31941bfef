import MynahSupport

/// The advertising that a device requests from a radio: one advertising set, and any further sets.
///
/// The fields of the advertising data are also members of the advertisement itself, as in
/// `advertisement.localName`.
@dynamicMemberLookup
public struct Advertisement: Hashable, Sendable {
    /// The set's name, by which events and faults identify it.
    package var name = "1"
    /// The Flags (Core Specification Supplement, Part A, 1.3), which are sent first, or `nil` for none.
    public var flags: UInt8? = Self.usualFlags
    /// The fields of the advertising data.
    public var data = Contents()
    /// The fields of the scan response; a local name that does not fit in `data` is added here.
    public var scanResponse = Contents()
    /// The advertising interval, or `nil` for the radio's default.
    ///
    /// If `longestInterval` is set, this is the shortest interval.
    public var interval: Duration?
    /// The longest advertising interval, or `nil` if `interval` is the only one.
    package var longestInterval: Duration?
    /// `true` if centrals can connect to the device.
    public var isConnectable = true
    /// `true` if scanners can request the scan response.
    ///
    /// Connectable legacy advertising is also scannable. Extended advertising cannot be both (Core
    /// Specification, Vol 4, Part E, 7.8.53).
    public var isScannable = true
    /// Extended advertising, or `nil` for legacy advertising.
    package var extended: Extended?
    /// Periodic advertising, or `nil` for none.
    ///
    /// Only an extended set that is neither connectable nor scannable can have it.
    package var periodic: Periodic?
    /// The set's own address, or `nil` to use the device's.
    package var address: OwnAddress?
    /// Further sets that are advertised at the same time; their own `otherSets` are ignored.
    package var otherSets: [Advertisement] = []
    /// The exact bytes to advertise, or `nil` to compose them from the fields.
    ///
    /// Only a radio that sends exactly the given bytes can advertise them.
    package var exact: ExactAdvertisement?

    /// The Flags of an accessory: LE General Discoverable, BR/EDR Not Supported.
    package static let usualFlags: UInt8 = 0x06

    /// Makes a connectable advertisement with this local name and these services.
    public init(localName: String? = nil, serviceUUIDs: [BluetoothUUID] = []) {
        data.localName = localName
        data.serviceUUIDs = serviceUUIDs
    }

    /// Accesses a field of the advertising data.
    public subscript<Value>(dynamicMember member: WritableKeyPath<Contents, Value>) -> Value {
        get { data[keyPath: member] }
        set { data[keyPath: member] = newValue }
    }

    /// The shortest and the longest advertising interval, or `nil` for the radio's default.
    package var intervals: ClosedRange<Duration>? {
        get { interval.map { $0...max($0, longestInterval ?? $0) } }
        set {
            interval = newValue?.lowerBound
            longestInterval = newValue.flatMap { $0.upperBound > $0.lowerBound ? $0.upperBound : nil }
        }
    }

    /// All sets in one list: this set without its `otherSets`, and then the `otherSets`.
    package var sets: [Advertisement] {
        guard !otherSets.isEmpty else { return [self] }
        var first = self
        first.otherSets = []
        return [first] + otherSets
    }

    /// The fields of advertising data or of a scan response.
    public struct Contents: Hashable, Sendable {
        /// The local name, or `nil` if none is advertised.
        public var localName: String?
        /// Service UUIDs in complete lists; each UUID is encoded in its own width.
        public var serviceUUIDs: [BluetoothUUID] = []
        /// Service UUIDs in incomplete lists.
        package var incompleteServiceUUIDs: [BluetoothUUID] = []
        /// UUIDs of solicited services, which the device searches for on centrals.
        public var solicitedServiceUUIDs: [BluetoothUUID] = []
        /// Manufacturer-specific data, in order.
        public var manufacturerData: [ManufacturerData] = []
        /// Service data, in order.
        public var serviceData: [ServiceData] = []
        /// The appearance to advertise, or `nil` for none.
        public var appearance: UInt16?
        /// The TX power level to advertise, or `nil` for none.
        public var txPower: TxPower?
        /// Further AD structures, which are advertised unchanged and in this order.
        ///
        /// A field is left out if one of these structures has the same type.
        public var raw: [ADStructure] = []

        /// Makes empty contents.
        package init() {}
    }

    /// A TX power level.
    public enum TxPower: Hashable, Sendable {
        /// The level that the radio uses, or 0 dBm if the radio does not know it.
        case radio
        /// A level in dBm, which is advertised unchanged.
        case level(Int8)
    }

    /// Extended advertising (Core Specification, Vol 6, Part B, 4.4.2).
    package struct Extended: Hashable, Sendable {
        /// The PHY of the advertising data.
        package var secondaryPHY = AdvertisingPHY.le1M
        /// `true` if the primary advertising uses LE Coded instead of LE 1M.
        package var isPrimaryCoded = false

        /// Makes extended advertising on LE 1M.
        package init() {}
    }

    /// Periodic advertising (Core Specification, Vol 6, Part B, 4.4.2.12).
    package struct Periodic: Hashable, Sendable {
        /// The interval of a periodic advertisement for which the profile has no interval.
        package static let defaultInterval: Duration = .milliseconds(100)

        /// The shortest and the longest interval, 7.5 ms to 81.91875 s.
        package var interval: ClosedRange<Duration> = defaultInterval...defaultInterval
        /// The fields of the periodic advertising data.
        package var contents = Contents()

        /// Makes periodic advertising without data, with an interval of 100 ms.
        package init() {}
    }

    /// The kind of an advertising set's own address.
    package enum OwnAddress: String, Hashable, Sendable, CaseIterable {
        /// A static random address, which the radio generates for the set.
        case random
        /// The identity address, even if the device uses private addresses.
        case identity
        /// A resolvable private address, which changes when the device's private address does.
        case `private`
    }

    /// Manufacturer-specific data of one company.
    public struct ManufacturerData: Hashable, Sendable {
        /// The company identifier.
        public var company: UInt16
        /// The data after the company identifier.
        public var data: [UInt8]

        /// Makes the data of a company.
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

        /// Makes the data of a service.
        public init(uuid: BluetoothUUID, data: [UInt8]) {
            self.uuid = uuid
            self.data = data
        }
    }
}

/// A PHY for advertising; the raw value is its code in HCI (Core Specification, Vol 4, Part E, 7.8.53).
package enum AdvertisingPHY: UInt8, Hashable, Sendable, CaseIterable {
    case le1M = 1
    case le2M = 2
    /// LE Coded.
    case coded = 3
}

/// The exact bytes of the advertising data and the scan response.
package struct ExactAdvertisement: Hashable, Sendable {
    /// The AD structures of the advertising PDU.
    package var data: [ADStructure]
    /// The AD structures of the scan response.
    package var scanResponse: [ADStructure]
    /// The AD structures of periodic advertising.
    package var periodic: [ADStructure]

    /// Makes an advertisement with these structures.
    package init(data: [ADStructure], scanResponse: [ADStructure], periodic: [ADStructure] = []) {
        self.data = data
        self.scanResponse = scanResponse
        self.periodic = periodic
    }

    /// The largest length of legacy advertising data, and of a scan response, in bytes (Core Specification,
    /// Vol 6, Part B, 2.3.1).
    package static let legacyCapacity = 31
    /// The largest length of extended advertising data, which is sent in several PDUs, in bytes (Vol 4, Part
    /// E, 7.8.57).
    package static let extendedCapacity = 1650
    /// The largest length of connectable extended advertising data, which is sent in a single PDU, in bytes.
    ///
    /// This is 255 without the header, the advertiser's address and the set's identifier (Vol 6, Part B,
    /// 2.3.4).
    package static let connectableCapacity = 245

    /// Returns the largest length of a set's advertising data, in bytes.
    package static func capacity(of set: AdvertisingReport) -> Int {
        guard set.extended != nil else { return legacyCapacity }
        return set.isConnectable ? connectableCapacity : extendedCapacity
    }
}

/// The advertising data and the scan response that the radio actually sends.
public struct AdvertisingReport: Hashable, Sendable {
    /// The name of the set.
    package var set = "1"
    /// Whether the radio advertises.
    public var isOn: Bool
    /// The advertising data.
    public var data: [UInt8]
    /// The scan response data.
    public var scanResponse: [UInt8]
    /// The range of the advertising interval, or `nil` if it is not known.
    ///
    /// The random delay of up to 10 ms is not included.
    public var interval: ClosedRange<Duration>?
    /// `true` if centrals can connect to the device.
    public var isConnectable: Bool
    /// `true` if scanners can request the scan response.
    package var isScannable = true
    /// Extended advertising, or `nil` for legacy advertising.
    package var extended: Advertisement.Extended?
    /// Periodic advertising, or `nil` if the set has none.
    package var periodic: Periodic?
    /// The advertiser's address, or `nil` if it is unknown.
    public var address: DeviceAddress?
    /// The requested fields that are not advertised, each with the reason.
    public var omitted: [Omission]
    /// The further sets on the air.
    package var otherSets: [AdvertisingReport] = []

    /// The periodic advertising of a set.
    package struct Periodic: Hashable, Sendable {
        /// The periodic advertising data.
        package var data: [UInt8]
        /// The shortest and the longest interval.
        package var interval: ClosedRange<Duration>

        /// Makes the periodic advertising of a set.
        package init(data: [UInt8], interval: ClosedRange<Duration>) {
            (self.data, self.interval) = (data, interval)
        }
    }

    /// A requested field that is not advertised.
    public struct Omission: Hashable, Sendable {
        /// The `item` of the omission that says that advertising is off because the largest number of
        /// centrals is connected.
        package static let centrals = "centrals"
        /// The field's name in a profile, such as `localName` or `serviceUUIDs[2]`.
        public var item: String
        /// The reason, as a sentence without its full stop.
        public var reason: String

        package init(item: String, reason: String) {
            self.item = item
            self.reason = reason
        }
    }

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

    /// The report of a set that is not advertised.
    package static let silent = AdvertisingReport(isOn: false)

    /// Combines the reports of several sets into one: the first, with the others as its `otherSets`.
    ///
    /// Without any report, the result is `silent`.
    package static func combined(_ sets: [AdvertisingReport]) -> AdvertisingReport {
        guard var first = sets.first else { return .silent }
        first.otherSets = Array(sets.dropFirst())
        return first
    }
}

/// The error for an advertisement that is too long; it describes the first field that does not fit.
package struct AdvertisementError: Error, Hashable, Sendable {
    /// The field of the profile that does not fit, such as `manufacturerData`.
    package var field: String
    /// The length of the field with its headers, in bytes.
    package var needed: Int
    /// The space that was left for the field, in bytes.
    package var available: Int
    /// The payload in which the field does not fit.
    package var payload: AdvertisingPayload
    /// The capacity of the whole payload, in bytes.
    package var capacity: Int
    /// `true` if the payload has enough space, but one structure is too long for its length byte.
    package var isOfStructure: Bool
    /// The name of the set, or `nil` for the only or the first one.
    package var set: String?

    /// Makes the error for a field.
    package init(
        field: String, needed: Int, available: Int, payload: AdvertisingPayload,
        capacity: Int = ExactAdvertisement.legacyCapacity, isOfStructure: Bool = false
    ) {
        self.field = field
        self.needed = needed
        self.available = available
        self.payload = payload
        self.capacity = capacity
        self.isOfStructure = isOfStructure
    }
}

/// One of the payloads of an advertising set.
package enum AdvertisingPayload: String, Hashable, Sendable {
    case data = "advertising data"
    case scanResponse = "scan response"
    case periodic = "periodic advertising data"
}

extension AdvertisementError: CustomStringConvertible {
    /// A sentence that names the field and gives the lengths.
    package var description: String {
        guard !isOfStructure else {
            return """
                \(field) has an AD structure of \(needed) bytes, and one has at most \
                \(ADStructure.longestData + 2)
                """
        }
        return """
            \(field) takes \(needed) bytes and \(available) of \(capacity) \
            \(available == 1 ? "is" : "are") left in the \(payload.rawValue)
            """
    }
}
