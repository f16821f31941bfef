public import MynahCore

/// The preserved state of a peripheral manager (after the dictionary of willRestoreState).
public struct RestoredState: Hashable, Sendable {
    /// The published services (CBPeripheralManagerRestoredStateServicesKey).
    public var services: [ServiceDefinition]
    /// The advertisement, or `nil` if there is none (CBPeripheralManagerRestoredStateAdvertisementDataKey).
    public var advertisement: Advertisement?
    /// The subscribers (the `subscribedCentrals` of the restored characteristics).
    public var subscribers: [Subscriber]

    /// A central that was subscribed to a characteristic.
    public struct Subscriber: Hashable, Sendable {
        /// The characteristic.
        public var attribute: AttributeKey
        /// The address of the central, or `nil` if the radio did not report it.
        public var address: DeviceAddress?
        /// Whether the subscription is active; otherwise it waits until the central subscribes again.
        public var isLive: Bool

        /// Makes a subscriber.
        package init(attribute: AttributeKey, address: DeviceAddress?, isLive: Bool) {
            self.attribute = attribute
            self.address = address
            self.isLive = isLive
        }
    }

    var isEmpty: Bool { services.isEmpty && advertisement == nil && subscribers.isEmpty }

    /// Makes a state.
    package init(services: [ServiceDefinition], advertisement: Advertisement?, subscribers: [Subscriber]) {
        self.services = services
        self.advertisement = advertisement
        self.subscribers = subscribers
    }
}
