package import MynahCore

/// Turns the packets that a phone hears into the discoveries of one central manager.
///
/// The phone drives it: it gives the manager's scan when the app asks for it and when the app's state changes
/// it, each packet that its radio reports, and each device that the app has connected.
///
/// | | in the foreground | with duplicates in the foreground | in the background | off |
/// |---|---|---|---|---|
/// | a device is heard for the first time | reported | reported | reported | – |
/// | it is heard again | – | reported | – | – |
/// | its advertising data or scan response changed | reported | reported | reported | – |
/// | the app starts a scan | every device counts as new | the same | no device counts as new | – |
/// | the app has connected a device | – | – | the device counts as new | – |
///
/// While `readsOverflowArea` is false, as with the phone's screen off, no device is found by its overflow
/// area.
///
/// Core Bluetooth reports several discoveries of one device as one, and again if the advertisement changed
/// (CBCentralManagerScanOptionAllowDuplicatesKey and the guide's "Core Bluetooth Background Processing for
/// iOS Apps"). Assumptions: an advertisement is reported together with its scan response; discoveries made in
/// the foreground count in the background; in the background only a connection makes a device new; a scan
/// that returns from a pause is not a new one.
package struct DiscoveryCoalescer: Sendable {
    /// A discovery of a device, as an app hears of it.
    package struct Discovery: Hashable, Sendable {
        /// The address of the device: its identity address if the radio resolved it.
        package var address: DeviceAddress
        /// The fields of the advertising data and the scan response together.
        package var advertisement: AdvertisementData
        /// The advertising data, as AD structures.
        package var data: [UInt8]
        /// The scan response, as AD structures; empty if none was heard.
        package var scanResponse: [UInt8]
        /// The signal strength of the packet that came last, in dBm; `nil` if it is not known.
        package var rssi: Int8?
        /// Whether the device accepts connections.
        package var isConnectable: Bool
        /// The services of the scan that the device does not list, and whose bit its overflow area has.
        package var overflowServices: [BluetoothUUID]
        /// The number of packets of the device since the discovery before.
        package var coalesced: Int
    }

    private struct Device: Sendable {
        var data: [UInt8] = []
        var response: [UInt8] = []
        var kind = ScanReport.Kind.nonConnectable
        var rssi: Int8?
        /// An advertisement was heard, so there is something to report.
        var isAdvertised = false
        /// The last advertisement waits for its scan response.
        var isWaiting = false
        var packets = 0
        var isReported = false
        /// The content is not what was reported.
        var isChanged = false
        /// The app has connected it since it was reported.
        var wasConnected = false
        /// Whether the content is what the scan looks for; `nil` if that has yet to be found out.
        var matches: Bool?
        var lastHeard: UInt64 = 0

        var isConnectable: Bool { kind == .connectable || kind == .directed }
    }

    /// How many devices are remembered; past it the half that was heard longest ago is forgotten.
    package static let limit = 20_000

    /// The app's scan, or `nil` if it does not scan.
    private var scan: AppScan?
    private var devices: [DeviceAddress: Device] = [:]
    /// Whether a service may be found in an overflow area.
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

    /// A coalescer without a scan.
    package init() {}

    /// How many devices are remembered.
    package var count: Int { devices.count }

    // MARK: The scan

    /// The app asks for a scan, in place of one that it may have asked for before.
    package mutating func start(_ new: AppScan) {
        if new.mode == .foreground { devices = [:] }
        replace(new)
    }

    /// The app's state changed, and with it how the phone scans for it.
    package mutating func change(to mode: ScanMode) {
        guard var new = scan, new.mode != mode else { return }
        new.mode = mode
        replace(new)
    }

    /// The app stops its scan; what was reported stays reported for a scan in the background.
    package mutating func stop() {
        replace(nil)
    }

    /// The app's connection to a device was made.
    package mutating func connected(_ address: DeviceAddress) {
        devices[address]?.wasConnected = true
    }

    /// Bluetooth is off, or the app has ended: nothing counts as reported any more.
    package mutating func reset() {
        self = DiscoveryCoalescer()
    }

    private mutating func replace(_ new: AppScan?) {
        let isSameSearch = new?.services == scan?.services && new?.solicited == scan?.solicited
        scan = new
        let isInForce = new?.isInForce ?? false
        for address in Array(devices.keys) {
            if !isSameSearch { devices[address]?.matches = nil }
            // The packet that it waits for may be missed now.
            if !isInForce { devices[address]?.isWaiting = false }
        }
    }

    // MARK: Packets

    /// Handles a packet that the phone heard.
    package mutating func heard(_ report: ScanReport, into discoveries: inout [Discovery]) {
        guard let scan, scan.isInForce else { return }
        packetCount += 1
        var device = devices[report.address] ?? Device()
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
            // No scan response came to the advertisement before.
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
            device.isWaiting = report.isScannable && scan.awaitsScanResponses
            if !device.isWaiting { release(&device, report.address, scan, &discoveries) }
        }
        devices[report.address] = device
        if devices.count > Self.limit { shrink() }
    }

    /// Reports a device if a report is due, and if it is looked for.
    private func release(
        _ device: inout Device, _ address: DeviceAddress, _ scan: AppScan,
        _ discoveries: inout [Discovery]
    ) {
        let isNew = !device.isReported || scan.mode == .background && device.wasConnected
        guard isNew || device.isChanged || scan.reportsDuplicates, device.matches != false else { return }
        var advertisement = AdvertisementData(device.data)
        // Bumble's controller sends the advertising data once more as a scan response.
        if device.response != device.data { advertisement.add(device.response) }
        if !readsOverflowArea { advertisement.overflowArea = nil }
        let matches = device.matches ?? scan.matches(advertisement)
        device.matches = matches
        guard matches else { return }
        discoveries.append(
            Discovery(
                address: address, advertisement: advertisement, data: device.data,
                scanResponse: device.response, rssi: device.rssi, isConnectable: device.isConnectable,
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

extension AppScan {
    /// Whether a scan finds a device by a service that it advertises, by a service that it solicits, or by a
    /// bit of its overflow area.
    ///
    /// Solicited services widen a scan that names services. A scan for every device needs none.
    func matches(_ advertisement: AdvertisementData) -> Bool {
        services.isEmpty || services.contains { advertisement.mayHave($0) }
            || solicited.contains { advertisement.solicitedServiceUUIDs.contains($0) }
    }

    /// The services of the scan that a device may have in its overflow area
    /// (CBAdvertisementDataOverflowServiceUUIDsKey).
    ///
    /// The area has one bit for several UUIDs, so it can be another service too.
    func overflowServices(of advertisement: AdvertisementData) -> [BluetoothUUID] {
        guard let area = advertisement.overflowArea else { return [] }
        return services.filter { !advertisement.serviceUUIDs.contains($0) && area.contains($0) }
    }
}

extension ScanReport {
    /// Whether its sender answers a scan request (Core Specification, Vol 6, Part B, 2.3.1).
    ///
    /// An extended advertisement is connectable or scannable, and never both.
    fileprivate var isScannable: Bool {
        switch kind {
        case .connectable: !isExtended
        case .scannable: true
        case .directed, .nonConnectable, .scanResponse: false
        }
    }
}
