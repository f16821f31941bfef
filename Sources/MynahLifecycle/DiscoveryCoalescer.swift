package import MynahCore

/// Converts the packets that a phone receives into the discoveries of one central manager.
///
/// The phone drives this state machine: it passes in the manager's scan when the app requests it or the app's
/// state changes it, each packet that its radio reports, and each device that the app has connected.
///
/// | | in the foreground | with duplicates in the foreground | in the background | off |
/// |---|---|---|---|---|
/// | a device is heard for the first time | reported | reported | reported | – |
/// | it is heard again | – | reported | – | – |
/// | its advertising data or scan response changed | reported | reported | reported | – |
/// | the app starts a scan | every device counts as new | the same | no device counts as new | – |
/// | the app has connected a device | – | – | the device counts as new | – |
///
/// While `readsOverflowArea` is `false`, for example because the phone's screen is off, no device is found by
/// its overflow area.
///
/// Core Bluetooth reports several discoveries of one device as one, and again if the advertisement changed
/// (CBCentralManagerScanOptionAllowDuplicatesKey and the guide's "Core Bluetooth Background Processing for
/// iOS Apps"). Assumptions: an advertisement is reported together with its scan response; discoveries made in
/// the foreground count in the background; in the background only a connection makes a device new; a scan
/// that returns from a pause is not a new one.
package struct DiscoveryCoalescer: Sendable {
    /// A discovery of a device, as reported to an app.
    package struct Discovery: Hashable, Sendable {
        /// The address of the device: its identity address if the radio resolved it.
        package var address: DeviceAddress
        /// The fields of the advertising data and the scan response together.
        package var advertisement: AdvertisementData
        /// The advertising data, as AD structures.
        package var data: [UInt8]
        /// The scan response, as AD structures; empty if none was received.
        package var scanResponse: [UInt8]
        /// The RSSI of the last packet, in dBm, or `nil` if it is not known.
        package var rssi: Int8?
        /// Whether the device can be connected.
        package var isConnectable: Bool
        /// The services of the scan that the device does not list, and whose bit is set in its overflow area.
        package var overflowServices: [BluetoothUUID]
        /// The number of packets of the advertising set since its previous discovery.
        package var coalesced: Int
    }

    /// Identifies an advertising set of a device.
    private struct SetKey: Hashable {
        var address: DeviceAddress
        /// The set's identifier; legacy sets have none, and are not told apart.
        var set: UInt8?
    }

    private struct Device: Sendable {
        var data: [UInt8] = []
        var response: [UInt8] = []
        var kind = ScanReport.Kind.nonConnectable
        var rssi: Int8?
        /// Whether an advertisement was received, and not only a scan response.
        var isAdvertised = false
        /// Whether the last advertisement is held until its scan response arrives.
        var isWaiting = false
        var packets = 0
        var isReported = false
        /// Whether the content differs from the content that was reported last.
        var isChanged = false
        /// Whether the app has connected the device since it was last reported.
        var wasConnected = false
        /// Whether the content matches the scan, or `nil` if that has not been checked.
        var matches: Bool?
        var lastHeard: UInt64 = 0

        var isConnectable: Bool { kind == .connectable || kind == .directed }
        /// The scan response of the last advertisement, which has none if it is not scannable.
        var ownResponse: [UInt8] { isScannable ? response : [] }
        private var isScannable: Bool { !isAdvertised || isAnswering }
        /// Whether the sender of the last advertisement answers scan requests.
        var isAnswering = true
    }

    /// The largest number of remembered devices; above it, the half that was not received for the longest
    /// time is forgotten.
    package static let limit = 20_000

    /// The manager's scan, or `nil` if it does not scan.
    private var scan: AppScan?
    private var devices: [SetKey: Device] = [:]
    /// Whether devices can be found by their overflow area.
    package var readsOverflowArea = true {
        didSet {
            guard readsOverflowArea != oldValue else { return }
            devices = devices.mapValues { device in
                var device = device
                device.matches = nil
                return device
            }
        }
    }
    private var packetCount: UInt64 = 0

    /// Makes a coalescer without a scan.
    package init() {}

    /// The number of remembered devices.
    package var count: Int { devices.count }

    // MARK: The scan

    /// Begins a scan of the manager, which replaces an earlier one.
    package mutating func start(_ new: AppScan) {
        if new.mode == .foreground { devices = [:] }
        replace(new)
    }

    /// Changes the mode of the scan after a change of the app's state.
    package mutating func change(to mode: ScanMode) {
        guard var new = scan, new.mode != mode else { return }
        new.mode = mode
        replace(new)
    }

    /// Ends the scan; a later scan in the background does not report the reported devices again.
    package mutating func stop() {
        replace(nil)
    }

    /// Records that the app connected a device, so that a scan in the background reports the device again.
    package mutating func connected(_ address: DeviceAddress) {
        for set in Self.identifiers { devices[SetKey(address: address, set: set)]?.wasConnected = true }
    }

    /// Forgets all devices, because Bluetooth is off or the app has ended.
    package mutating func reset() {
        self = DiscoveryCoalescer()
    }

    /// The identifiers that a set can have.
    private static let identifiers: [UInt8?] = [nil] + (UInt8(0)...15).map { $0 }

    private mutating func replace(_ new: AppScan?) {
        let isSameSearch = new?.services == scan?.services && new?.solicited == scan?.solicited
        scan = new
        let isInForce = new?.isInForce ?? false
        for key in Array(devices.keys) {
            if !isSameSearch { devices[key]?.matches = nil }
            // The awaited scan response may be missed now.
            if !isInForce { devices[key]?.isWaiting = false }
        }
    }

    // MARK: Packets

    /// Handles a packet that the phone received.
    package mutating func heard(_ report: ScanReport, into discoveries: inout [Discovery]) {
        guard let scan, scan.isInForce else { return }
        packetCount += 1
        let key = SetKey(address: report.address, set: report.set)
        var device = devices[key] ?? Device()
        device.lastHeard = packetCount
        if report.kind == .scanResponse {
            device.packets += 1
            device.rssi = report.rssi
            if device.response != report.data {
                device.response = report.data
                device.isChanged = true
                device.matches = nil
            }
            device.isWaiting = false
            if device.isAdvertised || !scan.awaitsScanResponses {
                release(&device, report.address, scan, &discoveries)
            }
        } else {
            // No scan response followed the previous advertisement.
            if device.isWaiting { release(&device, report.address, scan, &discoveries) }
            device.packets += 1
            device.rssi = report.rssi
            device.isAdvertised = true
            if device.data != report.data {
                device.data = report.data
                device.isChanged = true
                device.matches = nil
            }
            device.kind = report.kind
            if device.isAnswering != report.isScannable {
                device.isAnswering = report.isScannable
                device.matches = nil
            }
            device.isWaiting = report.isScannable && scan.awaitsScanResponses
            if !device.isWaiting { release(&device, report.address, scan, &discoveries) }
        }
        devices[key] = device
        if devices.count > Self.limit { shrink() }
    }

    /// Reports a device that matches the scan, if it is new or has changed, or if duplicates are reported.
    private func release(
        _ device: inout Device, _ address: DeviceAddress, _ scan: AppScan,
        _ discoveries: inout [Discovery]
    ) {
        let isNew = !device.isReported || scan.mode == .background && device.wasConnected
        guard isNew || device.isChanged || scan.reportsDuplicates, device.matches != false else { return }
        var advertisement = AdvertisementData(device.data)
        // Bumble's controller sends the advertising data once more as a scan response.
        let response = device.ownResponse
        if response != device.data { advertisement.add(response) }
        if !readsOverflowArea { advertisement.overflowArea = nil }
        let matches = device.matches ?? scan.matches(advertisement)
        device.matches = matches
        guard matches else { return }
        discoveries.append(
            Discovery(
                address: address, advertisement: advertisement, data: device.data,
                scanResponse: response, rssi: device.rssi, isConnectable: device.isConnectable,
                overflowServices: scan.overflowServices(of: advertisement), coalesced: device.packets))
        device.packets = 0
        device.isReported = true
        device.isChanged = false
        device.wasConnected = false
    }

    private mutating func shrink() {
        let numbers = devices.values.map(\.lastHeard).sorted()
        let middle = numbers[numbers.count / 2]
        devices = devices.filter { $0.value.lastHeard >= middle }
    }
}

extension DiscoveryCoalescer.Discovery {
    /// Makes a discovery from a report of periodic advertising data, which is not combined with other
    /// reports.
    package init(periodic report: ScanReport) {
        self.init(
            address: report.address, advertisement: AdvertisementData(report.data), data: [],
            scanResponse: [], rssi: report.rssi, isConnectable: false, overflowServices: [], coalesced: 1)
    }
}

extension AppScan {
    /// Whether a device matches the scan by a service that it advertises, by a service that it solicits, or
    /// by a bit of its overflow area.
    ///
    /// Solicited services extend a scan that names services. A scan for every device does not need them.
    func matches(_ advertisement: AdvertisementData) -> Bool {
        services.isEmpty || services.contains { advertisement.mayHave($0) }
            || solicited.contains { advertisement.solicitedServiceUUIDs.contains($0) }
    }

    /// The services of the scan whose bit is set in a device's overflow area
    /// (CBAdvertisementDataOverflowServiceUUIDsKey).
    ///
    /// Several UUIDs share a bit, so the device may have another service instead.
    func overflowServices(of advertisement: AdvertisementData) -> [BluetoothUUID] {
        guard let area = advertisement.overflowArea else { return [] }
        return services.filter { !advertisement.serviceUUIDs.contains($0) && area.contains($0) }
    }
}

extension ScanReport {
    /// Whether the sender answers a scan request (Core Specification, Vol 6, Part B, 2.3.1).
    ///
    /// An extended advertisement is either connectable or scannable, but not both.
    fileprivate var isScannable: Bool {
        switch kind {
        case .connectable: !isExtended
        case .scannable: true
        case .directed, .nonConnectable, .scanResponse: false
        }
    }
}
