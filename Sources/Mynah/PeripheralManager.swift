public import MynahCore

/// Plays the peripheral's role for one app or one accessory (after CBPeripheralManager).
///
/// Made by a `Phone`, or by an `App` on it, whose radio's executor it runs on. What happens comes through `events`, through
/// a delegate, or synchronously through the sink it was made with; one of the three.
public actor PeripheralManager {
    /// Services that were added together.
    struct Batch {
        /// What the radio calls them; nil: they are kept, and not on the radio.
        var id: PublishedServices.ID?
        var services: [ServiceDefinition]
        /// Kept ones that the radio has been asked to take.
        var isOnItsWay = false
    }

    let phone: Phone
    let app: App?
    /// The identifier under which the system keeps its state; nil: it keeps none.
    public nonisolated let restoreIdentifier: String?
    let sink: (any PeripheralSink)?
    var streams: PeripheralEventStream?
    var batches: [Batch] = []
    var subscriptions = SubscriptionTable()
    /// Subscribers of a time before this process, who have not come back yet.
    var remembered: [PreservedState.Subscriber] = []
    /// What is written down of it; nil: nothing yet.
    var written: PreservedState?
    /// What its app asked to advertise, on the air or not.
    var wanted: Advertisement?
    /// The UUIDs that went on the air last, and whether advertising was stopped since.
    var settledUUIDs: [BluetoothUUID]?
    var wasStopped = false
    /// The process that made it is gone.
    var isEnded = false
    /// The manager that took over from it.
    var successor: PeripheralManager?
    /// Changes whenever all services are withdrawn without being asked.
    var generation = 0

    /// The Bluetooth state.
    public internal(set) var state: RadioState

    /// What goes on the air for this manager now; of an app, with what is omitted of its own wishes.
    public internal(set) var advertising = AdvertisingReport.silent

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { phone.unownedExecutor }

    init(
        phone: Phone, app: App? = nil, state: RadioState, restoreIdentifier: String? = nil,
        sink: (any PeripheralSink)?
    ) {
        self.phone = phone
        self.app = app
        self.state = state
        self.restoreIdentifier = restoreIdentifier
        self.sink = sink
    }

    /// Whether it is on the air.
    public var isAdvertising: Bool { advertising.isOn }

    /// The services that are published, in the order in which they were added.
    public var services: [ServiceDefinition] { batches.flatMap(\.services) }

    /// Publishes services together; includes stay among them.
    ///
    /// Throws `servicesRefused` where they break a rule of GATT or the radio will not have them, `invalidState` where the
    /// app does not run.
    @discardableResult
    public func add(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        try checkRuns()
        try DefinitionRules.check(services)
        let generation = generation
        return try await phone.publish(services, for: self) { published in
            self.assumeIsolated { $0.take(published, services, since: generation) }
        }
    }

    /// False: all services were withdrawn meanwhile.
    private func take(
        _ published: PublishedServices?, _ services: [ServiceDefinition], since generation: Int
    ) -> Bool {
        guard generation == self.generation, !isEnded else { return false }
        if let published {
            batches.append(Batch(id: published.id, services: services))
            keep()
        }
        return true
    }

    /// Publishes one service.
    @discardableResult
    public func add(_ service: ServiceDefinition) async throws(RadioError) -> PublishedServices {
        try await add([service])
    }

    /// Withdraws a service; those it was published with are published again without it.
    public func remove(_ service: AttributeKey) async throws(RadioError) {
        try checkRuns()
        guard let index = batches.firstIndex(where: { $0.services.contains { $0.key == service } }) else {
            return
        }
        let batch = batches.remove(at: index)
        subscriptions.remove(batch.services)
        keep()
        if let id = batch.id { await phone.withdraw(id, batch.services) }
        let rest = batch.services.filter { $0.key != service && !$0.includes.contains(service) }
        if !rest.isEmpty { try await add(rest) }
    }

    /// Withdraws all services; does nothing where the app does not run.
    public func removeAllServices() async {
        guard (try? checkRuns()) != nil else { return }
        let all = batches
        batches = []
        for batch in all { subscriptions.remove(batch.services) }
        keep()
        for batch in all {
            if let id = batch.id { await phone.withdraw(id, batch.services) }
        }
    }

    /// Starts advertising, or changes what is advertised, and says what really goes on the air.
    ///
    /// An app may set the local name and service UUIDs only; anything else throws `advertisementRefused`.
    @discardableResult
    public func startAdvertising(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport
    {
        try checkRuns()
        guard let app else {
            let report = try await phone.advertise(advertisement, for: self)
            advertising = report
            return report
        }
        if let field = advertisement.fieldBeyondApps {
            throw RadioError(
                .advertisementRefused,
                "the app \(app.description.name) cannot advertise \(field): CoreBluetooth takes a local name and service UUIDs"
            )
        }
        want(advertisement)
        try await phone.startAdvertising(of: self)
        return advertising
    }

    /// Stops advertising; does nothing where the app does not run.
    public func stopAdvertising() async {
        guard (try? checkRuns()) != nil else { return }
        guard app != nil else {
            await phone.stopAdvertising(for: self)
            advertising = .silent
            return
        }
        guard wanted != nil else { return }
        wanted = nil
        wasStopped = true
        keep()
        await phone.stopAdvertising(of: self)
    }

    /// Sends a value to the subscribed centrals, to these alone where they are named.
    ///
    /// Returns false when the queue is full, with `readyToUpdateSubscribers` to follow. Throws `valueTooLong` where the
    /// link is known not to carry it: it is never cut; where other links do it goes to those, with a warning, if the radio
    /// sends to each alone. Throws `invalidState` where the app does not run. Where nobody is subscribed nothing is sent and
    /// it returns true.
    public func updateValue(
        _ value: [UInt8], for attribute: AttributeKey, onSubscribedCentrals centrals: [Central.ID]? = nil
    ) throws(RadioError) -> Bool {
        try checkRuns()
        guard value.count <= GATT.maximumValueLength else {
            throw RadioError(
                .valueTooLong,
                "the value has \(value.count) bytes and no value has more than \(GATT.maximumValueLength)"
            )
        }
        guard subscriptions.isSubscribed(attribute) else { return true }
        let result = try onPhone { phone throws(RadioError) in
            try phone.send(value, of: attribute, as: .asSubscribed, to: centrals)
        }
        return result != .full
    }

    /// Whether anyone is subscribed, as far as the radio tells.
    public func hasSubscribers(of attribute: AttributeKey) -> Bool {
        subscriptions.isSubscribed(attribute)
    }

    /// The centrals that are known to be subscribed; empty where the radio does not name them.
    public func subscribers(of attribute: AttributeKey) -> [Central] {
        let ids = subscriptions.centrals(of: attribute)
        return onPhone { phone in ids.map { phone.central($0) } }
    }

    /// Everything that happens from now on, in order; for one reader, and requests are answered through it.
    ///
    /// It holds up to 4,096 unread events; past that new ones are dropped, requests among them are answered with
    /// `unlikelyError`, and `.missed` says how many. Unread requests get the same when the sequence is dropped.
    public func events() -> AsyncStream<DeliveredEvent> {
        precondition(sink == nil, "this manager's events go to the sink it was made with")
        let stream = PeripheralEventStream()
        streams?.finish()
        streams = stream
        return stream.stream
    }

    func checkRuns() throws(RadioError) {
        guard !isEnded else {
            throw RadioError(.invalidState, "the app of this manager has ended")
        }
        guard let app else { return }
        let outcome: Result<Void, RadioError> = app.assumeIsolated { app in
            do throws(RadioError) { return .success(try app.checkRuns()) } catch { return .failure(error) }
        }
        try outcome.get()
    }

    func onPhone<Result: Sendable, Failure: Error>(
        _ body: @Sendable (isolated Phone) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = phone.assumeIsolated { phone in
            do throws(Failure) { return .success(try body(phone)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

extension Advertisement {
    /// A field that no app can set; nil: there is none.
    var fieldBeyondApps: String? {
        if !solicitedServiceUUIDs.isEmpty { return "solicitedServiceUUIDs" }
        if !manufacturerData.isEmpty { return "manufacturerData" }
        if !serviceData.isEmpty { return "serviceData" }
        if appearance != nil { return "appearance" }
        if includesTxPower { return "txPower" }
        if !raw.isEmpty { return "raw" }
        if interval != nil { return "interval" }
        if exact != nil { return "exact" }
        return isConnectable ? nil : "connectable"
    }
}
