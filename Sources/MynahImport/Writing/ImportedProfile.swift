import MynahCore

/// A device that was read from a file of another tool, before it is written as a profile.
struct ImportedProfile {
    /// A service.
    struct Service {
        var uuid: BluetoothUUID
        var isPrimary = true
        /// The places of the services that it includes.
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
        /// Whether only the first of its recorded values are kept.
        var isCut = false
        var readError: UInt8?
        var writeError: UInt8?
        var rules: [Rule] = []
        /// The values that follow from a subscription to it.
        var greetings: [Answer] = []
        var descriptors: [Descriptor] = []
        /// Whether values go to centrals that have not subscribed.
        var subscription: Subscription?
        var notes: [String] = []
    }

    /// A characteristic that sends values without being asked.
    enum Subscription: String {
        /// The characteristic has no Client Characteristic Configuration.
        case none
        /// The characteristic has one, and sends whether or not that was written.
        case always
    }

    /// The source of a value.
    enum Value {
        case bytes([UInt8])
        /// Values at times after a central has subscribed, and the one that was read before any was sent.
        case recorded([RecordedValue], initial: [UInt8]?)
    }

    /// A value that was sent, in microseconds after the subscription.
    struct RecordedValue: Hashable {
        var time: Int64
        /// Part of the buffer of all values that were sent.
        var value: ArraySlice<UInt8>
    }

    /// The reaction of a device to a write.
    struct Rule {
        /// The bytes of the write, or those with which it begins.
        var written: [UInt8]
        var isPrefix = false
        /// The state before which alone it holds.
        var before: Int?
        /// The state that it begins.
        var begins: Int?
        var error: UInt8?
        var answers: [Answer] = []
        /// The values of the answers in turn, each with as many as `answers`; empty if they do not change.
        var turns: [[[UInt8]]] = []

        /// `true` if the rule depends on a state, or begins one.
        var isOfState: Bool { before != nil || begins != nil }
    }

    /// A value that answers a write, in microseconds after the response to it.
    struct Answer: Hashable {
        /// The place of its service and of its characteristic.
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
    /// The connection parameters that it requests, and when, in microseconds after the connection.
    var parameters: (range: ConnectionParameterRange, delay: Int64)?
    var advertising: ImportedAdvertising?
    var services: [Service] = []
    /// Whether each of its states ends with the link.
    var states: [Bool] = []
    var notes: [String] = []
    /// Warnings about values that are not kept, each a sentence without a full stop.
    var warnings: [String] = []
}

extension ImportedProfile {
    /// The variable of a state: 1 in it, and 0 before.
    static func stateName(_ number: Int) -> String { "state\(number + 1)" }

    /// The variables of all states, as they are at first.
    var stateVariables: [String] { states.indices.map { "\(Self.stateName($0)): 0" } }

    /// The variables of those that end with the link.
    var endingVariables: [String] { states.indices.filter { states[$0] }.map { stateVariables[$0] } }
}

/// Advertising, and notes about the parts that a profile cannot express.
struct ImportedAdvertising {
    /// The advertisement, with the advertised name, or `nil` for none.
    var advertisement = Advertisement()
    /// The values that changed.
    var values: [ImportedAdvertisedValue] = []
    /// The time between two of them.
    var every: Duration?
    var notes: [String] = []
}
