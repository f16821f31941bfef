public import MynahCore

// The calls of `PeripheralRadio`.
extension HostRadio {
    /// Starts advertising, or changes the advertisement.
    ///
    /// Throws `advertisementRefused` if the advertisement is too long or the controller refuses it; nothing
    /// is advertised then.
    @discardableResult
    public func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        try await access.advertising.advertise(advertisement)
    }

    /// Stops advertising.
    public func stopAdvertising() async {
        await access.advertising.stopAdvertising()
    }

    /// Publishes services together; services that were published before get their previous handles.
    public func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        try links.publish(services)
    }

    /// Withdraws services, and indicates Service Changed to centrals.
    public func withdraw(_ services: PublishedServices.ID) async {
        links.withdraw(services)
    }

    /// Sets the value with which the host answers reads; if it is `nil`, the `RadioSink` answers them.
    public func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        links.server.setValue(value, of: attribute)
    }

    /// Sends a value to each subscriber by notification or indication.
    ///
    /// Returns `full` if one of them has no room; `readyToSend` is then reported later.
    public func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        try links.send(value, of: attribute, as: delivery, to: centrals)
    }

    /// The air time and packets used since the radio was created.
    public var used: RadioUse? {
        controller.meter.use(of: acl.table, isEstimated: !options.isSimulated, at: environment.now())
    }

    /// Publishes a PSM to which centrals can open channels, and returns it.
    public func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        try channels.publish(isEncrypted: isEncrypted)
    }

    /// Withdraws a PSM, and closes the channels that were opened to it.
    public func unpublishL2CAPChannel(_ psm: UInt16) {
        channels.unpublish(psm)
    }

    /// Requests connection parameters from a central; returns `false` if the central refuses them.
    public func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Peer.ID
    ) async throws(RadioError) -> Bool {
        try await channels.askForParameters(wanted, of: central)
    }
}
