import MynahCore
import MynahDBus

/// Tracks bluetoothd and the adapter for the radio: whether they exist, their properties, and what to do when
/// they change.
///
/// This part has no I/O: it handles events, and returns actions that the radio carries out.
struct AdapterSession {
    typealias Action = AdapterPresence.Action

    /// Whether bluetoothd can be called.
    private enum Daemon: Hashable {
        /// The connection to the bus is closed.
        case busClosed
        /// A new connection to the bus is being made.
        case connecting
        /// No connection owns bluetoothd's name on the bus.
        case absent
        case present
        /// bluetoothd has released the pairing agent, which it does before it ends.
        case leaving
    }

    /// The adapter in use.
    ///
    /// An adapter that was unplugged and plugged in again has the same address, but may have another path.
    struct Adapter: Hashable {
        var path: ObjectPath
        let address: String

        /// The adapter's name, such as `hci0`.
        var name: String { path.string.split(separator: "/").last.map(String.init) ?? "" }
        /// The address in the form of a device's address.
        var deviceAddress: DeviceAddress? { DeviceAddress(address, kind: .public) }
    }

    /// bluetoothd's objects with their last reported properties.
    private(set) var objects = BusObjects()
    /// The adapter in use, or `nil` if none is chosen yet.
    private(set) var adapter: Adapter?
    /// bluetoothd's version, or `nil` if it is not known.
    private(set) var version: BlueZVersion?
    private(set) var capabilities = RadioCapabilities(name: "BlueZ")
    /// Whether the radio's agent is registered or being registered.
    private(set) var hasAgent = false
    private var daemon = Daemon.connecting
    private var presence = AdapterPresence()
    private var found: AdapterRestoration.Found?
    /// The changes of bluetoothd's objects during the pending call that lists them, or `nil` if no call is
    /// pending.
    private var changesWhileListing: [ObjectChange]?

    /// Whether the radio is started, and can use bluetoothd and the adapter.
    var isPresent: Bool { presence.state == .present }
    /// Whether a connection owns bluetoothd's name on the bus.
    var hasDaemon: Bool { daemon == .present || daemon == .leaving }
    /// The adapter's properties, or `nil` if the adapter was removed.
    var adapterState: BusObjects.Adapter? { adapter.flatMap { objects.adapters[$0.path.string] } }

    // MARK: Start and stop

    /// Handles the completion of the radio's start.
    mutating func start() -> [Action] {
        _ = look()
        return feed(.begin)
    }

    /// Handles the beginning of the radio's stop.
    mutating func end() {
        _ = presence.handle(.end)
    }

    /// Selects the adapter with the name or address `wanted`.
    ///
    /// If `wanted` is `nil`, selects the first adapter that supports the peripheral role.
    mutating func select(_ wanted: String?) throws(RadioError) {
        let (path, address) = try objects.selectAdapter(wanted)
        adapter = Adapter(path: path, address: address)
    }

    // MARK: The bus and bluetoothd

    /// Handles a new connection to the bus.
    mutating func connected() {
        daemon = .absent
    }

    /// Handles the end of the connection to the bus.
    mutating func busEnded() -> [Action] {
        daemon = .busClosed
        objects.removeAll()
        return look()
    }

    /// Handles a new owner of bluetoothd's name on the bus; `owner` is `nil` if no connection owns the name.
    mutating func ownerChanged(to owner: String?) -> [Action] {
        let hadDaemon = hasDaemon
        daemon = owner == nil ? .absent : .present
        // Changes that the previous owner reported do not apply to the objects of this one.
        if changesWhileListing != nil { changesWhileListing = [] }
        guard presence.state != .idle else { return [] }
        guard owner != nil else {
            objects.removeAll()
            return look()
        }
        // Another bluetoothd may take over the name at once. Its objects are listed, because signals that it
        // sent before the match rule was active are lost.
        return (hadDaemon ? feed(.missing(.daemon)) : []) + [.perform(.learnObjects)]
    }

    /// Handles the release of the agent by bluetoothd, after which bluetoothd usually ends.
    ///
    /// bluetoothd removes its objects before it ends. The session treats bluetoothd as missing already now,
    /// because otherwise it would look as if the adapter was unplugged.
    mutating func agentReleased() -> [Action] {
        hasAgent = false
        guard isPresent, daemon == .present else { return [] }
        daemon = .leaving
        return look() + [.retry(after: .seconds(3))]
    }

    /// Checks again if the radio can be used, after the time of the action `retry` has passed.
    mutating func retry() -> [Action] {
        // bluetoothd did not end after all.
        if daemon == .leaving { daemon = .present }
        return look()
    }

    // MARK: Objects

    /// Begins to collect changes, because a list of bluetoothd's objects is being requested.
    mutating func willLearn() {
        changesWhileListing = []
    }

    /// Handles the list of bluetoothd's objects; `objects` is `nil` if the call for the list has failed.
    ///
    /// Changes that arrived during the call are applied again, because they may be newer than the list.
    mutating func learned(_ objects: BusObjects?) {
        let changes = changesWhileListing ?? []
        changesWhileListing = nil
        guard let objects else { return }
        self.objects = objects
        for change in changes { note(change) }
    }

    /// Handles a change of one of bluetoothd's objects.
    mutating func apply(_ change: ObjectChange) -> [Action] {
        changesWhileListing?.append(change)
        note(change)
        return change.concernsAdapters ? look() : []
    }

    private mutating func note(_ change: ObjectChange) {
        switch change {
        case .added(let path, let interfaces): objects.add(path, interfaces)
        case .removed(let path, let interfaces): objects.remove(path, interfaces)
        case .changed(let path, let interface, let properties): objects.change(path, interface, properties)
        }
    }

    /// Checks if the radio can be used, after a change of bluetoothd's objects.
    mutating func look() -> [Action] {
        feed(.missing(findMissing()))
    }

    private mutating func feed(_ input: AdapterPresence.Input) -> [Action] {
        var actions = presence.handle(input)
        if actions.contains(.forget(.daemon)) { hasAgent = false }
        // A closed bus does not report when it is available again.
        if daemon == .busClosed, presence.state == .lost(.daemon) {
            daemon = .connecting
            actions.append(.perform(.reconnect))
        }
        return actions
    }

    /// Returns the reason that the radio cannot be used, or `nil` if it can.
    ///
    /// If the adapter has another path now, the session updates the path.
    private mutating func findMissing() -> AdapterPresence.Cause? {
        guard daemon == .present else { return .daemon }
        guard let adapter else { return nil }
        guard let (path, state) = objects.adapters.first(where: { $0.value.address == adapter.address }),
            state.isComplete
        else { return .adapter }
        if path != adapter.path.string, let path = try? ObjectPath(path) { self.adapter?.path = path }
        return state.isPowered ? nil : .power
    }

    /// Returns a device of the adapter in use.
    ///
    /// Returns `nil` if bluetoothd has no device at this path, or if the radio cannot use bluetoothd or the
    /// adapter.
    func device(_ path: String) -> BusObjects.Device? {
        isPresent && owns(path) ? objects.devices[path] : nil
    }

    /// Whether the device at a path belongs to the adapter in use.
    func owns(_ device: String) -> Bool {
        adapter.map { device.hasPrefix($0.path.string + "/") } ?? false
    }

    // MARK: Recovery

    /// Whether the recovery with this epoch is still the current one.
    func isRecovering(_ epoch: Int) -> Bool {
        if case .recovering(_, epoch: epoch) = presence.state { true } else { false }
    }

    mutating func recovered(_ epoch: Int) -> [Action] {
        feed(.recovered(epoch: epoch))
    }

    /// Handles the failure of a recovery job.
    mutating func failed(_ job: RecoveryJob) -> [Action] {
        switch job {
        case .registerAll(let epoch): return feed(.recoveryFailed(epoch: epoch))
        case .learnObjects: return look()
        case .reconnect:
            daemon = .busClosed
            return presence.state == .idle ? [] : [.retry(after: .seconds(2))]
        }
    }

    // MARK: The adapter's properties

    /// Returns the steps that prepare the adapter for a device, or `nil` if the adapter was removed.
    mutating func preparation(for device: DeviceIdentity) -> AdapterPreparation? {
        guard let state = adapterState else { return nil }
        if found == nil { found = AdapterRestoration.Found(state) }
        return AdapterPreparation(state, name: device.name)
    }

    /// Returns the steps that restore the adapter, or `nil` if there is nothing to restore.
    func restoration() -> AdapterRestoration? {
        guard let found, hasDaemon, adapterState != nil else { return nil }
        return AdapterRestoration(found, hasAgent: hasAgent)
    }

    /// Records that the radio sets a property, so that the property is restored at the end.
    mutating func willSet(_ property: AdapterProperty) {
        found?.willSet(property)
    }

    /// Records that the agent is being registered.
    ///
    /// Returns `false` if it was registered before, or if bluetoothd has no AgentManager1.
    mutating func willRegisterAgent() -> Bool {
        guard !hasAgent, objects.hasAgentManager else { return false }
        hasAgent = true
        return true
    }

    /// Records that the agent is no longer registered, or could not be registered.
    mutating func agentEnded() {
        hasAgent = false
    }

    // MARK: Version and capabilities

    /// Whether the adapter has extended advertising.
    var hasExtendedAdvertising: Bool { adapterState?.hasExtendedAdvertising ?? false }

    /// The warnings about bluetoothd's version: it is unknown, or it is too old for notification sockets.
    ///
    /// `wantsSockets` is `true` if the options request these sockets.
    func warnings(wantsSockets: Bool) -> [RadioWarning] {
        var warnings: [RadioWarning] = []
        if version == nil {
            warnings.append(
                RadioWarning(
                    "versionUnknown",
                    "bluetoothd's version is unknown; \(BlueZVersion.oldest) is assumed"))
        }
        if wantsSockets, !capabilities.subscriptions.namesSubscribers {
            warnings.append(
                RadioWarning(
                    "socketsNotOffered",
                    "subscribers are not identified, because that needs BlueZ 5.80"))
        }
        return warnings
    }

    /// The version in the adapter's `Modalias` property, or `nil` if bluetoothd's configuration sets another
    /// value.
    var reportedVersion: BlueZVersion? { adapterState.flatMap { BlueZVersion(modalias: $0.modalias) } }

    /// Sets bluetoothd's version; returns whether the radio's capabilities have changed because of it.
    ///
    /// `wantsSockets` is `true` if the options request notification sockets.
    mutating func learned(version: BlueZVersion?, wantsSockets: Bool) -> Bool {
        self.version = version
        // Confirmations come through a subscriber's socket from 5.80 on.
        let offersSockets = wantsSockets && version ?? .oldest >= BlueZVersion(5, 80)
        var new = BlueZCapabilities.capabilities(
            version: version ?? .oldest, keepsInterval: adapterState?.tellsAdvertisingFeatures,
            namesSubscribers: offersSockets, adapter: adapter?.name,
            hasExtendedAdvertising: hasExtendedAdvertising)
        new.address = adapter?.deviceAddress
        // After the start, the radio's own sets are among those that are taken.
        new.advertising.maximumSets = capabilities.advertising.maximumSets ?? adapterState?.freeSets
        defer { capabilities = new }
        return new != capabilities
    }
}
