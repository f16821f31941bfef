package import Mynah
package import MynahCore

/// An advertising report of a device, with the device's last advertising data and scan response.
package struct Sighting: Sendable {
    /// The received report.
    package var report: ScanReport
    /// The last advertising data and the last scan response, combined.
    package var advertisement: AdvertisementData
    /// The last advertising data.
    package var data: [UInt8]
    /// The last scan response.
    package var scanResponse: [UInt8]
    /// Whether centrals can connect to the device.
    package var isConnectable: Bool

    package init(
        _ report: ScanReport, advertisement: AdvertisementData, data: [UInt8], scanResponse: [UInt8],
        isConnectable: Bool
    ) {
        self.report = report
        self.advertisement = advertisement
        self.data = data
        self.scanResponse = scanResponse
        self.isConnectable = isConnectable
    }

    package init(_ discovery: Discovery) {
        self.init(
            discovery.report, advertisement: discovery.advertisement, data: discovery.data,
            scanResponse: discovery.scanResponse, isConnectable: discovery.isConnectable)
    }

    /// The address of the advertiser.
    package var address: DeviceAddress { report.address }
}
