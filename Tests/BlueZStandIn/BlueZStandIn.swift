public import MynahDBus
import MynahTestSupport

/// A bluetoothd on a private bus that holds applications to its contract, and whose centrals are played by
/// the test.
///
/// Its calls have the same order and the same messages as bluetoothd's. Violations that bluetoothd
/// ignores are kept in `violations`. Nothing is sent over the air.
public actor BlueZStandIn {
    /// The executor of the bus.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// How it was started.
    public private(set) var configuration: StandInConfiguration
    /// The application's violations of the contract, in words.
    public internal(set) var violations: [String] = []
    /// The lines that bluetoothd would write to its log.
    public internal(set) var log: [String] = []
    /// Whether the daemon has aborted, as versions before 5.74 do when a live update fails.
    public internal(set) var hasAborted = false

    /// Whether it hangs: methods get no answer, though properties do.
    public var isMute = false
    /// The calls while it hung.
    var unanswered: [MethodCall] = []

    let address: String
    var connection: DBusConnection?
    var adapters: [String: AdapterState] = [:]
    var centrals: [String: CentralState] = [:]
    var agents: [AgentState] = []
    var defaultAgent: String?
    /// Serials of calls that want no answer.
    var silentCalls: Set<UInt32> = []
    var subscriberCounts: [UInt16: Int] = [:]
    var sockets: [NotifySocket] = []
    var owners: [String: DBusSubscription] = [:]
    private var subscriptions: [DBusSubscription] = []
    private var waiters: [(condition: (isolated BlueZStandIn) -> Bool, waiter: Waiter<Void>)] = []

    /// A daemon that is not running yet, for the bus at a D-Bus address.
    public init(on address: String, _ configuration: StandInConfiguration = StandInConfiguration()) {
        self.address = address
        self.configuration = configuration
    }

    /// A running daemon.
    public static func start(
        on address: String, _ configuration: StandInConfiguration = StandInConfiguration()
    ) async throws(DBusError) -> BlueZStandIn {
        let standIn = BlueZStandIn(on: address, configuration)
        try await standIn.start()
        return standIn
    }

    /// Starts the daemon: its name first, then its objects, then power.
    public func start() async throws(DBusError) {
        let connection = try await DBusConnection.connect(to: .address(address))
        self.connection = connection
        connection.onUnexpectedReply = { [weak self] message in
            self?.assumeIsolated { $0.unexpected(message) }
        }
        hasAborted = false
        subscribe(on: connection)
        try await connection.requestName("org.bluez")
        connection.exportObjectManager(at: "/")
        let root = StandInObject(interfaces: { [Interfaces.agentManager] }) { [weak self] call in
            self?.assumeIsolated { $0.handleAgentManager(call) }
        }
        try connection.export(root, at: "/org/bluez")
        try connection.emitInterfacesAdded("/org/bluez", from: "/")
        for adapter in configuration.adapters {
            try appear(adapter)
        }
        changed()
    }

    /// Has the daemon hang from now on.
    public func fallSilent() { isMute = true }

    /// How many have called a method of a daemon that hangs, and wait for the answer.
    public var waitingCallers: Int { unanswered.count { !$0.wantsNoReply } }

    /// Ends the daemon as SIGTERM does: links drop, what is registered is released, objects go, then the
    /// name.
    public func stop() async {
        guard let connection else { return }
        for agent in agents {
            callSilently(agent.owner, agent.path, "org.bluez.Agent1", "Release")
        }
        agents = []
        defaultAgent = nil
        for name in adapters.keys.sorted() {
            vanish(name, releasing: true)
        }
        try? connection.emitInterfacesRemoved("/org/bluez", ["org.bluez.AgentManager1"], from: "/")
        await crash()
    }

    /// Ends the daemon as SIGKILL does: only its name goes.
    public func crash() async {
        guard let connection else { return }
        self.connection = nil
        forgetEverything()
        // The bus may see that a connection is closed only after the next daemon asks for the name.
        try? await connection.releaseName("org.bluez")
        await connection.close()
        changed()
    }

    /// The adapters from the next start on, or another version of the daemon.
    public func reconfigure(_ configuration: StandInConfiguration) {
        self.configuration = configuration
    }

    /// Waits until `condition`, which `awaited` says in words, holds.
    ///
    /// It is evaluated after everything that happens.
    public func wait(
        _ awaited: String, until condition: @escaping @Sendable (isolated BlueZStandIn) -> Bool
    ) async throws {
        if condition(self) { return }
        try await waiting(for: awaited) { waiters.append((condition, $0)) }
    }

    // MARK: - Inside

    /// Wakes those whose condition has come true.
    func changed() {
        let ready = waiters.filter { $0.condition(self) }
        guard !ready.isEmpty else { return }
        waiters.removeAll { $0.condition(self) }
        for waiter in ready {
            waiter.waiter.resume()
        }
    }

    func violate(_ text: String) {
        violations.append(text)
        changed()
    }

    /// Makes a call that wants no answer, and remembers that it wanted none.
    func callSilently(
        _ owner: String, _ path: ObjectPath, _ interface: String, _ member: String
    ) {
        guard let serial = try? connection?.sendWithoutReply(owner, path, interface, member) else { return }
        silentCalls.insert(serial)
    }

    private func forgetEverything() {
        for central in centrals.keys {
            centrals[central]?.isConnected = false
            centrals[central]?.isKnown = false
            centrals[central]?.configurations = [:]
        }
        adapters = [:]
        agents = []
        defaultAgent = nil
        subscriptions = []
        owners = [:]
        subscriberCounts = [:]
        sockets = []
    }

    private func unexpected(_ message: DBusMessage) {
        guard silentCalls.contains(message.replySerial) else {
            log.append("late answer from \(message.sender ?? "")")
            return changed()
        }
        violate("a call that wants no reply was answered")
    }

    private func subscribe(on connection: DBusConnection) {
        subscriptions = [
            connection.subscribe(
                to: DBusMatch(interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged")
            ) { [weak self] message in self?.assumeIsolated { $0.propertiesChanged(message) } },
            connection.subscribe(
                to: DBusMatch(interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved")
            ) { [weak self] message in self?.assumeIsolated { $0.interfacesRemoved(message) } },
        ]
    }

    /// Calls to a unique name fail after the daemon's restart.
    func checkAddressing(_ call: MethodCall) {
        if call.message.destination?.hasPrefix(":") == true {
            violate("\(call.member) was sent to our unique name, not to org.bluez")
        }
    }

    /// Follows a peer, so that what it registered goes with it.
    func follow(_ owner: String) {
        guard owners[owner] == nil, let connection else { return }
        owners[owner] = connection.watchOwner(of: owner) { [weak self] now in
            if now == nil { self?.assumeIsolated { $0.lost(owner) } }
        }
    }

    private func lost(_ owner: String) {
        owners[owner] = nil
        agents.removeAll { $0.owner == owner }
        if defaultAgent == owner { defaultAgent = nil }
        for name in adapters.keys.sorted() {
            for application in adapters[name]?.applications ?? [] where application.owner == owner {
                remove(application, from: name)
            }
            adapters[name]?.applications.removeAll { $0.owner == owner }
            let before = adapters[name]?.advertisements.count
            adapters[name]?.advertisements.removeAll { $0.owner == owner }
            adapters[name]?.unanswered.removeAll { $0.owner == owner }
            if before != adapters[name]?.advertisements.count { tellInstances(of: name) }
        }
        changed()
    }

    private func propertiesChanged(_ message: DBusMessage) {
        guard let sender = message.sender, let path = message.path, message.hasSignature("sa{sv}as") else {
            return
        }
        var reader = message.reader()
        guard let interface = try? reader.readString() else { return }
        switch interface {
        case "org.bluez.GattCharacteristic1":
            characteristicChanged(sender, path, &reader)
        case "org.bluez.LEAdvertisement1":
            guard let changed = try? reader.readValue(), let invalidated = try? reader.readValue() else {
                return
            }
            advertisementChanged(sender, path, changed, invalidated.stringsValue ?? [])
        default:
            break
        }
    }
}
