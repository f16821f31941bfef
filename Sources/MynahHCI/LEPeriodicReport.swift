package import MynahCore
import MynahSupport

/// The result of LE Periodic Advertising Sync Established (Core Specification, Vol 4, Part E, 7.7.65.14).
package struct LEPeriodicSync: Hashable, Sendable {
    /// The Sync_Handle.
    package var handle: UInt16
    /// The advertiser's address.
    package var address: DeviceAddress
    /// The Advertising_SID.
    package var set: UInt8
    /// The PHY of the train.
    package var phy = AdvertisingPHY.le1M
    /// The periodic advertising interval, in units of 1.25 ms.
    package var interval: UInt16

    /// Makes the result of a synchronization.
    package init(handle: UInt16, address: DeviceAddress, set: UInt8, interval: UInt16) {
        (self.handle, self.address, self.set, self.interval) = (handle, address, set, interval)
    }

    init?(_ reader: inout ByteReader) {
        guard let handle = reader.readUInt16(), let set = reader.readUInt8(), let kind = reader.readUInt8(),
            let address = reader.readAddress(kind: kind), let phy = reader.readUInt8(),
            let interval = reader.readUInt16(), reader.readUInt8() != nil
        else { return nil }
        self.init(handle: handle, address: address, set: set, interval: interval)
        self.phy = AdvertisingPHY(rawValue: phy) ?? .le1M
    }
}

/// LE Periodic Advertising Report (Core Specification, Vol 4, Part E, 7.7.65.15).
package struct LEPeriodicReport: Hashable, Sendable {
    /// The Sync_Handle.
    package var handle: UInt16
    /// The RSSI in dBm, or `nil` if it is not available.
    package var rssi: Int8?
    /// The completeness of the data.
    package var progress: LEAdvertisingReport.Progress
    /// The AD structures.
    package var data: [UInt8]

    /// Makes a report.
    package init(
        handle: UInt16, rssi: Int8?, progress: LEAdvertisingReport.Progress = .complete, data: [UInt8]
    ) {
        (self.handle, self.rssi, self.progress, self.data) = (handle, rssi, progress, data)
    }

    init?(_ reader: inout ByteReader) {
        guard let handle = reader.readUInt16(), reader.readUInt8() != nil, let rssi = reader.readUInt8(),
            reader.readUInt8() != nil, let status = reader.readUInt8(), let length = reader.readUInt8(),
            let data = reader.readBytes(Int(length))
        else { return nil }
        self.init(
            handle: handle, rssi: SignalStrength.dBm(rssi),
            progress: LEAdvertisingReport.Progress(rawValue: status) ?? .truncated, data: data)
    }
}
