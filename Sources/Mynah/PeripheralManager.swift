public import MynahCore

/// Publishes services and advertises, for an app or an accessory (after CBPeripheralManager).
///
/// A `Phone` or an `App` makes one. It runs on the radio's executor. Its events go to `events()`, or
/// synchronously to a delegate, if the manager is made with one.
///
/// The manager of an accessory keeps its phone alive; that of an app does not. When the last reference to a
/// manager is dropped, its services and PSMs are withdrawn and its advertising stops. Preserved state stays.
public actor PeripheralManager {
    /// Access to the manager for code that already runs on its executor.
    package nonisolated let access: ManagerAccess
    private let radio: any PeripheralRadio
    /// The phone that this manager keeps alive, or `nil` for an app's manager.
    private let kept: Phone?

    /// The identifier under which the system preserves the manager's state, or `nil` if it is not preserved.
    public nonisolated let restoreIdentifier: String?

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    /// Makes the `PeripheralManager` for a phone's manager; it keeps the phone `kept` alive.
    init(
        _ access: ManagerAccess, restoreIdentifier: String?, _ radio: any PeripheralRadio,
        keeping kept: Phone?
    ) {
        self.access = access
        self.radio = radio
        self.kept = kept
        self.restoreIdentifier = restoreIdentifier
    }

    deinit {
        access.release()
    }

    /// The Bluetooth state; `unknown` after the app or the phone has ended.
    public var state: RadioState { access.look { manager, _ in manager.state } ?? .unknown }

    /// The user's permission for the app to use Bluetooth; the manager of an accessory needs no permission.
    public var authorization: BluetoothAuthorization {
        access.look { manager, _ in manager.app?.authorization ?? .allowedAlways } ?? .notDetermined
    }

    /// The data advertised for this manager now, and the omitted parts of its request.
    public var advertising: AdvertisingReport { access.look { manager, _ in manager.advertising } ?? .silent }

    /// Whether the radio advertises for this manager now.
    public var isAdvertising: Bool { advertising.isOn }

    /// The services that are published, in the order in which they were added.
    public var services: [ServiceDefinition] { access.look { manager, _ in manager.services } ?? [] }

    // MARK: Services

    /// Publishes services together; a service can include only services of the same call.
    ///
    /// Throws `servicesRefused` if they break a rule of GATT, are published already, or the radio refuses
    /// them. If iOS keeps one of an app's services for itself, such as Battery, the error's
    /// `coreBluetoothCode` is 8, uuidNotAllowed. Throws `invalidState` if the app does not run.
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

    /// Queues the publication of services, for a callback, which cannot wait.
    ///
    /// Requests of callbacks are carried out one after the other, in their order. The phone's `PhoneSink`
    /// gets an error as the warning `servicesRefused`.
    @available(*, noasync, message: "call the overload that waits, with await, in an async closure")
    public func add(_ services: [ServiceDefinition]) { access.addSoon(services) }

    /// Queues the publication of one service, for a callback, which cannot wait.
    @available(*, noasync, message: "call the overload that waits, with await, in an async closure")
    public func add(_ service: ServiceDefinition) { add([service]) }

    /// Withdraws a service.
    ///
    /// Services that were added by the same call are published again without it, except for those that
    /// include it. Does nothing if the service is not published.
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

    /// Starts advertising, or replaces the advertisement, and returns what the radio advertises.
    ///
    /// An app can advertise a local name and service UUIDs only: throws `advertisementRefused` for anything
    /// else, or if the radio refuses. Throws `invalidState` if the app does not run.
    @discardableResult
    public func startAdvertising(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport
    {
        try await access.startAdvertising(advertisement)
    }

    /// Queues the start of advertising, for a callback, which cannot wait.
    ///
    /// Advertising starts when the services that callbacks added before are published, unless a call with
    /// `await` starts or stops advertising first. `.advertisingChanged` follows, or the phone's `PhoneSink`
    /// gets an error as the warning `advertisingRefused`.
    @available(*, noasync, message: "call the overload that waits, with await, in an async closure")
    public func startAdvertising(_ advertisement: Advertisement) {
        access.startAdvertisingSoon(advertisement)
    }

    /// Stops advertising; does nothing if the app does not run.
    public func stopAdvertising() async {
        await access.stopAdvertising()
    }

    /// Queues the end of advertising, for a callback, which cannot wait.
    @available(*, noasync, message: "call the overload that waits, with await, in an async closure")
    public func stopAdvertising() { access.stopAdvertisingSoon() }

    // MARK: Values

    /// Sends a value to all subscribed centrals, or to the subscribed ones among `centrals`.
    ///
    /// Returns `false` if the queue of one of them is full: then nothing is sent, and
    /// `.readyToUpdateSubscribers` follows. Returns `true` and sends nothing if no central is subscribed.
    ///
    /// A value is cut to what each link carries, with a warning (Core Specification, Vol 3, Part F, 3.4.7.1).
    /// Throws `invalidState` if the app does not run.
    public func updateValue(
        _ value: [UInt8], for attribute: AttributeKey, onSubscribedCentrals centrals: [Central.ID]? = nil
    ) throws(RadioError) -> Bool {
        try access.updateValue(value, for: attribute, onSubscribedCentrals: centrals)
    }

    /// Whether a central is subscribed, as far as the radio reports it.
    public func hasSubscribers(of attribute: AttributeKey) -> Bool {
        access.look { manager, _ in manager.subscriptions.isSubscribed(attribute) } ?? false
    }

    /// Returns the centrals that are subscribed; none if the radio does not report which they are.
    public func subscribers(of attribute: AttributeKey) -> [Central] {
        access.look { manager, phone in
            manager.subscriptions.centrals(of: attribute).map { phone.central($0) }
        } ?? []
    }

    /// Returns a sequence of all events from now on, in order.
    ///
    /// Each call makes another sequence, and each sequence gets every event. The first answer to a request
    /// counts. A request that every reader drops unanswered, or that has no reader, fails with
    /// `unlikelyError`.
    ///
    /// A sequence holds up to 4,096 unread events. Further events are dropped, and `.missed` reports how
    /// many. The sequence ends with the app or the phone. Traps if the manager was made with a delegate.
    public func events() -> AsyncStream<DeliveredEvent> {
        access.look { manager, _ in manager.addReader() } ?? AsyncStream { $0.finish() }
    }

    // MARK: Channels and links

    /// Publishes a PSM to which centrals can open L2CAP channels, and returns it.
    ///
    /// `.channelOpened` follows for each channel. A central cannot discover a PSM: publish it in a
    /// characteristic of the type `GATT.l2capPSM`. The PSM is unpublished when the app ends, even if the
    /// manager is restored, and when the Bluetooth state goes below `poweredOff`. Throws `unsupported` if the
    /// radio has no L2CAP channels, and `invalidState` if the app does not run.
    public func publishL2CAPChannel(withEncryption isEncrypted: Bool) throws(RadioError) -> UInt16 {
        try access.act { phone, reference throws(RadioError) in
            try phone.publishL2CAPChannel(isEncrypted: isEncrypted, for: reference)
        }
    }

    /// Unpublishes a PSM, and closes the channels that were opened to it.
    ///
    /// Does nothing if the app does not run or the PSM is not this manager's.
    public func unpublishL2CAPChannel(_ psm: UInt16) {
        try? access.act { phone, reference in phone.unpublishL2CAPChannel(psm, of: reference) }
    }

    /// Requests connection parameters for a low, medium or high latency; returns `false` if the central
    /// refuses.
    ///
    /// Throws `unsupported` if the radio cannot request parameters, and `invalidState` if the app does not
    /// run.
    @discardableResult
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for central: Central.ID
    ) async throws(RadioError) -> Bool {
        try await requestConnectionParameters(ConnectionParameterRange(latency), of: central)
    }

    /// Requests connection parameters from a central; returns `false` if it refuses.
    ///
    /// Throws `unsupported` if the radio cannot request parameters, and `invalidState` if the app does not
    /// run.
    @discardableResult
    package func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Central.ID
    ) async throws(RadioError) -> Bool {
        try await access.ask { phone, reference throws(RadioError) in
            try await phone.requestConnectionParameters(wanted, of: central, for: reference)
        }
    }
}
