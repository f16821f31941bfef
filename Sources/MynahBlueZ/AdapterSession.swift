import MynahCore
import MynahDBus

/// The radio's view of bluetoothd and of its adapter: whether they are there, their properties, and what to
/// do when they change.
///
/// A part without I/O: it takes events, and returns actions that the radio carries out.
struct AdapterSession {
    typealias Action = AdapterPresence.Action

    /// Whether bluetoothd can be called.
    private enum Daemon: Hashable {
        /// The connection to the bus is closed.
        case busClosed
        /// A new connection to the bus is being made.
        case connecting
        /// bluetoothd's name on the bus has no owner.
        case absent
        case present
        /// bluetoothd released the agent, as it does before it ends.
        case leaving
    }

    /// The adapter in use.
    ///
    /// After it was replugged it has the same address, and maybe another path.
    struct Adapter: Hashable {
        var path: ObjectPath
        let address: String

        /// `hci0`.
        var name: String { path.string.split(separator: "/").last.map(String.init) ?? "" }
        /// The address as a device has it.
        var deviceAddress: DeviceAddress? { DeviceAddress(address, kind: .public) }
    }

    /// bluetoothd's objects, as it reported them.
    private(set) var objects = BusObjects()
    /// The adapter in use, or `nil` if none is chosen yet.
    private(set) var adapter: Adapter?
    /// bluetoothd's version, or `nil` if it is not known.
    private(set) var version: BlueZVersion?
    private(set) var capabilities = RadioCapabilities(name: "BlueZ")
    /// Whether our agent is registered, or is being registered.
    private(set) var hasAgent = false
    private var daemon = Daemon.connecting
    private var presence = AdapterPresence()
    private var found: AdapterRestoration.Found?
    /// The changes since bluetoothd was asked for its objects, or `nil` if no such call is under way.
    private var changesWhileListing: [ObjectChange]?

    /// Whether the radio works.
    var isPresent: Bool { presence.state == .present }
    /// Whether bluetoothd has its name on the bus.
    var hasDaemon: Bool { daemon == .present || daemon == .leaving }
    /// The adapter's properties, or `nil` if it is gone.
    var adapterState: BusObjects.Adapter? { adapter.flatMap { objects.adapters[$0.path.string] } }

    // MARK: Start and stop

    /// The radio has started.
    mutating func start() -> [Action] {
        _ = look()
        return feed(.begin)
    }

    /// The radio stops.
    mutating func end() {
        _ = presence.handle(.end)
    }

    /// Chooses the adapter of this name or address, or the first that can be a peripheral if `nil`.
    mutating func select(_ wanted: String?) throws(RadioError) {
        let (path, address) = try objects.selectAdapter(wanted)
        adapter = Adapter(path: path, address: address)
    }

    // MARK: The bus and bluetoothd

    /// A connection to the bus was made.
    mutating func connected() {
        daemon = .absent
    }

    /// The connection to the bus is closed.
    mutating func busEnded() -> [Action] {
        daemon = .busClosed
        objects.removeAll()
        return look()
    }

    /// bluetoothd's name has another owner, or none.
    mutating func ownerChanged(to owner: String?) -> [Action] {
        let hadDaemon = hasDaemon
        daemon = owner == nil ? .absent : .present
        // Changes that the last owner reported do not apply to the objects of this one.
        if changesWhileListing != nil { changesWhileListing = [] }
        guard presence.state != .idle else { return [] }
        guard owner != nil else {
            objects.removeAll()
            return look()
        }
        // Another bluetoothd may take the name without a gap. Its objects are listed, because signals that it
        // sent before the match rule was active are lost.
        return (hadDaemon ? feed(.missing(.daemon)) : []) + [.perform(.learnObjects)]
    }

    /// bluetoothd has released the agent.
    ///
    /// bluetoothd removes its objects next, one by one, which would look as if the adapter was pulled out.
    mutating func agentReleased() -> [Action] {
        hasAgent = false
        guard isPresent, daemon == .present else { return [] }
        daemon = .leaving
        return look() + [.retry(after: .seconds(3))]
    }

    /// Looks again, as `retry` asked for.
    mutating func retry() -> [Action] {
        // It did not end after all.
        if daemon == .leaving { daemon = .present }
        return look()
    }

    // MARK: Objects

    /// bluetoothd is asked for its objects.
    mutating func willLearn() {
        changesWhileListing = []
    }

    /// bluetoothd has listed its objects, or `nil` if it has not.
    ///
    /// A signal that followed the list may have been handled before it.
    mutating func learned(_ objects: BusObjects?) {
        let changes = changesWhileListing ?? []
        changesWhileListing = nil
        guard let objects else { return }
        self.objects = objects
        for change in changes { note(change) }
    }

    /// An object changed.
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

    /// Compares the objects of bluetoothd with the needs of the radio.
    mutating func look() -> [Action] {
        feed(.missing(findMissing()))
    }

    private mutating func feed(_ input: AdapterPresence.Input) -> [Action] {
        var actions = presence.handle(input)
        if actions.contains(.forget(.daemon)) { hasAgent = false }
        // A closed bus does not report that it is back.
        if daemon == .busClosed, presence.state == .lost(.daemon) {
            daemon = .connecting
            actions.append(.perform(.reconnect))
        }
        return actions
    }

    /// Returns the missing part, and follows the adapter to another path.
    private mutating func findMissing() -> AdapterPresence.Cause? {
        guard daemon == .present else { return .daemon }
        guard let adapter else { return nil }
        guard let (path, state) = objects.adapters.first(where: { $0.value.address == adapter.address }),
            state.isComplete
        else { return .adapter }
        if path != adapter.path.string, let path = try? ObjectPath(path) { self.adapter?.path = path }
        return state.isPowered ? nil : .power
    }

    /// Returns a device of the adapter in use, or `nil` if there is none or the radio does not work.
    func device(_ path: String) -> BusObjects.Device? {
        isPresent && owns(path) ? objects.devices[path] : nil
    }

    /// Whether a device belongs to the adapter in use.
    func owns(_ device: String) -> Bool {
        adapter.map { device.hasPrefix($0.path.string + "/") } ?? false
    }

    // MARK: Recovery

    /// Whether a recovery is still wanted.
    func isRecovering(_ epoch: Int) -> Bool {
        if case .recovering(_, epoch: epoch) = presence.state { true } else { false }
    }

    mutating func recovered(_ epoch: Int) -> [Action] {
        feed(.recovered(epoch: epoch))
    }

    /// A job failed.
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

    /// Returns the way to an adapter that is ready for a device, or `nil` if the adapter is gone.
    mutating func preparation(for device: DeviceIdentity) -> AdapterPreparation? {
        guard let state = adapterState else { return nil }
        if found == nil { found = AdapterRestoration.Found(state) }
        return AdapterPreparation(state, name: device.name)
    }

    /// Returns the way back to the adapter as it was found, or `nil` if there is nothing to restore.
    func restoration() -> AdapterRestoration? {
        guard let found, hasDaemon, adapterState != nil else { return nil }
        return AdapterRestoration(found, hasAgent: hasAgent)
    }

    /// The radio sets a property, which it restores at the end.
    mutating func willSet(_ property: AdapterProperty) {
        found?.willSet(property)
    }

    /// Returns whether the agent has to be registered.
    mutating func willRegisterAgent() -> Bool {
        guard !hasAgent, objects.hasAgentManager else { return false }
        hasAgent = true
        return true
    }

    /// The agent was unregistered, or could not be registered.
    mutating func agentEnded() {
        hasAgent = false
    }

    // MARK: Version and capabilities

    /// The warnings about assumptions, and about requested features that are missing.
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

    /// The version that the adapter's identifier contains, unless bluetoothd's configuration sets another
    /// identifier.
    var reportedVersion: BlueZVersion? { adapterState.flatMap { BlueZVersion(modalias: $0.modalias) } }

    /// Returns whether the capabilities changed with the version.
    mutating func learned(version: BlueZVersion?, wantsSockets: Bool) -> Bool {
        self.version = version
        // Confirmations come through a subscriber's socket from 5.80 on.
        let offersSockets = wantsSockets && version ?? .oldest >= BlueZVersion(5, 80)
        var new = BlueZCapabilities.capabilities(
            version: version ?? .oldest, keepsInterval: adapterState?.tellsAdvertisingFeatures,
            namesSubscribers: offersSockets, adapter: adapter?.name)
        new.address = adapter?.deviceAddress
        defer { capabilities = new }
        return new != capabilities
    }
}
