public import MynahCore
public import MynahProfiles

extension [EmulatedDevice] {
    /// The identity of the phone that these devices share: that of the first device, but without confirming
    /// indications if one of them requires that.
    var identity: DeviceIdentity {
        var identity = self[0].identity
        identity.confirmsIndications = allSatisfy(\.identity.confirmsIndications)
        return identity
    }
}

/// A device ready to be played: its services, its advertisement, and the values of its attributes.
public struct EmulatedDevice: Sendable {
    /// The device's name in messages.
    public var name: String
    /// The device's name in events; a different one if another device of the run has the same name
    /// (`DeviceLabels`).
    public var label: String
    /// The identity with which the radio presents the device.
    public var identity: DeviceIdentity
    /// The services to publish, in one batch.
    public var services: [ServiceDefinition]
    /// The advertisement, or `nil` if the device does not advertise.
    public var advertisement: Advertisement?
    /// The passkey that is entered on the device when pairing asks for it, or `nil` to ask the user.
    public var passkey: UInt32?
    /// The connection parameters that an accessory requests, or `nil` if it requests none.
    package var parameterRequest: Profile.ParameterRequest?
    /// The app that plays the device, or `nil` for an accessory.
    public var app: EmulatedApp?
    /// The app's central managers.
    public var centrals: [Profile.Central] = []
    /// The faults, as the profile declares them.
    package var faults: [ProfileFault] = []
    /// The scenarios, as the profile declares them.
    package var scenarios: [Profile.Scenario] = []
    /// The seed of the device's generated values and of its faults.
    var seed: UInt64 = 0
    /// The numbers for requests that a test answers, or `nil` if no test can answer.
    package var requestNumbers: RequestNumbers?
    /// The answers to centrals that do not come from the attribute table.
    var responses = Responses()
    /// The initial attribute table, except for static values that were set since.
    var table: AttributeTable
    /// The changing parts of the advertisement.
    var advertised = Advertised()

    /// The changing parts of an advertisement.
    struct Advertised: Sendable {
        /// A test's changes.
        var change = AdvertisingChange()
        /// The values that change over time.
        var values = AdvertisedValues()
    }

    /// The answers to centrals that do not come from the attribute table.
    struct Responses: Sendable {
        /// The characteristic that holds the PSM of the app's channel, or `nil` if there is none.
        var psm: AttributeKey?
        /// The rules of characteristics, by their positions.
        var reactions: [AttributeTree.Position: Profile.Reactions] = [:]
        /// The rules for links of centrals.
        var links = Profile.LinkRules()
        /// The services with a behavior of their own, in addition to stored values.
        var behaviors: [BehavingService] = []
    }

    /// `true` if the device plays a peripheral, possibly together with a central.
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
