import MynahCore
import MynahLifecycle

/// The phone's state of one central manager, which outlives the process that made it.
///
/// Belongs to a phone, and runs on the phone's executor.
final class CentralManagerState {
    /// The scan of a manager.
    struct Scan {
        /// The request, in the current mode.
        var request: AppScan
        /// How a manager that no app made wants the radio to scan.
        var options: ScanOptions

        /// The scan of an app.
        init(services: [BluetoothUUID], options: ScanOptions, mode: ScanMode) {
            request = AppScan(
                services: services, solicited: options.solicitedServiceUUIDs,
                allowsDuplicates: options.allowsDuplicates, mode: mode)
            request.awaitsScanResponses = options.isActive
            self.options = options
        }
    }

    /// Whether its program hears of it.
    enum Stage {
        /// The manager was made, and has neither what was preserved nor the Bluetooth state yet.
        case new(isRestored: Bool)
        case live
        /// The process that made it is gone.
        case ended
    }

    /// The sink and the sequences through which the manager's owner hears of events.
    private struct Audience {
        var sink: (any CentralManagerSink)?
        var readers = EventReaders(missed: CentralManagerEvent.missed)
        var purposes = PurposeReaders()
    }

    /// Names it, for as long as the phone lives.
    let key: ManagerKey
    /// Changes when a process of its app ends: what that process holds of the manager names an earlier epoch.
    private(set) var epoch: UInt64 = 0
    /// The app of the manager, or `nil` if no app made it.
    unowned let app: AppProcess?
    /// The identifier that its state is preserved under, or `nil` if it is not.
    let restoreIdentifier: String?
    let options: CentralManager.Options
    private(set) var stage: Stage
    private var audience: Audience
    /// The Bluetooth state, as its program knows it.
    var state: RadioState
    private(set) var scan: Scan?
    private var coalescer = DiscoveryCoalescer()
    private var peripherals: [PeripheralIdentifier: Peripheral] = [:]
    /// The connections of the phone that it hears of, or `nil` if it hears of none.
    private(set) var registration: ConnectionEventMatching?
    /// The links that were reported to it because of its registration.
    var toldLinks: Set<Peer.ID> = []
    /// The peripherals that it has connected or waits for, by the addresses that the ledger knows.
    private(set) var asked: [DeviceAddress: Peripheral] = [:]
    /// The channels that its program opened and still holds.
    private var channels: [WeakChannel] = []
    /// The last saved state, or `nil` if none was saved.
    var saved: PreservedCentralState?

    /// A manager that no app made.
    ///
    /// A manager without an app counts as a separate app that is always in the foreground.
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

    /// An app's.
    init(
        number: UInt64, app: AppProcess, restoreIdentifier: String?, options: CentralManager.Options,
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

    /// The state that another process preserved.
    init(number: UInt64, app: AppProcess, preserved: PreservedCentralState) {
        key = ManagerKey(app: app.number, manager: number)
        self.app = app
        restoreIdentifier = preserved.name.restoreIdentifier
        options = CentralManager.Options()
        state = .unknown
        stage = .ended
        audience = Audience()
        saved = preserved
    }

    /// The name under which its state is preserved, or `nil` if it is not.
    ///
    /// Without the background mode the system keeps nothing of an app that has ended.
    var preservedName: PreservedName? {
        guard let app, let restoreIdentifier, app.rules.isBackgroundCentral else { return nil }
        return PreservedName(
            app: app.description.name, restoreIdentifier: restoreIdentifier, role: .central)
    }

    var isEnded: Bool { if case .ended = stage { true } else { false } }
    /// Whether the system scans, waits or holds a link for it.
    var isWorkedFor: Bool { scan != nil || !asked.isEmpty }

    // MARK: Its program

    /// A new launch of its app takes it over.
    func relaunch(sink: (any CentralManagerSink)?) {
        stage = .new(isRestored: true)
        state = .unknown
        audience = Audience(sink: sink)
    }

    /// From now on its program hears of it; returns whether it takes over what was preserved.
    func introduce() -> Bool {
        guard case .new(let isRestored) = stage else { return false }
        stage = .live
        return isRestored
    }

    /// Returns a handle for its program, and names it to the program's delegate.
    func makeHandle(
        _ link: PhoneLink, _ radio: any CentralRadio, keeping phone: Phone? = nil
    ) -> CentralManager {
        let handle = CentralManager(CentralAccess(CentralReference(self), link), radio, keeping: phone)
        (audience.sink as? CentralManagerDelegateSink)?.attach(to: handle)
        return handle
    }

    /// Ends the manager: its process is gone, or its owner has let go of it.
    func end() {
        stage = .ended
        epoch += 1
        register(nil)
        audience.sink = nil
        audience.readers.finish()
        audience.purposes.finish()
    }

    /// Returns the sequence of one more reader.
    func addReader() -> AsyncStream<CentralManagerEvent> {
        precondition(audience.sink == nil, "this manager's events go to the sink it was made with")
        return audience.readers.add()
    }

    /// The sequences of discoveries and of values.
    var purposes: PurposeReaders {
        get { audience.purposes }
        set { audience.purposes = newValue }
    }

    /// Gives an event to its program: at once, or as the life of its app has it.
    @discardableResult
    func pass(_ event: CentralManagerEvent) -> RadioAnswer {
        app?.pass(event, to: self) ?? deliver(event)
    }

    /// Gives an event to its program.
    func deliver(_ event: CentralManagerEvent) -> RadioAnswer {
        guard case .live = stage else { return .none }
        if case .stateChanged(let new) = event { state = new }
        audience.purposes.handle(event)
        if let sink = audience.sink { return sink.handle(event) }
        audience.readers.yield(event)
        return .none
    }

    // MARK: Its scan

    /// How the phone scans for it while the radio is in a state.
    func scanMode(_ radioState: RadioState) -> ScanMode {
        guard let app else { return radioState == .poweredOn ? .foreground : .off }
        return ScanMode(
            scanIn: app.state, app.rules, isRestorable: restoreIdentifier != nil,
            radioState: app.centralState(on: radioState))
    }

    /// How its pending connections are listened for while the radio is in a state.
    func connectionMode(_ radioState: RadioState) -> ScanMode {
        guard let app else { return radioState == .poweredOn ? .foreground : .off }
        return ScanMode(
            connectionIn: app.state, app.rules, isRestorable: restoreIdentifier != nil,
            radioState: app.centralState(on: radioState))
    }

    /// Scans anew; `read` adds the readers of what the scan discovers.
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

    /// Scans in another mode, because the app or the Bluetooth state has changed.
    func changeScan(to mode: ScanMode) {
        guard scan?.request.mode != mode else { return }
        scan?.request.mode = mode
        coalescer.change(to: mode)
    }

    /// Bluetooth is off: a manager whose program has to ask again forgets its scan.
    func powerLost(keepsScan: Bool) {
        coalescer.reset()
        guard let scan else { return }
        if keepsScan { coalescer.start(scan.request) } else { stopScan() }
    }

    /// Takes a packet that the phone heard, and returns what its program hears of it.
    func heard(_ report: ScanReport, readsOverflowArea: Bool) -> [DiscoveryCoalescer.Discovery] {
        guard scan != nil, sees(report.address) else { return [] }
        coalescer.readsOverflowArea = readsOverflowArea
        var discoveries: [DiscoveryCoalescer.Discovery] = []
        coalescer.heard(report, into: &discoveries)
        return discoveries
    }

    // MARK: Its peripherals

    /// Returns whether the manager sees a device: with AccessorySetupKit, an accessory of its app.
    func sees(_ address: DeviceAddress) -> Bool { app?.accessories.sees(address) ?? true }

    /// Throws `invalidState` if its app uses AccessorySetupKit and the device is no accessory of it.
    ///
    /// That iOS terminates such an app was observed. An app that goes on with an error shows the mistake as
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

    /// How many peripherals are remembered before those are forgotten that it neither holds nor waits for.
    static let limit = DiscoveryCoalescer.limit

    /// The peripheral of a device, which is made if it is not known.
    func peripheral(_ identifier: PeripheralIdentifier, make: () -> Peripheral) -> Peripheral {
        if let known = peripherals[identifier] { return known }
        if peripherals.count >= Self.limit {
            // A program that holds one still has it.
            let used = Set(asked.values.map(\.identifier))
            peripherals = peripherals.filter { used.contains($0.key) }
        }
        let new = make()
        peripherals[identifier] = new
        return new
    }

    /// Gives the next process peripherals of its own: the ended one's requests are answered to nobody.
    func renewPeripherals(_ renew: (Peripheral) -> Peripheral) {
        asked = asked.mapValues(renew)
        peripherals = [:]
        for peripheral in askedPeripherals { peripherals[peripheral.identifier] = peripheral }
    }

    /// The peripherals that it has connected or waits for, in the order of their addresses.
    var askedPeripherals: [Peripheral] { asked.sorted { $0.key.isBefore($1.key) }.map(\.value) }

    /// Asks for a connection to the peripheral at an address.
    func ask(for peripheral: Peripheral, at address: DeviceAddress) {
        asked[address] = peripheral
        // It may have been forgotten.
        peripherals[peripheral.identifier] = peripheral
    }

    /// Notes that the manager is connected to a device.
    func connected(_ address: DeviceAddress) {
        coalescer.connected(address)
    }

    /// Notes that the manager neither holds nor waits for a device any more.
    func released(_ address: DeviceAddress) {
        asked[address] = nil
    }

    /// A device has turned out to have another address.
    func moved(from old: DeviceAddress, to new: DeviceAddress) {
        guard let peripheral = asked.removeValue(forKey: old) else { return }
        asked[new] = peripheral
    }

    // MARK: Its channels

    private struct WeakChannel {
        weak var channel: (any L2CAPChannel)?
    }

    /// Notes a channel that the manager's owner opened.
    func opened(_ channel: any L2CAPChannel) {
        channels.removeAll { $0.channel == nil }
        channels.append(WeakChannel(channel: channel))
    }

    /// Closes the channels that its program opened, on a link that it gave up or on all.
    func closeChannels(on link: Peer.ID? = nil, _ work: PhoneWork) {
        let isOver = { (channel: any L2CAPChannel) in link == nil || channel.peer == link }
        let over = channels.compactMap(\.channel).filter(isOver)
        guard !over.isEmpty else { return }
        channels.removeAll { $0.channel.map(isOver) ?? true }
        work.start(.close(over))
    }
}
