public import MynahCore

/// Plays the peripheral's role for one app or one accessory (after CBPeripheralManager).
///
/// Made by a `Phone`, whose radio's executor it runs on. What happens comes through `events`, through a delegate, or
/// synchronously through the sink it was made with; one of the three.
public actor PeripheralManager {
    private let phone: Phone
    private let sink: (any PeripheralSink)?
    private var streams: PeripheralEventStream?
    private var batches: [PublishedServices.ID: [ServiceDefinition]] = [:]
    private var subscriptions = SubscriptionTable()

    /// The Bluetooth state.
    public private(set) var state: RadioState

    /// What goes on the air for this manager now.
    public private(set) var advertising = AdvertisingReport.silent

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { phone.unownedExecutor }

    init(phone: Phone, state: RadioState, sink: (any PeripheralSink)?) {
        self.phone = phone
        self.state = state
        self.sink = sink
    }

    /// Whether it is on the air.
    public var isAdvertising: Bool { advertising.isOn }

    /// The services that are published.
    public var services: [ServiceDefinition] { batches.values.flatMap { $0 } }

    /// Publishes services together; includes stay among them.
    ///
    /// Throws `servicesRefused` where they break a rule of GATT or the radio will not have them.
    @discardableResult
    public func add(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        try DefinitionRules.check(services)
        let published = try await phone.publish(services, for: self)
        batches[published.id] = services
        return published
    }

    /// Publishes one service.
    @discardableResult
    public func add(_ service: ServiceDefinition) async throws(RadioError) -> PublishedServices {
        try await add([service])
    }

    /// Withdraws a service; those it was published with are published again without it.
    public func remove(_ service: AttributeKey) async throws(RadioError) {
        guard let (id, services) = batches.first(where: { $0.value.contains { $0.key == service } }) else {
            return
        }
        batches[id] = nil
        subscriptions.remove(services)
        await phone.withdraw(id, services)
        let rest = services.filter { $0.key != service && !$0.includes.contains(service) }
        if !rest.isEmpty { try await add(rest) }
    }

    /// Withdraws all services.
    public func removeAllServices() async {
        let all = batches
        batches = [:]
        for (id, services) in all {
            subscriptions.remove(services)
            await phone.withdraw(id, services)
        }
    }

    /// Starts advertising, or changes what is advertised, and says what really goes on the air.
    @discardableResult
    public func startAdvertising(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport
    {
        let report = try await phone.advertise(advertisement, for: self)
        advertising = report
        return report
    }

    /// Stops advertising.
    public func stopAdvertising() async {
        await phone.stopAdvertising(for: self)
        advertising = .silent
    }

    /// Sends a value to the subscribed centrals, to these alone where they are named.
    ///
    /// Returns false when the queue is full, with `readyToUpdateSubscribers` to follow. Throws `valueTooLong` where the
    /// link is known not to carry it: it is never cut. Where nobody is subscribed nothing is sent and it returns true.
    public func updateValue(
        _ value: [UInt8], for attribute: AttributeKey, onSubscribedCentrals centrals: [Central.ID]? = nil
    ) throws(RadioError) -> Bool {
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

    private func onPhone<Result: Sendable, Failure: Error>(
        _ body: @Sendable (isolated Phone) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = phone.assumeIsolated { phone in
            do throws(Failure) { return .success(try body(phone)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

// What the phone tells.
extension PeripheralManager {
    func take(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .stateChanged(let new):
            state = new
            if new != .poweredOn { subscriptions.removeAll() }
        case .subscribed(let attribute, let central, _):
            subscriptions.subscribe(central?.id, to: attribute)
        case .unsubscribed(let attribute, let central):
            subscriptions.unsubscribe(central?.id, from: attribute)
        case .disconnected(let central):
            subscriptions.forget(central.id)
        case .advertisingChanged(let report):
            advertising = report
        default:
            break
        }
        if let sink { return sink.handle(event) }
        if let streams { return streams.handle(event) }
        return .unheard(event)
    }

    func radioStopped() {
        batches = [:]
        subscriptions.removeAll()
        advertising = .silent
        state = .unknown
        streams?.finish()
        streams = nil
    }
}

extension RadioAnswer {
    /// What a request gets that nobody listens for.
    static func unheard(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .read: .answer(.failure(.unlikelyError))
        case .write: .answer(.failure(.unlikelyError))
        default: .none
        }
    }
}
