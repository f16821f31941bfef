import MynahCore

/// A device from another tool's file, before it is written as a profile.
struct ImportedProfile {
    struct Service {
        var uuid: BluetoothUUID
        var isPrimary = true
        /// The indices of the services that this one includes.
        var includes: [Int] = []
        var characteristics: [Characteristic] = []
        /// Notes for readers of the profile, each a sentence without its full stop.
        var notes: [String] = []
    }

    struct Characteristic {
        var uuid: BluetoothUUID
        var properties: CharacteristicProperties
        var permissions = AttributePermissions()
        var value: Value?
        /// `true` if only the first recorded values of the characteristic are stored.
        var isCut = false
        var readError: UInt8?
        var writeError: UInt8?
        var rules: [Rule] = []
        /// The values that a subscription to the characteristic causes.
        var greetings: [Answer] = []
        var descriptors: [Descriptor] = []
        /// The way in which centrals get values without a subscription, or `nil` if they do not get any.
        var subscription: Subscription?
        var notes: [String] = []
    }

    /// The way in which a characteristic sends values without a subscription.
    enum Subscription: String {
        /// The characteristic has no Client Characteristic Configuration.
        case none
        /// The characteristic sends values even if no client has written its Client Characteristic
        /// Configuration.
        case always
    }

    /// The source of a characteristic's value.
    enum Value {
        case bytes([UInt8])
        /// The recorded values, and the value that was read before any was sent, or `nil`.
        ///
        /// The times are counted from a central's subscription.
        case recorded([RecordedValue], initial: [UInt8]?)
    }

    /// A value that the device sent, with its time after the subscription in microseconds.
    struct RecordedValue: Hashable {
        var time: Int64
        /// The bytes, as a slice of the buffer with all sent values.
        var value: ArraySlice<UInt8>
    }

    /// The reaction of a device to a write.
    struct Rule {
        /// The written value, or its first bytes.
        var written: [UInt8]
        var isPrefix = false
        /// The number of the state that must not have begun for the rule to apply, or `nil` if the rule
        /// always applies.
        var before: Int?
        /// The number of the state that the write begins, or `nil` if it begins none.
        var begins: Int?
        var error: UInt8?
        var answers: [Answer] = []
        /// The values to send after the first write, the second write and so on, if the answers differ.
        ///
        /// Each element has one value for each of `answers`. The list is empty if the values do not change.
        var turns: [[[UInt8]]] = []

        /// `true` if the rule depends on a state, or begins one.
        var isOfState: Bool { before != nil || begins != nil }
    }

    /// A value that answers a write, with its delay after the response in microseconds.
    struct Answer: Hashable {
        /// The index of the service that sends the answer.
        ///
        /// `characteristic` is the index of the characteristic in this service.
        var service: Int
        var characteristic: Int
        var value: [UInt8]
        var delay: Int64
    }

    struct Descriptor {
        var uuid: BluetoothUUID
        var properties: CharacteristicProperties = .read
        var permissions = AttributePermissions()
        var value: [UInt8]?
        var notes: [String] = []
    }

    var name: String
    /// The GAP device name, or `nil` if it is not known.
    var deviceName: String?
    var appearance: UInt16?
    var io: IOCapability?
    /// The connection parameters that the device requests.
    ///
    /// `delay` is the time from the connection to the request, in microseconds.
    var parameters: (range: ConnectionParameterRange, delay: Int64)?
    /// The advertising sets; empty if the device does not advertise.
    var advertising: [ImportedAdvertising] = []
    var services: [Service] = []
    /// For each state, by its number, `true` if the state ends with the link.
    var states: [Bool] = []
    var notes: [String] = []
    /// Warnings about values that are not stored, each a sentence without its full stop.
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
    /// The advertisement, whose local name is `nil` if the device does not advertise a name.
    var advertisement = Advertisement()
    /// The values of the advertisement that changed over time.
    var values: [ImportedAdvertisedValue] = []
    /// The mean time between two changes of a value.
    var every: Duration?
    var notes: [String] = []
}
