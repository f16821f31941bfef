import MynahCore
import MynahLifecycle
import MynahProfiles

/// What an app does with one central manager: which devices it wants, and when it scans.
///
/// It names no manager: the player tells it what happened and carries out the actions. What it knows of devices outlives
/// its app's process, as what an app saves does.
struct CentralScript {
    enum Action: Hashable {
        case startScan
        case stopScan
        /// Asks for a connection to the device of an entry.
        case connect(PeripheralIdentifier, entry: Int)
        /// Does on a link what the entry says.
        case work(PeripheralIdentifier, entry: Int)
        /// Ends the connection.
        case cancel(PeripheralIdentifier)
    }

    /// What a device was heard with.
    struct Heard {
        /// The services that it advertises, by its list or its overflow area.
        var services: Set<BluetoothUUID>
        var localName: String?
        var rssi: Int?
    }

    private struct Device {
        enum Stage {
            case idle
            /// A connection was asked for.
            case wanted
            case connected
            /// The app is done with it.
            case finished
        }

        let entry: Int
        var stage = Stage.idle
        /// Whether it has been connected since the app scans.
        var hasConnected = false
    }

    private let central: Profile.Central
    private var devices: [PeripheralIdentifier: Device] = [:]
    private var isPoweredOn = false
    private var isScanning = false
    /// Whether the app's user wants it to scan; `nil` if the profile decides.
    private var userWish: Bool?

    init(_ central: Profile.Central) {
        self.central = central
    }

    /// The entry that a device was given, or `nil` if it has none.
    func entry(of device: PeripheralIdentifier) -> Int? { devices[device]?.entry }

    // MARK: Its app

    /// The app's process has started.
    mutating func launched() {
        userWish = nil
        forgetLinks()
    }

    /// Gives devices that the system kept the first entry that matches each, if they have none, as after a restart of the phone.
    ///
    /// How loud they were is forgotten, and does not count.
    mutating func recognize(_ kept: [(device: PeripheralIdentifier, known: Heard)]) {
        for (device, known) in kept where devices[device] == nil {
            assign(device) { match in
                var match = match
                match.rssi = nil
                return match.matches(known)
            }
        }
    }

    /// The system kept a scan, and connections: those that are active, and those that are waited for.
    mutating func restored(
        isScanning: Bool, connected: [PeripheralIdentifier], wanted: [PeripheralIdentifier]
    ) {
        self.isScanning = isScanning
        for device in connected {
            devices[device]?.stage = .connected
            devices[device]?.hasConnected = true
        }
        for device in wanted { devices[device]?.stage = .wanted }
    }

    private mutating func forgetLinks() {
        isPoweredOn = false
        isScanning = false
        for device in devices.keys {
            devices[device]?.stage = .idle
            devices[device]?.hasConnected = false
        }
    }

    // MARK: What happens

    /// Bluetooth is on, or is not.
    mutating func powered(_ isOn: Bool, into actions: inout [Action]) {
        guard isOn else { return forgetLinks() }
        guard !isPoweredOn else { return }
        isPoweredOn = true
        let known = devices.sorted { $0.value.entry < $1.value.entry }
        for (device, _) in known { connect(device, into: &actions) }
        updateScan(into: &actions)
    }

    /// A device was heard: it is given the first entry that matches it and has no device.
    mutating func heard(_ device: PeripheralIdentifier, _ heard: Heard, into actions: inout [Action]) {
        if devices[device] == nil { assign(device) { $0.matches(heard) } }
        guard devices[device] != nil else { return }
        connect(device, into: &actions)
        updateScan(into: &actions)
    }

    /// Gives a device the first entry that is meant and has none.
    private mutating func assign(
        _ device: PeripheralIdentifier, _ isMeant: (Profile.Central.Match) -> Bool
    ) {
        let taken = Set(devices.values.map(\.entry))
        let entry = central.peripherals.indices.first { index in
            !taken.contains(index) && isMeant(central.peripherals[index].match)
        }
        if let entry { devices[device] = Device(entry: entry) }
    }

    mutating func connected(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard let entry = devices[device]?.entry else { return }
        devices[device]?.stage = .connected
        devices[device]?.hasConnected = true
        updateScan(into: &actions)
        actions.append(.work(device, entry: entry))
    }

    /// A connection failed: the device is asked again when it is heard again.
    mutating func failed(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        devices[device]?.stage = .idle
        updateScan(into: &actions)
    }

    /// A connection ended; `isReconnecting` if the system connects again by itself.
    mutating func disconnected(
        _ device: PeripheralIdentifier, isReconnecting: Bool, into actions: inout [Action]
    ) {
        guard let known = devices[device], known.stage != .finished else { return }
        if isReconnecting {
            devices[device]?.stage = .wanted
        } else if central.peripherals[known.entry].onDisconnect == .nothing {
            devices[device]?.stage = .finished
        } else {
            devices[device]?.stage = .idle
            connect(device, into: &actions)
        }
    }

    /// Everything that an entry says was done on a link; `isSubscribed` if values may come.
    mutating func done(
        _ device: PeripheralIdentifier, isSubscribed: Bool, into actions: inout [Action]
    ) {
        guard let known = devices[device], known.stage == .connected, !isSubscribed,
            central.peripherals[known.entry].whenDone == .disconnect
        else { return }
        devices[device]?.stage = .finished
        actions.append(.cancel(device))
    }

    /// The app's user starts or stops the scan, which then goes on until the user says otherwise.
    mutating func userWants(_ isScanWanted: Bool, into actions: inout [Action]) {
        userWish = isScanWanted
        updateScan(into: &actions)
    }

    // MARK: What follows

    private mutating func connect(_ device: PeripheralIdentifier, into actions: inout [Action]) {
        guard isPoweredOn, let known = devices[device], known.stage == .idle,
            central.peripherals[known.entry].connection != nil
        else { return }
        devices[device]?.stage = .wanted
        actions.append(.connect(device, entry: known.entry))
    }

    private mutating func updateScan(into actions: inout [Action]) {
        let isWanted = isPoweredOn && central.scan.map { userWish ?? !isOver($0.end) } ?? false
        guard isWanted != isScanning else { return }
        isScanning = isWanted
        actions.append(isWanted ? .startScan : .stopScan)
    }

    private func isOver(_ end: Profile.Central.Scan.End) -> Bool {
        let entries = central.peripherals.indices
        let waiting: [Int]
        switch end {
        case .never: return false
        case .found:
            let found = Set(devices.values.map(\.entry))
            waiting = entries.filter { !found.contains($0) }
        case .connected:
            let connected = Set(devices.values.filter(\.hasConnected).map(\.entry))
            guard central.peripherals.contains(where: { $0.connection != nil }) else { return false }
            waiting = entries.filter {
                central.peripherals[$0].connection != nil && !connected.contains($0)
            }
        }
        return !entries.isEmpty && waiting.isEmpty
    }
}

extension Profile.Central.Match {
    /// Whether a device is one that is meant.
    func matches(_ heard: CentralScript.Heard) -> Bool {
        guard services.allSatisfy(heard.services.contains) else { return false }
        if let localName, localName != heard.localName { return false }
        if let rssi { return heard.rssi.map { $0 >= rssi } ?? false }
        return true
    }
}
