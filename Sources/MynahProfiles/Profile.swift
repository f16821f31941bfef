public import MynahCore

/// A device as a profile file declares it.
public struct Profile: Sendable {
    /// The file it came from, as it was named.
    public var file: String
    /// Its name, for messages.
    public var name: String
    /// The GAP name, the appearance and the pairing capabilities.
    public var device: DeviceIdentity
    /// The passkey that a device with a keyboard enters, or `nil` if `run` asks for it.
    public var passkey: UInt32?
    /// Its advertising, or `nil` if it does not advertise.
    public var advertising: Advertising?
    /// Its services, included ones before those that include them.
    public var services: [Service]
    /// The app that plays it, or `nil` if it is an accessory.
    public var app: App?
    /// The app's central managers; empty if the profile has none.
    public var centrals: [Central]
    /// The warnings and notes; a profile with errors is not returned.
    public var warnings: [ProfileIssue]
    /// The file's lines, for problems found later.
    public var sourceLines: [String]
    /// The position of each field by its key; the fields of `device` and `security` by keys like
    /// `device.name`.
    public var marks: [String: SourceMark]

    /// The advertisement, and the positions of its fields.
    public struct Advertising: Sendable {
        /// The advertisement.
        public var advertisement: Advertisement
        /// The position of each field by its key.
        public var marks: [String: SourceMark]
    }

    /// A service.
    public struct Service: Sendable {
        /// Its type.
        public var uuid: BluetoothUUID
        /// Whether it is primary.
        public var isPrimary: Bool
        /// The indices of the services it includes; all are smaller than its own.
        public var includes: [Int]
        /// Its characteristics.
        public var characteristics: [Characteristic]
        /// Where it is declared.
        public var mark: SourceMark
        /// The position of each field by its key.
        public var marks: [String: SourceMark]
    }

    /// A characteristic.
    public struct Characteristic: Sendable {
        /// Its type.
        public var uuid: BluetoothUUID
        /// The properties.
        public var properties: CharacteristicProperties
        /// The security that each use requires.
        public var permissions: AttributePermissions
        /// Where its value comes from.
        public var value: Value
        /// The time between two notifications or indications, or `nil` if nothing sends it periodically.
        public var every: Duration?
        /// The longest value that may be written.
        public var maximumLength: Int
        /// Answers every read with this.
        public var readError: ATTError?
        /// Answers every write with this.
        public var writeError: ATTError?
        /// Its descriptors.
        public var descriptors: [Descriptor]
        /// Where it is declared.
        public var mark: SourceMark
        /// The position of each field by its key; the fields of `errors` by keys like `errors.read`.
        public var marks: [String: SourceMark]

        /// Whether the radio answers by itself: a value, and neither `every`, a write property nor an ordered
        /// error.
        public var isStatic: Bool {
            guard case .bytes = value else { return false }
            return every == nil && properties.isDisjoint(with: .anyWrite) && readError == nil
        }
    }

    /// A descriptor.
    public struct Descriptor: Sendable {
        /// Its type.
        public var uuid: BluetoothUUID
        /// `read`, `write` or both.
        public var properties: CharacteristicProperties
        /// The security that each use requires.
        public var permissions: AttributePermissions
        /// Its value.
        public var value: [UInt8]
        /// The longest value that may be written.
        public var maximumLength: Int
        /// Where it is declared.
        public var mark: SourceMark
        /// The position of each field by its key.
        public var marks: [String: SourceMark]
    }

    /// Where a value comes from.
    public enum Value: Sendable {
        /// These bytes.
        case bytes([UInt8])
        /// A generator.
        case generated(any GeneratorDefinition)
    }

    /// An iOS app that plays the device.
    public struct App: Sendable {
        /// The state an app starts in.
        public enum StartState: String, Hashable, Sendable, CaseIterable {
            /// It is on the screen.
            case foreground
            /// It runs, and has left the screen.
            case background
            /// It is in memory and does not run.
            case suspended
        }

        /// Its background modes.
        public var backgroundModes: [BackgroundMode] = []
        /// Opts in to state preservation under this name.
        public var restoreIdentifier: String?
        /// The state it starts in.
        public var state = StartState.foreground
        /// How long it runs in the background with nothing to do.
        public var suspendAfter: Duration = .seconds(5)
        /// How long it works for each event that reaches it in the background; `nil` if as long as it may.
        public var taskTime: Duration?
        /// iOS's major version.
        public var iOS = 17
        /// The advertising interval in the foreground; nobody has published one.
        public var foregroundInterval: Duration = .milliseconds(30)
        /// The advertising interval in the background, as measured on one iPhone with iOS 11.
        public var backgroundInterval: Duration = .microseconds(181_250)
        /// The position of each field by its key.
        public var marks: [String: SourceMark] = [:]
    }

    /// Its attributes, for names that lead to them.
    package var attributeTree: AttributeTree {
        AttributeTree(
            services.map { service in
                .init(
                    uuid: service.uuid,
                    characteristics: service.characteristics.map { characteristic in
                        .init(
                            uuid: characteristic.uuid,
                            descriptors: characteristic.descriptors.map { .init(uuid: $0.uuid) })
                    })
            })
    }

    /// A problem of this profile that was found after it was read.
    public func issue(_ severity: ProfileIssue.Severity, at mark: SourceMark?, _ message: String)
        -> ProfileIssue
    {
        let line = mark.flatMap { sourceLines.indices.contains($0.line - 1) ? sourceLines[$0.line - 1] : nil }
        return ProfileIssue(severity: severity, file: file, mark: mark, message: message, sourceLine: line)
    }
}
