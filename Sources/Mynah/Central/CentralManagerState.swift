import MynahCore
import MynahLifecycle

/// The phone's state of one central manager, which outlives the process that made it.
///
/// The code that uses the manager, such as that of its app, is called the manager's program.
///
/// Belongs to a phone, and runs on the phone's executor.
final class CentralManagerState {
    struct Scan {
        /// The scan that the manager requests, with the mode that follows from its app's current state.
        var request: AppScan
        /// The options of the scan, of which only a manager that belongs to no app uses the interval and the
        /// window.
        var options: ScanOptions

        /// Makes the scan of an app.
        init(services: [BluetoothUUID], options: ScanOptions, mode: ScanMode) {
            request = AppScan(
                services: services, solicited: options.solicitedServiceUUIDs,
                allowsDuplicates: options.allowsDuplicates, mode: mode)
            request.awaitsScanResponses = options.isActive
            self.options = options
        }
    }

    /// The stages of a manager's life.
    enum Stage {
        /// The manager was made, and no event has been reported to it yet.
        case new(isRestored: Bool)
        case live
        /// The process that made the manager has ended.
        case ended
    }

    /// The `CentralManagerSink` and the event sequences that get the manager's events.
    private struct Audience {
        var sink: (any CentralManagerSink)?
        var readers = EventReaders(missed: CentralManagerEvent.missed)
        var purposes = PurposeReaders()
    }

    /// The manager's key, which is unique while the phone lives.
    let key: ManagerKey
    /// A number that increases when a process of the app ends, so that references of that process are
    /// recognized as old.
    private(set) var epoch: UInt64 = 0
    /// The condition of the manager's app, or `nil` if it has none.
    let app: AppCondition?
    /// The identifier under which the manager's state is preserved, or `nil` if it is not preserved.
    let restoreIdentifier: String?
    let options: CentralManager.Options
    private(set) var stage: Stage
    private var audience: Audience
    /// The Bluetooth state that was last reported to the manager's program.
    var state: RadioState
    private(set) var scan: Scan?
    private var coalescer = DiscoveryCoalescer()
    private var peripherals: [PeripheralIdentifier: Peripheral] = [:]
    /// The peripherals whose connections are reported to the manager, or `nil` if it is not registered for
    /// them.
    private(set) var registration: ConnectionEventMatching?
    /// The links that were reported to the manager because it registered for connection events.
    var toldLinks: Set<Peer.ID> = []
    /// The peripherals to which the manager has a connection or a pending connection.
    ///
    /// The key is the device's address in `LinkLedger`.
    private(set) var asked: [DeviceAddress: Peripheral] = [:]
    /// The channels that the manager's program opened and still holds.
    private var channels: [WeakChannel] = []
    /// The last saved state, or `nil` if none was saved.
    var saved: PreservedCentralState?

    /// Makes a manager without an app.
    ///
    /// Such a manager counts as a separate app that is always in the foreground.
    init(number: UInt64, state: RadioState, options: CentralManager.Options, sink: (any CentralManagerSink)?)
    {
        key = ManagerKey(app: number, manager: number)
        app = nil
        restoreIdentifier = nil
        self.options = options
        self.state = state
        stage = .live
        audience = Audience(sink: sink)
    }

    init(
        number: UInt64, app: AppCondition, restoreIdentifier: String?, options: CentralManager.Options,
        sink: (any CentralManagerSink)?
    ) {
        key = ManagerKey(app: app.number, manager: number)
        self.app = app
        self.restoreIdentifier = restoreIdentifier
        self.options = options
        state = .unknown
        stage = .new(isRestored: false)
        audience = Audience(sink: sink)
    }

    /// Makes a manager with the state that another process preserved.
    init(number: UInt64, app: AppCondition, preserved: PreservedCentralState) {
        key = ManagerKey(app: app.number, manager: number)
        self.app = app
        restoreIdentifier = preserved.name.restoreIdentifier
        options = CentralManager.Options()
        state = .unknown
        stage = .ended
        audience = Audience()
        saved = preserved
    }

    /// The name under which the manager's state is preserved, or `nil` if it is not preserved.
    ///
    /// The system keeps nothing of an ended app that lacks the background mode.
    var preservedName: PreservedName? {
        guard let app, let restoreIdentifier, app.rules.isBackgroundCentral else { return nil }
        return PreservedName(
            app: app.description.name, restoreIdentifier: restoreIdentifier, role: .central)
    }

    var isEnded: Bool { if case .ended = stage { true } else { false } }
    /// Whether the system scans for the manager, or the manager has a connection or a pending connection.
    var isWorkedFor: Bool { scan != nil || !asked.isEmpty }

    // MARK: Its program

    /// Prepares the manager for a new launch of its app.
    func relaunch(sink: (any CentralManagerSink)?) {
        stage = .new(isRestored: true)
        state = .unknown
        audience = Audience(sink: sink)
    }

    /// Begins to report events to the manager's program; returns whether the manager was restored.
    func introduce() -> Bool {
        guard case .new(let isRestored) = stage else { return false }
        stage = .live
        return isRestored
    }

    /// Makes the `CentralManager` for the manager's program, and gives it to the program's delegate.
    func makeHandle(
        _ link: PhoneLink, _ radio: any CentralRadio, keeping phone: Phone? = nil
    ) -> CentralManager {
        let handle = CentralManager(CentralAccess(CentralReference(self), link), radio, keeping: phone)
        (audience.sink as? CentralManagerDelegateSink)?.attach(to: handle)
        return handle
    }

    /// Ends the manager: its process has ended, or its owner has dropped it.
    func end() {
        stage = .ended
        epoch += 1
        register(nil)
        audience.sink = nil
        audience.readers.finish()
        audience.purposes.finish()
    }

    /// Returns a new sequence of the manager's events.
    func addReader() -> AsyncStream<CentralManagerEvent> {
        precondition(audience.sink == nil, "this manager's events go to the sink it was made with")
        return audience.readers.add()
    }

    /// The sequences of discoveries and of values.
    var purposes: PurposeReaders {
        get { audience.purposes }
        set { audience.purposes = newValue }
    }

    /// Gives an event to the manager's program at once.
    func deliver(_ event: CentralManagerEvent) -> RadioAnswer {
        guard case .live = stage else { return .none }
        if case .stateChanged(let new) = event { state = new }
        audience.purposes.handle(event)
        if let sink = audience.sink { return sink.handle(event) }
        audience.readers.yield(event)
        return .none
    }

    // MARK: Its scan

    /// The mode in which the phone scans for the manager in the given radio state.
    func scanMode(_ radioState: RadioState) -> ScanMode {
        guard let app else { return radioState == .poweredOn ? .foreground : .off }
        return ScanMode(
            scanIn: app.state, app.rules, isRestorable: restoreIdentifier != nil,
            radioState: app.centralState(on: radioState))
    }

    /// The mode in which the phone listens for the manager's pending connections in the given radio state.
    func connectionMode(_ radioState: RadioState) -> ScanMode {
        guard let app else { return radioState == .poweredOn ? .foreground : .off }
        return ScanMode(
            connectionIn: app.state, app.rules, isRestorable: restoreIdentifier != nil,
            radioState: app.centralState(on: radioState))
    }

    /// Starts a scan that replaces the current one; `read` adds readers of its discoveries.
    func startScan(_ new: Scan, read: (inout PurposeReaders) -> Void = { _ in }) {
        purposes.finishDiscoveries()
        read(&purposes)
        scan = new
        coalescer.start(new.request)
    }

    func stopScan() {
        purposes.finishDiscoveries()
        scan = nil
        coalescer.stop()
    }

    /// Changes the mode of the scan, because the app's state or the Bluetooth state has changed.
    func changeScan(to mode: ScanMode) {
        guard scan?.request.mode != mode else { return }
        scan?.request.mode = mode
        coalescer.change(to: mode)
    }

    /// Forgets the discovered devices and ends the scan, because Bluetooth was turned off.
    ///
    /// With `keepsScan`, the scan stays requested; otherwise, the program has to scan again.
    func powerLost(keepsScan: Bool) {
        coalescer.reset()
        guard let scan else { return }
        if keepsScan { coalescer.start(scan.request) } else { stopScan() }
    }

    /// Handles a received packet, and returns the discoveries to report to the manager's program.
    func heard(_ report: ScanReport, readsOverflowArea: Bool) -> [DiscoveryCoalescer.Discovery] {
        guard scan != nil, sees(report.address) else { return [] }
        // Core Bluetooth has no periodic advertising.
        if report.isPeriodic { return app == nil ? [.init(periodic: report)] : [] }
        coalescer.readsOverflowArea = readsOverflowArea
        var discoveries: [DiscoveryCoalescer.Discovery] = []
        coalescer.heard(report, into: &discoveries)
        return discoveries
    }

    // MARK: Its peripherals

    /// Returns whether the manager may see a device; with AccessorySetupKit, it may see only accessories of
    /// its app.
    func sees(_ address: DeviceAddress) -> Bool { app?.accessories.sees(address) ?? true }

    /// Throws `invalidState` if the app uses AccessorySetupKit and the device is not one of its accessories.
    ///
    /// iOS was observed to terminate such an app. Here the app gets an error, which shows the mistake as
    /// well.
    func checkMayConnect(_ peripheral: Peripheral) throws(RadioError) {
        guard let app, !app.accessories.sees(peripheral.identifier) else { return }
        throw RadioError(
            .invalidState,
            "\(peripheral.address) is no accessory of the app \(app.description.name)",
            remedy: "pick it with AccessorySetupKit first")
    }

    func register(_ matching: ConnectionEventMatching?) {
        registration = matching
        toldLinks = []
    }

    /// The largest number of peripherals; above it, those without a connection or a connection request are
    /// forgotten.
    static let limit = DiscoveryCoalescer.limit

    /// Returns the peripheral with an identifier, or else the new one that `make` returns.
    func peripheral(_ identifier: PeripheralIdentifier, make: () -> Peripheral) -> Peripheral {
        if let known = peripherals[identifier] { return known }
        if peripherals.count >= Self.limit {
            // A program that holds a removed peripheral can still use it.
            let used = Set(asked.values.map(\.identifier))
            peripherals = peripherals.filter { used.contains($0.key) }
        }
        let new = make()
        peripherals[identifier] = new
        return new
    }

    /// Replaces the peripherals for the app's next process, so that late answers to the ended process are
    /// dropped.
    func renewPeripherals(_ renew: (Peripheral) -> Peripheral) {
        asked = asked.mapValues(renew)
        peripherals = [:]
        for peripheral in askedPeripherals { peripherals[peripheral.identifier] = peripheral }
    }

    /// The peripherals to which the manager has a connection or a pending connection, in the order of their
    /// addresses.
    var askedPeripherals: [Peripheral] { asked.sorted { $0.key.isBefore($1.key) }.map(\.value) }

    /// Records that the manager requests a connection to the peripheral at an address.
    func ask(for peripheral: Peripheral, at address: DeviceAddress) {
        asked[address] = peripheral
        // The peripheral may have been removed from the list.
        peripherals[peripheral.identifier] = peripheral
    }

    /// Records that the manager is connected to a device.
    func connected(_ address: DeviceAddress) {
        coalescer.connected(address)
    }

    /// Forgets a device that the manager is neither connected to nor waiting for.
    func released(_ address: DeviceAddress) {
        asked[address] = nil
    }

    /// Replaces a device's address after the radio reported another one for the same device.
    func moved(from old: DeviceAddress, to new: DeviceAddress) {
        guard let peripheral = asked.removeValue(forKey: old) else { return }
        asked[new] = peripheral
    }

    // MARK: Its channels

    private struct WeakChannel {
        weak var channel: (any L2CAPChannel)?
    }

    /// Records a channel that the manager's program opened, and forgets those that were dropped.
    func opened(_ channel: any L2CAPChannel) {
        channels.removeAll { $0.channel == nil }
        channels.append(WeakChannel(channel: channel))
    }

    /// Closes the channels that the manager's program opened, on one link, or on all links if `link` is
    /// `nil`.
    func closeChannels(on link: Peer.ID? = nil, _ work: PhoneWork) {
        let isOver = { (channel: any L2CAPChannel) in link == nil || channel.peer == link }
        let over = channels.compactMap(\.channel).filter(isOver)
        guard !over.isEmpty else { return }
        channels.removeAll { $0.channel.map(isOver) ?? true }
        work.start(.close(over))
    }
}
