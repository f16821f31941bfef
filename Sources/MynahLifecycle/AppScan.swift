package import MynahCore

/// The scan of one central manager of an app (scanForPeripherals(withServices:options:)).
package struct AppScan: Hashable, Sendable {
    /// The services of which a device must advertise at least one; empty to match every device.
    package var services: [BluetoothUUID]
    /// The solicited services that make a device match as well
    /// (CBCentralManagerScanOptionSolicitedServiceUUIDsKey).
    package var solicited: [BluetoothUUID]
    /// Whether every packet is reported (CBCentralManagerScanOptionAllowDuplicatesKey).
    package var allowsDuplicates: Bool
    /// Whether an advertisement is reported together with its scan response.
    ///
    /// The advertisement waits for the scan response until the next advertisement at most. If this is
    /// `false`, each packet is reported separately, for tools that show the packets on the air.
    package var awaitsScanResponses = true
    /// The mode in which the phone scans for the manager.
    package var mode: ScanMode

    /// Makes a scan, by default in the foreground.
    package init(
        services: [BluetoothUUID] = [], solicited: [BluetoothUUID] = [], allowsDuplicates: Bool = false,
        mode: ScanMode = .foreground
    ) {
        self.services = services
        self.solicited = solicited
        self.allowsDuplicates = allowsDuplicates
        self.mode = mode
    }

    /// `true` if the scan can find a device now.
    ///
    /// In the background, the scan must name services (CBCentralManager).
    package var isInForce: Bool {
        switch mode {
        case .off: false
        case .foreground: true
        case .background: !services.isEmpty
        }
    }

    /// Whether every packet is reported now.
    ///
    /// In the background, the option is ignored (Core Bluetooth Background Processing).
    package var reportsDuplicates: Bool { allowsDuplicates && mode == .foreground }

    /// The parts of the request that the scan leaves out now, with the reasons.
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

/// A pending connection to a device that at least one app waits for.
package struct WantedLink: Hashable, Sendable {
    /// The identity address of the device, or its only known address.
    package var address: DeviceAddress
    /// The mode in which the phone listens for the device.
    package var mode: ScanMode

    /// Makes a pending connection, by default for an app in the foreground.
    package init(_ address: DeviceAddress, mode: ScanMode = .foreground) {
        self.address = address
        self.mode = mode
    }
}
