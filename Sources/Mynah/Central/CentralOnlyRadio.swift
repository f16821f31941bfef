import MynahCore

/// A `PeripheralRadio` that wraps a radio with only the central role.
///
/// A central manager that was made without a phone gets a phone of its own on this radio. The phone starts
/// and stops the radio, and neither publishes nor advertises anything.
actor CentralOnlyRadio: PeripheralRadio {
    private let central: any CentralRadio

    nonisolated var unownedExecutor: UnownedSerialExecutor { central.unownedExecutor }

    nonisolated var preferredExecutor: (any TaskExecutor)? { central.preferredExecutor }

    init(_ central: any CentralRadio) {
        self.central = central
    }

    func start(_ identity: DeviceIdentity, sink: any RadioSink) async throws(RadioError) -> RadioCapabilities
    {
        guard let sink = sink as? any CentralSink else { throw Self.unsupported }
        try await central.start(identity, central: sink)
        return RadioCapabilities(name: "central")
    }

    func stop() async { await central.stop() }
    nonisolated func close() { central.close() }
    func disconnect(_ central: Peer.ID) async { await self.central.disconnect(central) }

    func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        throw Self.unsupported
    }

    func withdraw(_ services: PublishedServices.ID) async {}
    func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {}

    func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        throw Self.unsupported
    }

    func stopAdvertising() async {}

    func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        throw Self.unsupported
    }

    private static var unsupported: RadioError {
        RadioError(.unsupported, "this radio does not support the peripheral role")
    }
}
