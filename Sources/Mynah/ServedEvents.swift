public import MynahCore

extension PeripheralManager {
    /// Starts a radio, publishes services, and advertises them with a name.
    ///
    /// Returns the events of the manager that publishes the services. The device leaves the air when the last
    /// reference to the sequence, to an iterator of it and to `manager` is dropped.
    ///
    /// - Parameters:
    ///   - services: The services to publish.
    ///   - name: The GAP device name.
    ///   - advertisement: The advertisement, or `nil` for the name and the UUIDs of the primary services.
    ///   - radio: A radio that has not been started.
    ///
    /// Throws what `Phone.start`, `add` and `startAdvertising` throw.
    public static func serve(
        _ services: [ServiceDefinition], as name: String, advertising advertisement: Advertisement? = nil,
        on radio: some PeripheralRadio
    ) async throws(RadioError) -> ServedEvents {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: name))
        try await phone.start()
        let manager = await phone.makePeripheralManager()
        let events = await manager.events()
        try await manager.add(services)
        let primary = services.filter(\.isPrimary).map(\.uuid)
        try await manager.startAdvertising(
            advertisement ?? Advertisement(localName: name, serviceUUIDs: primary))
        return ServedEvents(manager: manager, events: events)
    }
}

/// The events of a device that `PeripheralManager.serve` put on the air, in order.
///
/// The sequence holds events as `PeripheralManager.events()` does. Several loops over it share the events.
public struct ServedEvents: AsyncSequence, Sendable {
    /// The manager of the device, which sends values and changes the advertisement.
    public let manager: PeripheralManager
    private let events: AsyncStream<DeliveredEvent>

    init(manager: PeripheralManager, events: AsyncStream<DeliveredEvent>) {
        self.manager = manager
        self.events = events
    }

    /// Returns an iterator, which keeps the device on the air too.
    public func makeAsyncIterator() -> Iterator {
        Iterator(manager: manager, events: events.makeAsyncIterator())
    }

    /// Iterates over the events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let manager: PeripheralManager
        fileprivate var events: AsyncStream<DeliveredEvent>.Iterator

        /// Returns the next event, or `nil` after the device was stopped or if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> DeliveredEvent? {
            await events.next(isolation: actor)
        }
    }
}
