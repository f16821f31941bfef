public import MynahCore
public import MynahLifecycle

/// Owns a radio, and is where peripheral managers are made.
///
/// It routes requests to managers by service and keeps what is known of each central. A lone accessory is a phone with one
/// manager. The phone and its managers run on the radio's executor, so that a request costs no hop between threads.
public actor Phone {
    enum State {
        case stopped
        case running(RadioCapabilities)
    }

    let radio: any PeripheralRadio
    let identity: DeviceIdentity
    let sink: (any PhoneSink)?
    private(set) var stateDirectory: StateDirectory?
    /// Why what is to be kept could not be written down last time.
    var saveProblem: RadioError?
    var state = State.stopped
    /// Accessories' managers, and those of apps, the ones that are only kept among them.
    var managers: [PeripheralManager] = []
    var apps: [App] = []
    var owners: [AttributeKey: PeripheralManager] = [:]
    /// Who published which number for channels.
    var channelOwners: [UInt16: PeripheralManager] = [:]
    var centrals: [Peer.ID: Central] = [:]
    var advertiser: PeripheralManager?
    var air: Air
    /// Attributes whose registration is on its way in or out.
    private var moving: Set<AttributeKey> = []
    private var waitingToMove: [CheckedContinuation<Void, Never>] = []

    /// The Bluetooth state.
    public internal(set) var radioState = RadioState.unknown

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    /// A phone on a radio that has not been started; `sink` hears what concerns all of it.
    ///
    /// `advertising` says how it advertises for its apps, and `stateDirectory` where it keeps their managers' state beyond
    /// this process.
    public init(
        radio: any PeripheralRadio, identity: DeviceIdentity,
        advertising: PhoneAdvertising = PhoneAdvertising(),
        stateDirectory: StateDirectory? = nil, sink: (any PhoneSink)? = nil
    ) {
        self.radio = radio
        self.identity = identity
        self.sink = sink
        self.stateDirectory = stateDirectory
        air = Air(advertising: advertising)
    }

    /// What the radio can do; nil until it has been started.
    public var capabilities: RadioCapabilities? {
        guard case .running(let capabilities) = state else { return nil }
        return capabilities
    }

    /// The centrals that are connected now.
    public var connectedCentrals: [Central] { Array(centrals.values) }

    /// Starts the radio, and publishes what was kept of its apps; `check` may refuse what the radio turns out to be.
    @discardableResult
    public func start(
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) -> RadioCapabilities {
        guard case .stopped = state else {
            throw RadioError(.invalidState, "the phone has been started already")
        }
        let capabilities = try await radio.start(identity, sink: self)
        state = .running(capabilities)
        try check(capabilities)
        for app in apps { await app.republish() }
        airChanged()
        return capabilities
    }

    /// Withdraws everything that is published and advertised, and stops the radio.
    ///
    /// `forgetting`: what is kept of its apps' managers is forgotten too.
    public func stop(forgetting: Bool = false) async {
        // What the radio takes down from here on is none of the apps' doing, and not written down.
        let directory = stateDirectory
        stateDirectory = nil
        await radio.stop()
        state = .stopped
        owners = [:]
        channelOwners = [:]
        advertiser = nil
        if forgetting {
            for identifier in Set(
                apps.flatMap { $0.description.restoreIdentifiers } + managers.compactMap(\.restoreIdentifier))
            {
                directory?.remove(identifier)
            }
        }
        endManagers()
    }

    private func endManagers() {
        for app in apps { app.assumeIsolated { $0.radioStopped() } }
        apps = []
        for manager in managers { manager.assumeIsolated { $0.radioStopped() } }
        managers = []
    }

    /// Makes an app, which runs from its first launch on; `delegate` is its code.
    public func makeApp<C: Clock>(
        _ description: AppDescription, delegate: any AppDelegate, clock: C
    ) -> App where C.Duration == Duration {
        let app = App(description, on: self, delegate: delegate, clock: AppClock(clock))
        apps.append(app)
        let radioState = radioState
        app.assumeIsolated { $0.radioStateChanged(to: radioState) }
        return app
    }

    /// Makes an accessory's manager; `sink` hears its events synchronously, otherwise they come through its event sequence.
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
    /// Publishes services, and withdraws them at once where `accept` will not have them when they are there.
    func publish(
        _ services: [ServiceDefinition], for manager: PeripheralManager,
        accept: @Sendable (PublishedServices?) -> Bool
    ) async throws(RadioError) -> PublishedServices {
        let keys = services.flatMap(\.attributeKeys)
        await waitUntilStill(keys)
        let withdrawn = RadioError(.lost, "the services were withdrawn while they were being published")
        guard accept(nil) else { throw withdrawn }
        moving.formUnion(keys)
        defer { settle(keys) }
        // Owned before they are published: a central may read before the registration has been answered.
        own(services, manager)
        do throws(RadioError) {
            let published = try await radio.publish(services)
            if accept(published) { return published }
            await radio.withdraw(published.id)
            throw withdrawn
        } catch {
            disown(services)
            throw error
        }
    }

    func withdraw(_ id: PublishedServices.ID, _ services: [ServiceDefinition]) async {
        beginWithdrawal(services)
        await endWithdrawal(id, services)
    }

    /// From here on whoever publishes these services again waits for `endWithdrawal`.
    func beginWithdrawal(_ services: [ServiceDefinition]) {
        moving.formUnion(services.flatMap(\.attributeKeys))
        disown(services)
    }

    func endWithdrawal(_ id: PublishedServices.ID, _ services: [ServiceDefinition]) async {
        await radio.withdraw(id)
        settle(services.flatMap(\.attributeKeys))
    }

    func own(_ services: [ServiceDefinition], _ manager: PeripheralManager) {
        for key in services.flatMap(\.attributeKeys) { owners[key] = manager }
    }

    private func disown(_ services: [ServiceDefinition]) {
        for key in services.flatMap(\.attributeKeys) { owners[key] = nil }
    }

    /// Radios know attributes by their keys: one that is still leaving would take what comes anew with it.
    private func waitUntilStill(_ keys: [AttributeKey]) async {
        while !moving.isDisjoint(with: keys) {
            await withCheckedContinuation { waitingToMove.append($0) }
        }
    }

    private func settle(_ keys: [AttributeKey]) {
        moving.subtract(keys)
        let waiting = waitingToMove
        waitingToMove = []
        for continuation in waiting { continuation.resume() }
    }

    func advertise(
        _ advertisement: Advertisement, for manager: PeripheralManager
    ) async throws(RadioError) -> AdvertisingReport {
        guard apps.isEmpty else {
            throw RadioError(.invalidState, "an accessory cannot advertise on the phone of an app")
        }
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

    func onRadio<Result: Sendable, Failure: Error>(
        _ body: @Sendable (isolated any PeripheralRadio) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The executor is the radio's own, so this is a check and no hop.
        let outcome: Swift.Result<Result, Failure> = radio.assumeIsolated { radio in
            do throws(Failure) { return .success(try body(radio)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}
