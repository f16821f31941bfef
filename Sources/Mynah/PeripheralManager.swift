public import MynahCore

/// Plays the peripheral's role for one app or one accessory (after CBPeripheralManager).
///
/// A handle of a `Phone`, or of an `App` on it, whose radio's executor it runs on. What happens comes through
/// `events()`, through a delegate, or synchronously through the sink it was made with; one of the three.
///
/// An accessory's manager keeps its phone alive, an app's does not. When the last reference to a manager
/// goes, its services are withdrawn and its advertising stops; preserved state stays.
public actor PeripheralManager {
    /// The manager for code that runs on its executor already.
    package nonisolated let access: ManagerAccess
    private let radio: any PeripheralRadio
    /// The phone that is kept alive, or `nil` for an app's manager.
    private let kept: Phone?

    /// The identifier that the system preserves its state under, or `nil` if it preserves none.
    public nonisolated let restoreIdentifier: String?

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    init(_ manager: ManagerState, on phone: isolated Phone) {
        access = ManagerAccess(manager, on: phone)
        radio = phone.radio
        kept = manager.app == nil ? phone : nil
        restoreIdentifier = manager.restoreIdentifier
        manager.attach(self)
    }

    deinit {
        access.release()
    }

    /// The Bluetooth state; `unknown` after its app or its phone ended.
    public var state: RadioState { access.look { manager, _ in manager.state } ?? .unknown }

    /// What goes on the air for this manager now; of an app, with what is omitted of its own requests.
    public var advertising: AdvertisingReport { access.look { manager, _ in manager.advertising } ?? .silent }

    /// Whether it is on the air.
    public var isAdvertising: Bool { advertising.isOn }

    /// The services that are published, in the order in which they were added.
    public var services: [ServiceDefinition] { access.look { manager, _ in manager.services } ?? [] }

    // MARK: Services

    /// Publishes services together; a service includes only services that are added with it.
    ///
    /// Throws `servicesRefused` if they break a rule of GATT, are published already, or are refused by the
    /// radio, and `invalidState` if the app does not run.
    @discardableResult
    public func add(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        try await access.ask { phone, reference throws(RadioError) in
            try await phone.add(services, for: reference)
        }
    }

    /// Publishes one service.
    @discardableResult
    public func add(_ service: ServiceDefinition) async throws(RadioError) -> PublishedServices {
        try await add([service])
    }

    /// Withdraws a service; those that it was published with are published again without it.
    public func remove(_ service: AttributeKey) async throws(RadioError) {
        try await access.ask { phone, reference throws(RadioError) in
            try await phone.remove(service, of: reference)
        }
    }

    /// Withdraws all services; does nothing if the app does not run.
    public func removeAllServices() async {
        try? await access.ask { phone, reference in await phone.removeAllServices(of: reference) }
    }

    // MARK: Advertising

    /// Starts advertising, or changes what is advertised, and returns what really goes on the air.
    ///
    /// An app may set the local name and service UUIDs only; anything else throws `advertisementRefused`.
    @discardableResult
    public func startAdvertising(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport
    {
        try await access.ask { phone, reference throws(RadioError) in
            try await phone.advertiser.start(advertisement, for: reference, on: phone)
        }
    }

    /// Stops advertising; does nothing if the app does not run.
    public func stopAdvertising() async {
        try? await access.ask { phone, reference in await phone.advertiser.stop(reference, on: phone) }
    }

    // MARK: Values

    /// Sends a value to the subscribed centrals, or to `centrals` alone.
    ///
    /// Returns `false` if the queue of one of them is full; then nothing is sent, and
    /// `readyToUpdateSubscribers` follows. Returns `true` and sends nothing if nobody is subscribed. Throws
    /// `valueTooLong` if no link carries the value, which is never cut; if some links do, it goes to those
    /// with a warning, provided that the radio sends to each alone. Throws `invalidState` if the app does not
    /// run.
    public func updateValue(
        _ value: [UInt8], for attribute: AttributeKey, onSubscribedCentrals centrals: [Central.ID]? = nil
    ) throws(RadioError) -> Bool {
        try access.updateValue(value, for: attribute, onSubscribedCentrals: centrals)
    }

    /// Whether anyone is subscribed, as far as the radio reports it.
    public func hasSubscribers(of attribute: AttributeKey) -> Bool {
        access.look { manager, _ in manager.subscriptions.isSubscribed(attribute) } ?? false
    }

    /// The centrals that are known to be subscribed; empty if the radio does not name them.
    public func subscribers(of attribute: AttributeKey) -> [Central] {
        access.look { manager, phone in
            manager.subscriptions.centrals(of: attribute).map { phone.central($0) }
        } ?? []
    }

    /// Returns every event from now on, in order.
    ///
    /// Requests are answered through it. Each call makes a sequence for one more reader, which gets every
    /// event; the first answer to a request counts. A sequence holds up to 4,096 unread events. Past that new
    /// ones are dropped, and `.missed` says how many. A request that every reader drops unanswered, or that
    /// has no reader, is answered with `unlikelyError`. The sequence ends with its app or its phone.
    public func events() -> AsyncStream<DeliveredEvent> {
        access.look { manager, _ in manager.addReader() } ?? AsyncStream { $0.finish() }
    }

    // MARK: Channels and links

    /// Publishes a PSM under which centrals open L2CAP channels, and returns it; `.channelOpened` brings
    /// each.
    ///
    /// Centrals do not find PSMs by themselves: a characteristic of the type `GATT.l2capPSM` may hold it. It
    /// is unpublished when the app ends, whether or not the manager is restored, and when its services are
    /// cleared because Bluetooth went below powered off. Throws `unsupported` if the radio has no channels,
    /// `invalidState` if the app does not run.
    public func publishL2CAPChannel(withEncryption isEncrypted: Bool) throws(RadioError) -> UInt16 {
        try access.act { phone, reference throws(RadioError) in
            try phone.publishL2CAPChannel(isEncrypted: isEncrypted, for: reference)
        }
    }

    /// Takes a PSM back, and closes the channels that were opened to it; does nothing if the app does not
    /// run.
    public func unpublishL2CAPChannel(_ psm: UInt16) {
        try? access.act { phone, reference in phone.unpublishL2CAPChannel(psm, of: reference) }
    }

    /// Asks a central for a shorter or longer connection interval; returns `false` if it refuses.
    ///
    /// Throws `unsupported` if the radio cannot ask, `invalidState` if the app does not run.
    @discardableResult
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for central: Central.ID
    ) async throws(RadioError) -> Bool {
        try await access.ask { phone, reference throws(RadioError) in
            try await phone.setDesiredConnectionLatency(latency, for: central, of: reference)
        }
    }
}
