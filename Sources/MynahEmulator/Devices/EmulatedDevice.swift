public import MynahCore
public import MynahProfiles

extension [EmulatedDevice] {
    /// The identity of the phone that these devices share, which is that of the first device.
    ///
    /// The phone does not confirm indications if one of the devices requires that.
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
    /// The unique name of the device in events; see `DeviceLabels`.
    public var label: String
    /// The identity with which the radio presents the device.
    public var identity: DeviceIdentity
    /// The services to publish, in one batch.
    public var services: [ServiceDefinition]
    /// The advertisement, or `nil` if the device does not advertise.
    public var advertisement: Advertisement?
    /// The passkey that the device's user enters for pairing, or `nil` to ask the user for it.
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
    /// The source of numbers for requests that a test answers, or `nil` if no test can answer.
    package var requestNumbers: RequestNumbers?
    /// The parts of the profile that answer centrals besides the attribute table.
    var responses = Responses()
    /// The initial attribute table, without the static values that tests have set.
    var table: AttributeTable
    /// The parts of the advertisement that can change.
    var advertised = Advertised()

    /// The parts of an advertisement that can change.
    struct Advertised: Sendable {
        /// A test's changes.
        var change = AdvertisingChange()
        /// The values that change over time.
        var values = AdvertisedValues()
    }

    /// The parts of a profile that answer centrals besides the attribute table.
    struct Responses: Sendable {
        /// The characteristic that holds the PSM of the app's channel, or `nil` if there is none.
        var psm: AttributeKey?
        /// The rules of characteristics, by the positions of the characteristics.
        var reactions: [AttributeTree.Position: Profile.Reactions] = [:]
        /// The rules for links of centrals.
        var links = Profile.LinkRules()
        /// The services with a behavior of their own, in addition to stored values.
        var behaviors: [BehavingService] = []
    }

    /// `true` if the device plays a peripheral, whether or not it also plays a central.
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
