package import Mynah
package import MynahCore

/// A device that was heard once, with its advertising so far.
package struct Sighting: Sendable {
    /// The PDU that was heard.
    package var report: ScanReport
    /// The advertising data and scan response together, each as it was received last.
    package var advertisement: AdvertisementData
    /// The advertising data as it was received last.
    package var data: [UInt8]
    /// The scan response as it was received last.
    package var scanResponse: [UInt8]
    /// Whether a central may connect.
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

    /// The address that it advertises with.
    package var address: DeviceAddress { report.address }
}
