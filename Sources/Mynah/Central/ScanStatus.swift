package import MynahCore
package import MynahLifecycle

/// A central manager's part of its phone's scan, which all apps share.
package struct ScanStatus: Hashable, Sendable {
    /// The services that the manager scans for; empty if it scans for every device.
    package var services: [BluetoothUUID]
    /// The solicited services that make a device match as well.
    package var solicited: [BluetoothUUID]
    /// Whether the phone scans for the manager now.
    package var isInForce: Bool
    /// Whether every packet is reported to the manager now.
    package var allowsDuplicates: Bool
    /// The options of the radio's combined scan, or `nil` if it does not scan for this manager.
    package var options: ScanOptions?
    /// The parts of the manager's request that are left out, with the reasons.
    package var omitted: [AdvertisingReport.Omission]

    /// Makes the status of a request in a combined scan with these options.
    package init(_ request: AppScan, options: ScanOptions?) {
        services = request.services
        solicited = request.solicited
        isInForce = request.isInForce
        allowsDuplicates = request.reportsDuplicates
        self.options = isInForce ? options : nil
        omitted = request.omitted
        if !isInForce, omitted.isEmpty {
            let reason = "a background app cannot scan without the background mode bluetooth-central"
            omitted = [.init(item: "scan", reason: reason)]
        }
    }
}
