package import MynahCore
import MynahSupport

/// A report of an advertising PDU (Core Specification, Vol 4, Part E, 7.7.65.2 and 7.7.65.13).
package struct LEAdvertisingReport: Hashable, Sendable {
    /// The kind of the PDU, numbered as the Event_Type of legacy reports.
    package enum Kind: UInt8, Hashable, Sendable {
        /// ADV_IND: connectable and scannable.
        case connectable = 0
        /// ADV_DIRECT_IND: connectable by one device only.
        case directed = 1
        /// ADV_SCAN_IND: scannable.
        case scannable = 2
        /// ADV_NONCONN_IND: neither connectable nor scannable.
        case nonConnectable = 3
        /// SCAN_RSP: the response to a scan request.
        case scanResponse = 4
    }

    /// The completeness of a report's data (7.7.65.13, Data_Status).
    package enum Progress: UInt8, Hashable, Sendable {
        /// The data is complete, or this is the last part of it.
        case complete = 0
        /// More data follows in the next report of the same set.
        case more = 1
        /// The data is incomplete, and the rest will not follow.
        case truncated = 2
    }

    /// The Event_Type.
    package var kind: Kind
    /// The advertiser's address.
    package var address: DeviceAddress
    /// The AD structures.
    package var data: [UInt8]
    /// The RSSI in dBm, or `nil` if it is not available.
    package var rssi: Int8?
    /// `true` for an extended PDU.
    package var isExtended: Bool
    /// The Advertising_SID, or `nil` if there is none.
    package var set: UInt8?
    /// The PHY of the advertising PDU on the primary channel, or `nil` for a legacy PDU.
    package var primaryPHY: AdvertisingPHY?
    /// The PHY of the data, or `nil` if there is none.
    package var secondaryPHY: AdvertisingPHY?
    /// The completeness of the data.
    package var progress: Progress

    /// Makes a report, by default of a legacy PDU with complete data.
    package init(
        kind: Kind, address: DeviceAddress, data: [UInt8], rssi: Int8? = nil, isExtended: Bool = false,
        set: UInt8? = nil, progress: Progress = .complete
    ) {
        self.kind = kind
        self.address = address
        self.data = data
        self.rssi = rssi
        self.isExtended = isExtended
        self.set = set
        self.progress = progress
    }

    static func legacy(_ reader: inout ByteReader) -> [LEAdvertisingReport]? {
        guard let count = reader.readUInt8() else { return nil }
        var reports: [LEAdvertisingReport] = []
        for _ in 0..<count {
            guard let kind = reader.readUInt8().flatMap({ Kind(rawValue: $0) }),
                let type = reader.readUInt8(),
                let address = reader.readAddress(kind: type), let length = reader.readUInt8(),
                let data = reader.readBytes(Int(length)), let rssi = reader.readUInt8()
            else { return nil }
            reports.append(
                LEAdvertisingReport(kind: kind, address: address, data: data, rssi: SignalStrength.dBm(rssi)))
        }
        return reports
    }

    /// Parses the reports of an LE Extended Advertising Report event.
    ///
    /// The kind of a legacy PDU is in the report. For other PDUs, the kind is derived from the properties.
    static func extended(_ reader: inout ByteReader) -> [LEAdvertisingReport]? {
        guard let count = reader.readUInt8() else { return nil }
        var reports: [LEAdvertisingReport] = []
        for _ in 0..<count {
            guard let type = reader.readUInt16(), let addressType = reader.readUInt8(),
                let address = reader.readAddress(kind: addressType), let phys = reader.readBytes(2),
                let set = reader.readUInt8(), reader.readUInt8() != nil, let rssi = reader.readUInt8(),
                reader.readBytes(2 + 1 + 6) != nil,
                let length = reader.readUInt8(), let data = reader.readBytes(Int(length))
            else { return nil }
            let kind: Kind =
                if type & 0x08 != 0 {
                    .scanResponse
                } else if type & 0x04 != 0 {
                    .directed
                } else if type & 0x01 != 0 {
                    .connectable
                } else {
                    type & 0x02 != 0 ? .scannable : .nonConnectable
                }
            var report = LEAdvertisingReport(
                kind: kind, address: address, data: data, rssi: SignalStrength.dBm(rssi),
                isExtended: type & 0x10 == 0, set: set <= 0x0F ? set : nil,
                progress: Progress(rawValue: UInt8(type >> 5 & 3)) ?? .truncated)
            if report.isExtended {
                report.primaryPHY = AdvertisingPHY(rawValue: phys[0])
                report.secondaryPHY = AdvertisingPHY(rawValue: phys[1])
            }
            reports.append(report)
        }
        return reports
    }
}
