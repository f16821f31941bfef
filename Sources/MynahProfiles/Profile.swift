public import MynahCore
package import MynahValues

/// A device as a profile file declares it.
public struct Profile: Sendable {
    /// The text or the JSON value that it was read from, to place later issues.
    var origin: ProfileOrigin
    /// The profile's name, for messages.
    public var name: String
    /// The GAP name, the appearance and the pairing capabilities.
    public var device: DeviceIdentity
    /// The passkey that a device with a keyboard enters, or `nil` if `run` asks for it.
    public var passkey: UInt32?
    /// The advertising, or `nil` if the device does not advertise.
    public var advertising: Advertising?
    /// The requests and rules for links of centrals.
    package var links = Links()
    /// The services, included ones before those that include them.
    public var services: [Service]
    /// The app that plays it, or `nil` if it is an accessory.
    public var app: App?
    /// The phone that the app is on, or `nil` for the one that all apps without a phone share.
    public var phone: PhoneDescription?
    /// The app's central managers; empty if the profile has none.
    public var centrals: [Central]
    /// The device's own state at its start.
    package var variables: Variables
    /// The faults, in their order.
    package var faults: [ProfileFault] = []
    /// The scenarios, in their order.
    package var scenarios: [Scenario] = []
    /// The number among the copies of one file, from 1; `nil` if this is no copy.
    package var copy: Int?
    /// The warnings and notes; a profile with errors is not returned.
    public var warnings: [ProfileIssue]
    /// The position of each field by its key; the fields of `device` and `security` by keys like
    /// `device.name`.
    public var marks: [String: SourceMark]

    /// The advertisement, the values in it that change, and the positions of its fields.
    public struct Advertising: Sendable {
        /// The advertisement, with the first bytes of values that change.
        public var advertisement: Advertisement
        /// The values that change, in the order of their sets.
        package var values: [AdvertisedValue] = []
        /// The position of each field by its key; the fields of further sets by keys like `2.interval`.
        public var marks: [String: SourceMark]
    }

    /// A service.
    public struct Service: Sendable {
        /// The service's type.
        public var uuid: BluetoothUUID
        /// `true` for a primary service, `false` for a secondary one.
        public var isPrimary: Bool
        /// The indices of the services it includes; all are smaller than its own.
        public var includes: [Int]
        /// The characteristics, in order.
        public var characteristics: [Characteristic]
        /// The behavior of the service beyond keeping its values, or `nil` if it has none.
        package var behavior: ServiceBehaviorName?
        /// How many records a glucose meter has stored.
        package var records = ServicesSection.usualRecords
        /// The position of its declaration.
        public var mark: SourceMark
        /// The position of each field by its key.
        public var marks: [String: SourceMark]
    }

    /// A characteristic.
    public struct Characteristic: Sendable {
        /// The characteristic's type.
        public var uuid: BluetoothUUID
        /// The properties.
        public var properties: CharacteristicProperties
        /// The security that each use requires.
        public var permissions: AttributePermissions
        /// The source of its value.
        public var value: Value
        /// The fields of its value: those that the profile writes down, or else the SIG's; `nil` if neither
        /// is known.
        package var layout: ValueLayout?
        /// The time between two notifications or indications, or `nil` if nothing sends it periodically.
        public var every: Duration?
        /// The maximum length of a written value.
        public var maximumLength: Int
        /// The error for every read.
        public var readError: ATTError?
        /// The error for every write.
        public var writeError: ATTError?
        /// The requests that a test answers.
        package var asked: AskedAccess = []
        /// How its values are sent.
        package var updates = UpdateRules()
        /// The rules for writes and subscriptions of centrals.
        package var reactions = Reactions()
        /// The descriptors, in order.
        public var descriptors: [Descriptor]
        /// The position of its declaration.
        public var mark: SourceMark
        /// The position of each field by its key; the fields of `errors` by keys like `errors.read`.
        public var marks: [String: SourceMark]

        /// Whether the radio answers reads itself: the value is bytes, without `every`, a write property
        /// or a read error, and no test answers for it.
        public var isStatic: Bool {
            guard case .bytes = value else { return false }
            return every == nil && properties.isDisjoint(with: .anyWrite) && readError == nil
                && !asked.contains(.read)
        }
    }

    /// A descriptor.
    public struct Descriptor: Sendable {
        /// The descriptor's type.
        public var uuid: BluetoothUUID
        /// `read`, `write` or both.
        public var properties: CharacteristicProperties
        /// The security that each use requires.
        public var permissions: AttributePermissions
        /// The descriptor's value.
        public var value: [UInt8]
        /// The maximum length of a written value.
        public var maximumLength: Int
        /// The position of its declaration.
        public var mark: SourceMark
        /// The position of each field by its key.
        public var marks: [String: SourceMark]
    }

    /// The source of a value.
    public enum Value: Sendable {
        /// Constant bytes.
        case bytes([UInt8])
        /// A generator.
        case generated(any GeneratorDefinition)
    }

    /// An iOS app that plays the device.
    public struct App: Sendable {
        /// The state an app starts in.
        public enum StartState: String, Hashable, Sendable, CaseIterable {
            /// The app is on the screen.
            case foreground
            /// The app runs, and has left the screen.
            case background
            /// The app is in memory and does not run.
            case suspended
        }

        /// The answer of a phone's user to a pairing.
        package enum PairingConsent: String, Hashable, Sendable, CaseIterable {
            /// The user accepts it at once.
            case accept
            /// The user declines it at once.
            case decline
            /// The user is asked, and answers later.
            case ask
        }

        /// The app's background modes.
        public var backgroundModes: [BackgroundMode] = []
        /// The identifier for state preservation, or `nil` to opt out.
        public var restoreIdentifier: String?
        /// The state it starts in.
        public var state = StartState.foreground
        /// The time without work in the background before it is suspended.
        public var suspendAfter: Duration = .seconds(5)
        /// How long the app works for each event in the background, or `nil` to use all of the allowance.
        public var taskTime: Duration?
        /// The user's permission to use Bluetooth at its first launch.
        public var authorization = BluetoothAuthorization.allowedAlways
        /// The user's answer to a pairing for it.
        package var pairing = PairingConsent.accept
        /// Whether the app uses scenes, so that its launch names no managers.
        package var sceneBased = false
        /// Whether the app starts a Live Activity before it leaves the screen, from iOS 26 on.
        package var liveActivity = false
        /// The descriptors of the accessories that the picker of AccessorySetupKit shows for the app.
        ///
        /// Empty if the app does not use AccessorySetupKit.
        package var accessorySetup: [AccessoryDescriptor] = []
        /// The connection latency that it asks each subscriber for, or `nil` if it asks for none.
        package var connectionLatency: ConnectionLatency?
        /// The L2CAP channel that it publishes, or `nil` if it publishes none.
        package var channel: Channel?
        /// iOS's major version.
        public var iOS = 17
        /// The advertising interval in the foreground, an assumption.
        public var foregroundInterval: Duration = .milliseconds(30)
        /// The advertising interval in the background, as measured on one iPhone with iOS 11.
        public var backgroundInterval: Duration = .microseconds(181_250)
        /// The TX power level that its phone advertises, in dBm, or `nil` for none.
        package var txPower: Int8?
        /// The Nearby Info that its phone advertises in the background, or `nil` for none.
        package var nearbyInfo: [UInt8]?
        /// The position of each field by its key.
        public var marks: [String: SourceMark] = [:]

        /// Whether the app has the same rights in the background as in the foreground.
        package var keepsPrivileges: Bool { liveActivity && IOSVersion(iOS).hasLiveActivityPrivileges }

        /// `true` if the app uses AccessorySetupKit, which iOS has from 18 on.
        package var usesAccessorySetup: Bool {
            !accessorySetup.isEmpty && IOSVersion(iOS).hasAccessorySetup
        }
    }

    /// The profile's attributes, for names that lead to them.
    package var attributeTree: AttributeTree {
        AttributeTree(
            of: services, uuid: (\.uuid, \.uuid, \.uuid), characteristics: \.characteristics,
            descriptors: \.descriptors)
    }

    /// An issue of this profile that was found later.
    public func issue(_ severity: ProfileIssue.Severity, at mark: SourceMark?, _ message: String)
        -> ProfileIssue
    {
        origin.issue(severity, at: mark, message)
    }

    /// The path of its file, as given, or another name for messages.
    public var file: String {
        get { origin.file }
        set { origin.file = newValue }
    }
}
