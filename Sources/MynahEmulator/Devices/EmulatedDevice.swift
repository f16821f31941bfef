public import MynahCore
public import MynahProfiles

extension [EmulatedDevice] {
    /// How the phone that all of them share presents itself: as the first of them, but it confirms no
    /// indication if one of them wants that.
    var identity: DeviceIdentity {
        var identity = self[0].identity
        identity.confirmsIndications = allSatisfy(\.identity.confirmsIndications)
        return identity
    }
}

/// A device ready to be played: what is published and advertised, and what its attributes hold.
public struct EmulatedDevice: Sendable {
    /// The device's name for people.
    public var name: String
    /// The device's name in events; a different one if another device of the run has the same name
    /// (`DeviceLabels`).
    public var label: String
    /// How the radio presents it.
    public var identity: DeviceIdentity
    /// The services to publish, in one batch.
    public var services: [ServiceDefinition]
    /// The advertisement, or `nil` if it does not advertise.
    public var advertisement: Advertisement?
    /// The number typed on the device when pairing asks for one; `nil` if the user is asked for it.
    public var passkey: UInt32?
    /// The connection parameters that an accessory requests, or `nil` if it requests none.
    package var parameterRequest: Profile.ParameterRequest?
    /// The app that plays it, or `nil` if it is an accessory.
    public var app: EmulatedApp?
    /// The app's central managers.
    public var centrals: [Profile.Central] = []
    /// The faults, as the profile declares them.
    package var faults: [ProfileFault] = []
    /// The scenarios, as the profile declares them.
    package var scenarios: [Profile.Scenario] = []
    /// The seed of its generated values and of its faults.
    var seed: UInt64 = 0
    /// Numbers the requests that a test answers; `nil` if no test can.
    package var requestNumbers: RequestNumbers?
    /// The answers to centrals beside the table.
    var responses = Responses()
    /// The table that its memory begins with, but for static values that were set since.
    var table: AttributeTable
    /// The changes of the advertisement.
    var advertised = Advertised()

    /// The changes of an advertisement while it runs.
    struct Advertised: Sendable {
        /// A test's changes.
        var change = AdvertisingChange()
        /// The values that change over time.
        var values = AdvertisedValues()
    }

    /// The answers to centrals beside the values of the table.
    struct Responses: Sendable {
        /// The characteristic with the PSM of the app's channel, or `nil` if there is none.
        var psm: AttributeKey?
        /// The rules of characteristics, by their positions.
        var reactions: [AttributeTree.Position: Profile.Reactions] = [:]
        /// The rules for links of centrals.
        var links = Profile.LinkRules()
        /// The services that do more than keep their values.
        var behaviors: [BehavingService] = []
    }

    /// `true` if the device plays a peripheral, perhaps beside a central.
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
