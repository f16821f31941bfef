public import MynahCore
public import MynahProfiles

/// A device ready to be played: what is published and advertised, and what its attributes hold.
public struct EmulatedDevice: Sendable {
    /// Its name for people.
    public var name: String
    /// What events call it: its name, or another if another device of the run has that name (`DeviceLabels`).
    public var label: String
    /// How the radio presents it.
    public var identity: DeviceIdentity
    /// What is published, in one batch.
    public var services: [ServiceDefinition]
    /// What is advertised, or `nil` if nothing is.
    public var advertisement: Advertisement?
    /// The number typed on the device when pairing asks for one; `nil` if the user is asked for it.
    public var passkey: UInt32?
    /// The app that plays it, or `nil` if it is an accessory.
    public var app: EmulatedApp?
    /// What its app does as a central, one for each manager.
    public var centrals: [Profile.Central] = []
    var table: AttributeTable

    /// Whether it plays a peripheral too.
    var isPeripheral: Bool { centrals.isEmpty || !services.isEmpty || advertisement != nil }

    init(
        name: String, label: String? = nil, identity: DeviceIdentity, services: [ServiceDefinition],
        table: AttributeTable,
        advertisement: Advertisement? = nil, passkey: UInt32? = nil, app: EmulatedApp? = nil
    ) {
        self.name = name
        self.label = label ?? name
        self.identity = identity
        self.services = services
        self.table = table
        self.advertisement = advertisement
        self.passkey = passkey
        self.app = app
    }
}
