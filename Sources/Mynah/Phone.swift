public import MynahCore

/// Owns a radio, and is where peripheral managers are made.
///
/// It routes requests to managers by service and keeps what is known of each central. A lone accessory is a phone with one
/// manager. The phone and its managers run on the radio's executor, so that a request costs no hop between threads.
public actor Phone {
    enum State {
        case stopped
        case running(RadioCapabilities)
    }

    private let radio: any PeripheralRadio
    private let identity: DeviceIdentity
    private let sink: (any PhoneSink)?
    private var state = State.stopped
    private var managers: [PeripheralManager] = []
    private var owners: [AttributeKey: PeripheralManager] = [:]
    private var centrals: [Peer.ID: Central] = [:]
    private var advertiser: PeripheralManager?

    /// The Bluetooth state.
    public private(set) var radioState = RadioState.unknown

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    /// A phone on a radio that has not been started; `sink` hears what concerns all of it.
    public init(radio: any PeripheralRadio, identity: DeviceIdentity, sink: (any PhoneSink)? = nil) {
        self.radio = radio
        self.identity = identity
        self.sink = sink
    }

    /// What the radio can do; nil until it has been started.
    public var capabilities: RadioCapabilities? {
        guard case .running(let capabilities) = state else { return nil }
        return capabilities
    }

    /// The centrals that are connected now.
    public var connectedCentrals: [Central] { Array(centrals.values) }

    /// Starts the radio.
    @discardableResult
    public func start() async throws(RadioError) -> RadioCapabilities {
        guard case .stopped = state else {
            throw RadioError(.invalidState, "the phone has been started already")
        }
        let capabilities = try await radio.start(identity, sink: self)
        state = .running(capabilities)
        return capabilities
    }

    /// Withdraws everything that is published and advertised, and stops the radio.
    public func stop() async {
        await radio.stop()
        state = .stopped
        owners = [:]
        advertiser = nil
        endManagers()
    }

    private func endManagers() {
        for manager in managers { manager.assumeIsolated { $0.radioStopped() } }
        managers = []
    }

    /// Makes a manager; `sink` hears its events synchronously, otherwise they come through its event sequence.
    public func makePeripheralManager(sink: (any PeripheralSink)? = nil) -> PeripheralManager {
        let manager = PeripheralManager(phone: self, state: radioState, sink: sink)
        managers.append(manager)
        return manager
    }

    /// Ends a central's link.
    public func disconnect(_ central: Peer.ID) async {
        await radio.disconnect(central)
    }
}

// What managers ask of their phone.
extension Phone {
    func publish(
        _ services: [ServiceDefinition], for manager: PeripheralManager
    ) async throws(RadioError) -> PublishedServices {
        // Owned before they are published: a central may read before the registration has been answered.
        let keys = services.flatMap(\.attributeKeys)
        for key in keys { owners[key] = manager }
        do {
            return try await radio.publish(services)
        } catch {
            for key in keys { owners[key] = nil }
            throw error
        }
    }

    func withdraw(_ id: PublishedServices.ID, _ services: [ServiceDefinition]) async {
        await radio.withdraw(id)
        for key in services.flatMap(\.attributeKeys) { owners[key] = nil }
    }

    func advertise(
        _ advertisement: Advertisement, for manager: PeripheralManager
    ) async throws(RadioError) -> AdvertisingReport {
        if let advertiser, advertiser !== manager {
            throw RadioError(.advertisementRefused, "another manager of this phone advertises already")
        }
        advertiser = manager
        do {
            let report = try await radio.advertise(advertisement)
            tell(.advertisingChanged(report))
            return report
        } catch {
            if advertiser === manager { advertiser = nil }
            throw error
        }
    }

    func stopAdvertising(for manager: PeripheralManager) async {
        guard advertiser === manager else { return }
        advertiser = nil
        await radio.stopAdvertising()
        tell(.advertisingChanged(.silent))
    }

    func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        try onRadio { radio throws(RadioError) in
            try radio.send(value, of: attribute, as: delivery, to: centrals)
        }
    }

    func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        onRadio { radio in radio.setValue(value, of: attribute) }
    }

    func central(_ id: Peer.ID) -> Central {
        centrals[id] ?? Central(Peer(id: id))
    }

    private func onRadio<Result: Sendable, Failure: Error>(
        _ body: @Sendable (isolated any PeripheralRadio) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The executor is the radio's own, so this is a check and no hop.
        let outcome: Swift.Result<Result, Failure> = radio.assumeIsolated { radio in
            do throws(Failure) { return .success(try body(radio)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

// What the radio tells.
extension Phone: RadioSink {
    /// Routes an event to the manager whose attribute it names, or to all.
    public nonisolated func handle(_ event: RadioEvent) -> RadioAnswer {
        assumeIsolated { $0.route(event) }
    }

    private func route(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read(let request):
            guard let owner = owners[request.attribute] else { return .answer(.failure(.unlikelyError)) }
            return tell(owner, .read(request, central(request.central)))
        case .answeredRead(let request, let value):
            guard let owner = owners[request.attribute] else { return .none }
            return tell(owner, .answeredRead(request, central(request.central), value))
        case .write(let request):
            // The parts of one write belong to one manager: an executed write that spans two is refused.
            guard let first = request.parts.first, let owner = owners[first.attribute],
                request.parts.allSatisfy({ owners[$0.attribute] === owner })
            else { return .answer(.failure(.unlikelyError)) }
            return tell(owner, .write(request, central(request.central)))
        case .subscribed(let attribute, let id, let delivery):
            guard let owner = owners[attribute] else { return .none }
            return tell(owner, .subscribed(attribute, id.map(central), delivery))
        case .unsubscribed(let attribute, let id):
            guard let owner = owners[attribute] else { return .none }
            return tell(owner, .unsubscribed(attribute, id.map(central)))
        case .confirmed(let attribute, let id):
            guard let owner = owners[attribute] else { return .none }
            return tell(owner, .confirmed(attribute, id.map(central)))
        case .readyToSend:
            tellAll(.readyToUpdateSubscribers)
        case .stateChanged(let new):
            radioState = new
            tell(.stateChanged(new))
            tellAll(.stateChanged(new))
        case .capabilitiesChanged(let new):
            if case .running = state { state = .running(new) }
            tell(.capabilitiesChanged(new))
        case .lost(let error):
            tell(.lost(error))
        case .recovered:
            tell(.recovered)
        case .advertisingChanged(let report):
            tell(.advertisingChanged(report))
            if let advertiser { _ = tell(advertiser, .advertisingChanged(report)) }
        case .warning(let warning):
            tell(.warning(warning))
        case .connected(let peer):
            let central = Central(peer, mtu: centrals[peer.id]?.mtu)
            centrals[peer.id] = central
            tell(.connected(central))
            tellAll(.connected(central))
        case .disconnected(let id):
            guard let central = centrals.removeValue(forKey: id) else { return .none }
            tell(.disconnected(central))
            tellAll(.disconnected(central))
        case .peerChanged(let peer):
            guard let known = centrals[peer.id] else { return .none }
            let central = Central(peer, mtu: known.mtu)
            centrals[peer.id] = central
            tell(.centralChanged(central))
        case .mtuChanged(let id, let mtu):
            var central = central(id)
            central.mtu = mtu
            centrals[id] = central
            tell(.mtuChanged(central))
            tellAll(.mtuChanged(central))
        case .paired(let id):
            var central = central(id)
            central.isPaired = true
            if centrals[id] != nil { centrals[id] = central }
            tell(.paired(central))
        case .pairing(let id, let step):
            return sink?.handle(.pairing(central(id), step)) ?? .none
        }
        return .none
    }

    private func tell(_ event: PhoneEvent) {
        _ = sink?.handle(event)
    }

    private func tell(_ manager: PeripheralManager, _ event: PeripheralEvent) -> RadioAnswer {
        manager.assumeIsolated { $0.take(event) }
    }

    private func tellAll(_ event: PeripheralEvent) {
        for manager in managers { _ = tell(manager, event) }
    }
}

extension ServiceDefinition {
    var attributeKeys: [AttributeKey] {
        [key] + characteristics.flatMap { [$0.key] + $0.descriptors.map(\.key) }
    }
}
