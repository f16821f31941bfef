public import MynahCore
package import MynahFaults

extension BlueZRadio: PeripheralRadio {
    /// Looks for bluetoothd and the adapter, turns the adapter on and registers the pairing agent.
    public func start(
        _ identity: DeviceIdentity, sink: any RadioSink
    ) async throws(RadioError) -> RadioCapabilities {
        try await begin(identity, sink)
    }

    /// Withdraws services and advertisements, and restores the adapter's properties.
    public func stop() async { await end() }

    /// Registers services as one GATT application.
    @discardableResult
    public func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        try await add(services)
    }

    /// Withdraws a GATT application.
    public func withdraw(_ services: PublishedServices.ID) async { await remove(services) }

    /// Sets the value with which the radio answers reads; if it is `nil`, the `RadioSink` answers them.
    public func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        services.setValue(value, of: attribute)
    }

    /// Registers the advertisement, or changes the registered one in a single signal.
    @discardableResult
    public func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        try await show(advertisement)
    }

    /// Unregisters the advertisement.
    public func stopAdvertising() async {
        await advertiser.stop()
        meter.note(.silent, at: RadioClock.now)
    }

    /// An estimate of the airtime that the radio has used.
    public var used: RadioUse? { meter.use(at: RadioClock.now) }

    /// Sends a value to bluetoothd, which sends it to subscribers as a notification or an indication.
    ///
    /// If `centrals` is `nil`, every subscriber receives the value. Throws `unsupported` if bluetoothd cannot
    /// send it to the given centrals only.
    public func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        try notify(value, of: attribute, to: centrals)
    }

    package func setRequestSink(_ sink: (any RadioSink)?) { stage.setRequestSink(sink) }

    package var bondedAddresses: [DeviceAddress] { centrals.ownBonds.compactMap(adapter.address) }

    package func forgetBond(with address: DeviceAddress) async throws(RadioError) -> Bool {
        let ids = centrals.ids { adapter.address(ofDevice: $0) == address }
        pending.linksEnd(of: ids)
        defer { pending.linksEnded(of: ids) }
        return try await adapter.removeDevice(address)
    }

    package nonisolated var faultSupport: FaultSupport { .bluez }

    /// Turns the adapter off, for other programs too.
    package func vanish() async throws(RadioError) {
        pending.linksEnd(of: [nil])
        defer { pending.linksEnded(of: [nil]) }
        try await adapter.setPower(false)
    }

    /// Turns the adapter on again.
    package func reappear() async throws(RadioError) { try await adapter.setPower(true) }

    /// Ends the link of a central, which takes bluetoothd two seconds.
    public func disconnect(_ central: Peer.ID) async {
        pending.linksEnd(of: [central])
        defer { pending.linksEnded(of: [central]) }
        await adapter.disconnect(centrals.path(of: central))
    }
}

extension BlueZRadio: VanishingRadio {}
