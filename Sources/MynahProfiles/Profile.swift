public import MynahCore
package import MynahValues

/// A device as declared in a profile file.
public struct Profile: Sendable {
    /// The text or JSON value from which the profile was parsed, for the positions of later issues.
    var origin: ProfileOrigin
    /// The profile's name in messages.
    public var name: String
    /// The GAP name, the appearance and the pairing capabilities.
    public var device: DeviceIdentity
    /// The passkey that the device's user enters for pairing, or `nil` if `run` asks the user.
    public var passkey: UInt32?
    /// The advertising, or `nil` if the device does not advertise.
    public var advertising: Advertising?
    /// The parameter request and rules for links with centrals.
    package var links = Links()
    /// The services; an included service comes before the services that include it.
    public var services: [Service]
    /// The app that plays the device, or `nil` for an accessory.
    public var app: App?
    /// The phone of the app, or `nil` for the phone that all apps without one share.
    public var phone: PhoneDescription?
    /// The app's central managers; empty if the profile has none.
    public var centrals: [Central]
    /// The initial values of the device's variables.
    package var variables: Variables
    /// The faults, in order.
    package var faults: [ProfileFault] = []
    /// The scenarios, in order.
    package var scenarios: [Scenario] = []
    /// The number of this copy, counted from 1, or `nil` if the profile is not a copy.
    package var copy: Int?
    /// The warnings and notes; a profile with errors cannot be loaded.
    public var warnings: [ProfileIssue]
    /// The position of each field by its key; fields of `device` and `security` have keys like
    /// `device.name`.
    public var marks: [String: SourceMark]

    /// The advertisement, its changing values, and the positions of its fields.
    public struct Advertising: Sendable {
        /// The advertisement, in which changing values have their first bytes.
        public var advertisement: Advertisement
        /// The changing values, in the order of their sets.
        package var values: [AdvertisedValue] = []
        /// The position of each field by its key; the fields of further sets have keys like `2.interval`.
        public var marks: [String: SourceMark]
    }

    /// A service.
    public struct Service: Sendable {
        /// The service's type.
        public var uuid: BluetoothUUID
        /// `true` for a primary service, `false` for a secondary one.
        public var isPrimary: Bool
        /// The indices of the included services, which are all smaller than the service's own.
        public var includes: [Int]
        /// The characteristics, in order.
        public var characteristics: [Characteristic]
        /// The behavior of the service in addition to storing values, or `nil` if it has none.
        package var behavior: ServiceBehaviorName?
        /// The number of records that the device has stored at its start.
        package var records = ServicesSection.usualRecords
        /// The position of the service's declaration.
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
        /// The security that each kind of access requires.
        public var permissions: AttributePermissions
        /// The source of the value.
        public var value: Value
        /// The layout of the value: that of the profile, or else the SIG's, or `nil` if neither is known.
        package var layout: ValueLayout?
        /// The time between two notifications or indications, or `nil` if values are not sent periodically.
        public var every: Duration?
        /// The maximum length of a written value.
        public var maximumLength: Int
        /// The error with which every read is answered, or `nil` if reads return values.
        public var readError: ATTError?
        /// The error with which every write is answered, or `nil` if writes are accepted.
        public var writeError: ATTError?
        /// The kinds of requests that a test answers.
        package var asked: AskedAccess = []
        /// The rules for sending values.
        package var updates = UpdateRules()
        /// The rules for writes and subscriptions of centrals.
        package var reactions = Reactions()
        /// The descriptors, in order.
        public var descriptors: [Descriptor]
        /// The position of the characteristic's declaration.
        public var mark: SourceMark
        /// The position of each field by its key; the fields of `errors` have keys like `errors.read`.
        public var marks: [String: SourceMark]

        /// Whether the radio itself answers reads.
        ///
        /// This is the case if the value is constant, has no `every`, cannot be written and has no read
        /// error, and if no test answers the reads.
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
        /// The supported operations: `read`, `write` or both.
        public var properties: CharacteristicProperties
        /// The security that each kind of access requires.
        public var permissions: AttributePermissions
        /// The descriptor's value.
        public var value: [UInt8]
        /// The maximum length of a written value.
        public var maximumLength: Int
        /// The position of the descriptor's declaration.
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
        /// The initial state of an app.
        public enum StartState: String, Hashable, Sendable, CaseIterable {
            /// The app is in the foreground.
            case foreground
            /// The app is running in the background.
            case background
            /// The app is in memory, but not running.
            case suspended
        }

        /// The answer of a phone's user to a pairing.
        package enum PairingConsent: String, Hashable, Sendable, CaseIterable {
            /// The user accepts the pairing at once.
            case accept
            /// The user declines the pairing at once.
            case decline
            /// The user is asked, and answers later.
            case ask
        }

        /// The app's background modes.
        public var backgroundModes: [BackgroundMode] = []
        /// The identifier for state preservation, or `nil` to opt out.
        public var restoreIdentifier: String?
        /// The initial state of the app.
        public var state = StartState.foreground
        /// The time after which an idle app in the background is suspended.
        public var suspendAfter: Duration = .seconds(5)
        /// The time for which the app works after each event in the background.
        ///
        /// If it is `nil`, the app uses all the time that the system allows.
        public var taskTime: Duration?
        /// The user's permission to use Bluetooth at the app's first launch.
        public var authorization = BluetoothAuthorization.allowedAlways
        /// The user's answer if a device wants to pair with the app.
        package var pairing = PairingConsent.accept
        /// `true` if the app uses scenes; its launch options are then empty.
        package var sceneBased = false
        /// Whether the app starts a Live Activity before it leaves the foreground, from iOS 26 on.
        package var liveActivity = false
        /// The descriptors of the accessories in the app's AccessorySetupKit picker.
        ///
        /// The list is empty if the app does not use AccessorySetupKit.
        package var accessorySetup: [AccessoryDescriptor] = []
        /// The connection latency that the app requests from each subscriber, or `nil` if it requests none.
        package var connectionLatency: ConnectionLatency?
        /// The L2CAP channel that the app publishes, or `nil` if it publishes none.
        package var channel: Channel?
        /// iOS's major version.
        public var iOS = 17
        /// The advertising interval in the foreground, which is an assumption.
        public var foregroundInterval: Duration = .milliseconds(30)
        /// The advertising interval in the background, as measured on one iPhone with iOS 11.
        public var backgroundInterval: Duration = .microseconds(181_250)
        /// The TX power level that the app's phone advertises, in dBm, or `nil` for none.
        package var txPower: Int8?
        /// The Nearby Info that the app's phone advertises in the background, or `nil` for none.
        package var nearbyInfo: [UInt8]?
        /// The position of each field by its key.
        public var marks: [String: SourceMark] = [:]

        /// Whether the app can scan and advertise in the background as in the foreground.
        package var keepsPrivileges: Bool { liveActivity && IOSVersion(iOS).hasLiveActivityPrivileges }

        /// `true` if the app uses AccessorySetupKit, which iOS supports from version 18 on.
        package var usesAccessorySetup: Bool {
            !accessorySetup.isEmpty && IOSVersion(iOS).hasAccessorySetup
        }
    }

    /// The profile's attributes, in which names are resolved.
    package var attributeTree: AttributeTree {
        AttributeTree(
            of: services, uuid: (\.uuid, \.uuid, \.uuid), characteristics: \.characteristics,
            descriptors: \.descriptors)
    }

    /// Makes an issue of this profile that was found after the profile was loaded.
    public func issue(_ severity: ProfileIssue.Severity, at mark: SourceMark?, _ message: String)
        -> ProfileIssue
    {
        origin.issue(severity, at: mark, message)
    }

    /// The path of the profile's file as the user gave it, or another name for messages.
    public var file: String {
        get { origin.file }
        set { origin.file = newValue }
    }
}
