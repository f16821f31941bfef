import MynahCore

/// A device that was read from another tool's file, before Mynah writes it as a profile.
struct ImportedProfile {
    /// A service.
    struct Service {
        var uuid: BluetoothUUID
        var isPrimary = true
        /// The indices of the services that this one includes.
        var includes: [Int] = []
        var characteristics: [Characteristic] = []
        /// Notes for a reader of the profile, each a sentence without a full stop.
        var notes: [String] = []
    }

    /// A characteristic.
    struct Characteristic {
        var uuid: BluetoothUUID
        var properties: CharacteristicProperties
        var permissions = AttributePermissions()
        var value: Value?
        /// Whether only the first recorded values of the characteristic are kept.
        var isCut = false
        var readError: UInt8?
        var writeError: UInt8?
        var rules: [Rule] = []
        /// The values that follow from a subscription to the characteristic.
        var greetings: [Answer] = []
        var descriptors: [Descriptor] = []
        /// The reason why centrals get values without a subscription, or `nil` if they do not.
        var subscription: Subscription?
        var notes: [String] = []
    }

    /// The way in which a characteristic sends values without a subscription.
    enum Subscription: String {
        /// The characteristic has no Client Characteristic Configuration.
        case none
        /// The characteristic has a Client Characteristic Configuration, but sends values even if no client
        /// wrote it.
        case always
    }

    /// The source of a characteristic's value.
    enum Value {
        case bytes([UInt8])
        /// The recorded values, and the value that was read before any was sent.
        ///
        /// The times count from a central's subscription.
        case recorded([RecordedValue], initial: [UInt8]?)
    }

    /// A value that the device sent, with its time after the subscription in microseconds.
    struct RecordedValue: Hashable {
        var time: Int64
        /// The bytes, as a slice of the buffer of all sent values.
        var value: ArraySlice<UInt8>
    }

    /// The reaction of a device to a write.
    struct Rule {
        /// The written value, or the bytes that it begins with.
        var written: [UInt8]
        var isPrefix = false
        /// The number of the state before which the rule applies, or `nil` if it always applies.
        var before: Int?
        /// The number of the state that the write begins.
        var begins: Int?
        var error: UInt8?
        var answers: [Answer] = []
        /// The values of the answers in turn, as many in each as in `answers`; empty if they do not change.
        var turns: [[[UInt8]]] = []

        /// `true` if the rule depends on a state, or begins one.
        var isOfState: Bool { before != nil || begins != nil }
    }

    /// A value that answers a write, with its delay after the response in microseconds.
    struct Answer: Hashable {
        /// The indices of the service and of the characteristic that send the answer.
        var service: Int
        var characteristic: Int
        var value: [UInt8]
        var delay: Int64
    }

    /// A descriptor.
    struct Descriptor {
        var uuid: BluetoothUUID
        var properties: CharacteristicProperties = .read
        var permissions = AttributePermissions()
        var value: [UInt8]?
        var notes: [String] = []
    }

    /// The profile's name for people.
    var name: String
    /// The GAP device name, if it is known.
    var deviceName: String?
    var appearance: UInt16?
    var io: IOCapability?
    /// The connection parameters that the device requests, and the time of the request after the connection,
    /// in microseconds.
    var parameters: (range: ConnectionParameterRange, delay: Int64)?
    /// The advertising sets; empty if the device does not advertise.
    var advertising: [ImportedAdvertising] = []
    var services: [Service] = []
    /// For each state, whether it ends with the link.
    var states: [Bool] = []
    var notes: [String] = []
    /// Warnings about values that are not kept, each a sentence without a full stop.
    var warnings: [String] = []
}

extension ImportedProfile {
    /// Returns the name of a state's variable, which is 1 in the state and 0 before it.
    static func stateName(_ number: Int) -> String { "state\(number + 1)" }

    /// The variables of all states, with their initial values.
    var stateVariables: [String] { states.indices.map { "\(Self.stateName($0)): 0" } }

    /// The variables of the states that end with the link, with their initial values.
    var endingVariables: [String] { states.indices.filter { states[$0] }.map { stateVariables[$0] } }
}

/// An advertising set of an imported device, with notes about the parts that a profile cannot express.
struct ImportedAdvertising {
    /// The advertisement with its local name, or `nil` if the device does not advertise.
    var advertisement = Advertisement()
    /// The values of the advertisement that changed over time.
    var values: [ImportedAdvertisedValue] = []
    /// The usual time between two changes.
    var every: Duration?
    var notes: [String] = []
}
