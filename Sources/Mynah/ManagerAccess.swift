package import MynahCore

/// Synchronous access to a peripheral manager, for code that already runs on its phone's executor.
///
/// A call acts at once, and traps if it comes from another executor.
package struct ManagerAccess: Sendable {
    private let reference: ManagerReference
    private let link: PhoneLink

    init(_ manager: ManagerState, _ link: PhoneLink) {
        reference = ManagerReference(manager)
        self.link = link
    }

    /// The subscribers of an attribute, as far as the radio reports them.
    package struct Subscribers: Sendable {
        /// The subscribers that the radio can identify.
        package var named: [Central.ID]
        /// Whether there are subscribers that the radio cannot identify.
        package var hasUnnamed: Bool
        /// Whether the radio can send a value to a single subscriber.
        package var areAddressable: Bool
    }

    /// Returns the subscribers of an attribute, or `nil` if the manager's app or its phone has ended.
    package func subscribers(of attribute: AttributeKey) -> Subscribers? {
        look { manager, phone in
            Subscribers(
                named: manager.subscriptions.centrals(of: attribute),
                hasUnnamed: manager.subscriptions.hasUnnamed(attribute),
                areAddressable: phone.capabilities?.subscriptions.sendsToOneCentral ?? false)
        }
    }

    /// Sends a value as `PeripheralManager.updateValue` does.
    package func updateValue(
        _ value: [UInt8], for attribute: AttributeKey, onSubscribedCentrals centrals: [Central.ID]?
    ) throws(RadioError) -> Bool {
        try send(value, of: attribute, to: centrals) != .full
    }

    /// Sends a value as `PeripheralManager.updateValue` does, and returns how many centrals it was sent to.
    package func send(
        _ value: [UInt8], of attribute: AttributeKey, to centrals: [Central.ID]?
    ) throws(RadioError) -> SendResult {
        try act { phone, reference throws(RadioError) in
            try phone.updateValue(value, for: attribute, of: reference, to: centrals)
        }
    }

    /// Returns the known details of a central, or `nil` if the phone has stopped.
    package func central(_ id: Central.ID) -> Central? {
        link.run { $0.central(id) }
    }

    /// The longest value, in bytes, that one notification to a central carries.
    ///
    /// Returns `nil` if the radio does not know the ATT_MTU of the central's link.
    package func room(for id: Central.ID) -> Int? {
        look { _, phone in
            let central = phone.central(id)
            let isKnown = central.mtu != nil || phone.capabilities?.knowsMTU == true
            return isKnown ? central.maximumUpdateValueLength : nil
        } ?? nil
    }

    /// The length, in bytes, of the pieces in which a long value is sent to a central.
    ///
    /// If `id` is `nil`, the length is the shortest one of all connected centrals. Returns `nil` if there are
    /// none.
    package func pieceLength(for id: Central.ID?) -> Int? {
        look { _, phone in
            id.map { phone.central($0).maximumUpdateValueLength }
                ?? phone.memory.centrals.all.map(\.maximumUpdateValueLength).min()
        } ?? nil
    }

    /// Waits until the radio has accepted or refused the preserved services of the manager's app.
    package func awaitRestoration() async {
        try? await ask { phone, reference in
            guard let app = phone.memory.manager(reference).flatMap(phone.memory.app(of:)) else {
                return
            }
            await phone.services.awaitRestoration(of: app)
        }
    }

    // MARK: Requests of callbacks, which cannot wait

    /// Queues the publication of services, after earlier requests of callbacks.
    func addSoon(_ services: [ServiceDefinition]) {
        let reference = reference
        request { phone in
            do throws(RadioError) {
                _ = try await phone.add(services, for: reference)
            } catch {
                // If the manager has ended meanwhile, the error is not reported.
                guard phone.memory.manager(reference) != nil else { return }
                phone.warn("servicesRefused", "services could not be published: \(error)")
            }
        }
    }

    /// Queues the start of advertising, after earlier requests of callbacks.
    ///
    /// The request is dropped if a call outside callbacks starts or stops advertising before its turn.
    func startAdvertisingSoon(_ advertisement: Advertisement) {
        let reference = reference
        let calls = look { manager, _ in manager.callbacks.advertisingCalls }
        request { phone in
            guard phone.memory.manager(reference)?.callbacks.advertisingCalls == calls else { return }
            do throws(RadioError) {
                _ = try await phone.advertiser.start(advertisement, for: reference)
            } catch {
                guard phone.memory.manager(reference) != nil else { return }
                phone.warn("advertisingRefused", "the advertising could not be started: \(error)")
            }
        }
    }

    /// Queues the end of advertising, after earlier requests of callbacks.
    ///
    /// The request is dropped if a call outside callbacks starts or stops advertising before its turn.
    func stopAdvertisingSoon() {
        let reference = reference
        let calls = look { manager, _ in manager.callbacks.advertisingCalls }
        request { phone in
            guard phone.memory.manager(reference)?.callbacks.advertisingCalls == calls else { return }
            await phone.advertiser.stop(reference)
        }
    }

    /// Queues a request after the earlier requests of the manager's callbacks.
    private func request(_ request: @escaping CallbackRequests.Request) {
        guard look({ manager, _ in manager.callbacks.add(request) }) == true else { return }
        let reference = reference
        link.enqueue { phone in
            while let next = phone.memory.manager(reference)?.callbacks.next() { await next(phone) }
        }
    }

    /// Starts advertising, and returns what the radio advertises.
    func startAdvertising(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        try await ask { phone, reference throws(RadioError) in
            phone.memory.manager(reference)?.callbacks.advertisingCalls += 1
            return try await phone.advertiser.start(advertisement, for: reference)
        }
    }

    func stopAdvertising() async {
        try? await ask { phone, reference in
            phone.memory.manager(reference)?.callbacks.advertisingCalls += 1
            await phone.advertiser.stop(reference)
        }
    }

    // MARK: The manager itself

    /// Calls `body` with the manager's state, or returns `nil` if its app or its phone has ended.
    func look<Value: Sendable>(_ body: @Sendable (ManagerState, isolated Phone) -> Value) -> Value? {
        let reference = reference
        return link.run { phone in phone.memory.manager(reference).map { body($0, phone) } } ?? nil
    }

    /// Calls the synchronous `body`; throws `invalidState` if the phone has stopped.
    func act<Value: Sendable>(
        _ body: @Sendable (isolated Phone, ManagerReference) throws(RadioError) -> Value
    ) throws(RadioError) -> Value {
        let reference = reference
        let value = try link.run { phone throws(RadioError) in try body(phone, reference) }
        guard let value else { throw Self.phoneIsGone }
        return value
    }

    /// Calls the asynchronous `body`; throws `invalidState` if the phone has stopped.
    func ask<Value: Sendable>(
        _ body: @Sendable (isolated Phone, ManagerReference) async throws(RadioError) -> Value
    ) async throws(RadioError) -> Value {
        guard let phone = link.phone else { throw Self.phoneIsGone }
        return try await body(phone, reference)
    }

    /// Ends the manager because the last reference to it was dropped.
    func release() {
        let reference = reference
        link.enqueue { await $0.release(reference) }
    }

    private static var phoneIsGone: RadioError {
        RadioError(
            .invalidState, "the phone of this manager is gone",
            remedy: "keep a reference to the Phone for as long as its apps run")
    }
}

/// Identifies a peripheral manager within one launch of its app.
struct ManagerReference: Hashable, Sendable {
    let number: UInt64
    let epoch: UInt64

    init(_ manager: ManagerState) {
        number = manager.number
        epoch = manager.epoch
    }
}
