package import MynahCore

/// The scan of one central manager of an app (scanForPeripherals(withServices:options:)).
package struct AppScan: Hashable, Sendable {
    /// The services of which a device advertises at least one; every device matches if it is empty.
    package var services: [BluetoothUUID]
    /// Services that a device may look for instead (CBCentralManagerScanOptionSolicitedServiceUUIDsKey).
    package var solicited: [BluetoothUUID]
    /// Whether every packet is reported (CBCentralManagerScanOptionAllowDuplicatesKey).
    package var allowsDuplicates: Bool
    /// Whether an advertisement is reported together with its scan response, which it waits for until the
    /// next one.
    ///
    /// Without it each packet is reported by itself, as a tool needs that shows what is on the air.
    package var awaitsScanResponses = true
    /// How the phone scans for it now.
    package var mode: ScanMode

    /// A scan, in the foreground by default.
    package init(
        services: [BluetoothUUID] = [], solicited: [BluetoothUUID] = [], allowsDuplicates: Bool = false,
        mode: ScanMode = .foreground
    ) {
        self.services = services
        self.solicited = solicited
        self.allowsDuplicates = allowsDuplicates
        self.mode = mode
    }

    /// `true` if the scan can find anything now: in the background it has to name services
    /// (CBCentralManager).
    package var isInForce: Bool {
        switch mode {
        case .off: false
        case .foreground: true
        case .background: !services.isEmpty
        }
    }

    /// Whether every packet is reported now: in the background the option is ignored (Core Bluetooth
    /// Background Processing).
    package var reportsDuplicates: Bool { allowsDuplicates && mode == .foreground }

    /// The parts of the request that the scan leaves out now, and why.
    package var omitted: [AdvertisingReport.Omission] {
        guard mode == .background else { return [] }
        var omitted: [AdvertisingReport.Omission] = []
        if services.isEmpty {
            omitted.append(
                .init(
                    item: "services",
                    reason: "a scan without services finds nothing in the background"))
        }
        if allowsDuplicates {
            omitted.append(
                .init(item: "allowDuplicates", reason: "in the background each device is reported once"))
        }
        return omitted
    }
}

/// A pending connection: a device that at least one app waits for.
package struct WantedLink: Hashable, Sendable {
    /// The identity address of the device, or the only address that is known of it.
    package var address: DeviceAddress
    /// How it is listened for now.
    package var mode: ScanMode

    /// A device that an app waits for, in the foreground by default.
    package init(_ address: DeviceAddress, mode: ScanMode = .foreground) {
        self.address = address
        self.mode = mode
    }
}
