package import MynahCore
package import MynahLifecycle

/// A central manager's part of its phone's scan, which is one for all apps.
package struct ScanStatus: Hashable, Sendable {
    /// The services that it scans for; empty if for every device.
    package var services: [BluetoothUUID]
    /// Those that a device may look for instead.
    package var solicited: [BluetoothUUID]
    /// Whether the phone scans for it now.
    package var isInForce: Bool
    /// Whether every packet is reported to it now.
    package var allowsDuplicates: Bool
    /// How the radio scans for all apps; `nil` if it does not scan for this one.
    package var options: ScanOptions?
    /// The parts of its request that are left out, and why.
    package var omitted: [AdvertisingReport.Omission]

    /// The part of a request in a scan with these options.
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
