import MynahCore
import MynahSupport

extension AdvertisingSet {
    /// The advertising parameters of a set.
    struct Parameters: Sendable {
        var properties: AirAdvertisement.Properties = [.connectable, .scannable, .legacy]
        /// The advertising interval, in microseconds.
        var interval: Int64 = 1_280_000
        /// `true` for high duty cycle directed advertising: an event every 3.75 ms, for at most 1.28 s (Core
        /// Specification, Vol 6, Part B, 4.4.2.4.3).
        var isHighDuty = false
        var ownType: UInt8 = 0
        var peer: DeviceAddress?
        /// The advertising filter policy: bit 0 filters scan requests, and bit 1 filters connection requests.
        var policy: UInt8 = 0
        /// The advertising SID, or `nil` for legacy PDUs.
        var identifier: UInt8?
        var secondaryPHY: UInt8 = 0
        /// Whether the set is announced on LE Coded.
        var isPrimaryCoded = false
        /// The transmit power, in dBm.
        var power: Int8 = 0
        /// Whether scan requests are reported to the host (Scan_Request_Notification_Enable).
        var reportsScanRequests = false
    }
}

extension AdvertisingSet.Parameters {
    /// One unit of an advertising interval, in microseconds.
    private static let unit: Int64 = 625
    private static let highDutyInterval: Int64 = 3750

    /// Parses the parameters of LE Set Advertising Parameters, or returns `nil` if they are invalid (Vol 4,
    /// Part E, 7.8.5).
    init?(legacy reader: inout ByteReader) {
        guard let minimum = reader.readUInt16(), let maximum = reader.readUInt16(),
            let type = reader.readUInt8(), let own = reader.readUInt8(), own <= 3,
            let peerKind = reader.readUInt8(), peerKind <= 1, let peer = reader.readAddress(kind: peerKind),
            let channels = reader.readUInt8(), (1...7).contains(channels), let policy = reader.readUInt8(),
            policy <= 3
        else { return nil }
        switch type {
        case 0: properties = [.connectable, .scannable, .legacy]
        case 1, 4: properties = [.connectable, .directed, .legacy]
        case 2: properties = [.scannable, .legacy]
        case 3: properties = [.legacy]
        default: return nil
        }
        isHighDuty = type == 1
        // High duty cycle directed advertising ignores the intervals.
        let range: ClosedRange<UInt16> = 0x20...0x4000
        guard isHighDuty || range.contains(minimum) && range.contains(maximum) && minimum <= maximum
        else { return nil }
        interval = isHighDuty ? Self.highDutyInterval : Int64(minimum) * Self.unit
        ownType = own
        self.peer = peer
        self.policy = policy
    }

    /// Parses the parameters of LE Set Extended Advertising Parameters after the handle, or returns `nil` if
    /// they are invalid (7.8.53).
    init?(extended reader: inout ByteReader) {
        guard let bits = reader.readUInt16(), let minimum = reader.readUInt24(),
            let maximum = reader.readUInt24(), minimum >= 0x20, minimum <= maximum,
            let channels = reader.readUInt8(), (1...7).contains(channels),
            let own = reader.readUInt8(), own <= 3, let peerKind = reader.readUInt8(), peerKind <= 1,
            let peer = reader.readAddress(kind: peerKind), let policy = reader.readUInt8(), policy <= 3,
            let power = reader.readUInt8(), let primary = reader.readUInt8(), primary == 1 || primary == 3,
            reader.readUInt8() != nil, let secondary = reader.readUInt8(),
            let identifier = reader.readUInt8(), let reports = reader.readUInt8(), reports <= 1
        else { return nil }
        properties = AirAdvertisement.Properties(rawValue: UInt8(bits & 0x07))
        if bits & 0x10 != 0 {
            guard [0x13, 0x15, 0x1D, 0x12, 0x10].contains(bits), primary == 1 else { return nil }
            properties.insert(.legacy)
        } else {
            guard bits & 0x03 != 3, bits & 0x08 == 0, bits < 0x80, (1...3).contains(secondary),
                identifier <= 0x0F
            else { return nil }
            self.identifier = identifier
            secondaryPHY = secondary
            isPrimaryCoded = primary == 3
        }
        isHighDuty = bits & 0x08 != 0
        interval = isHighDuty ? Self.highDutyInterval : Int64(minimum) * Self.unit
        ownType = own
        self.peer = peer
        self.policy = policy
        // 127 leaves the choice to the controller.
        let range = AdvertisingSet.power
        self.power =
            power == 127 ? 0 : min(max(Int8(bitPattern: power), range.lowerBound), range.upperBound)
        reportsScanRequests = reports == 1
    }
}

extension ByteReader {
    fileprivate mutating func readUInt24() -> UInt32? {
        guard let low = readUInt16(), let high = readUInt8() else { return nil }
        return UInt32(low) | UInt32(high) << 16
    }
}
