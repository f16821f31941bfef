public import MynahCore

/// What the system kept of a peripheral manager while its app did not run (after willRestoreState's
/// dictionary).
public struct RestoredState: Hashable, Sendable {
    /// The services that are published, as they were added (CBPeripheralManagerRestoredStateServicesKey).
    public var services: [ServiceDefinition]
    /// What is advertised, or `nil` if nothing is (CBPeripheralManagerRestoredStateAdvertisementDataKey).
    public var advertisement: Advertisement?
    /// The centrals that were subscribed (the `subscribedCentrals` of restored characteristics).
    public var subscribers: [Subscriber]

    /// A central that was subscribed to a characteristic.
    public struct Subscriber: Hashable, Sendable {
        /// To which characteristic.
        public var attribute: AttributeKey
        /// Its address, or `nil` if the radio did not name it.
        public var address: DeviceAddress?
        /// Whether the radio still has the subscription; else it counts when it subscribes again.
        public var isLive: Bool

        /// A subscriber.
        package init(attribute: AttributeKey, address: DeviceAddress?, isLive: Bool) {
            self.attribute = attribute
            self.address = address
            self.isLive = isLive
        }
    }

    /// A state.
    package init(services: [ServiceDefinition], advertisement: Advertisement?, subscribers: [Subscriber]) {
        self.services = services
        self.advertisement = advertisement
        self.subscribers = subscribers
    }
}
