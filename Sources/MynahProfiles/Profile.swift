public import MynahCore

/// A device as a profile file declares it.
public struct Profile: Sendable {
    /// The file it came from, as it was named.
    public var file: String
    /// Its name for people.
    public var name: String
    /// How it presents itself.
    public var device: DeviceIdentity
    /// The number typed on a device with a keyboard; nil: whoever runs it is asked.
    public var passkey: UInt32?
    /// What it advertises; nil: nothing.
    public var advertising: Advertising?
    /// Its services, included ones before those that include them.
    public var services: [Service]
    /// The app that plays it; nil: it is an accessory.
    public var app: App?
    /// The app's central managers; empty if it is no central.
    public var centrals: [Central]
    /// What was noticed that does not keep it from being played.
    public var warnings: [ProfileIssue]
    /// The file's lines, for problems found later.
    public var sourceLines: [String]
    /// Where each field stands, by its key; those of `device` and `security` as `device.name`.
    public var marks: [String: SourceMark]

    /// What is advertised, and where it says so.
    public struct Advertising: Sendable {
        /// What is advertised.
        public var advertisement: Advertisement
        /// Where each field stands, by its key.
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
        /// Where each of its fields stands, by its key.
        public var marks: [String: SourceMark]
    }

    /// A characteristic.
    public struct Characteristic: Sendable {
        /// Its type.
        public var uuid: BluetoothUUID
        /// What may be done with it.
        public var properties: CharacteristicProperties
        /// What each use asks of the link.
        public var permissions: AttributePermissions
        /// Where its value comes from.
        public var value: Value
        /// How often it is sent to subscribers; nil: only when something sends it.
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
        /// Where each of its fields stands, by its key; those of `errors` as `errors.read`.
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
        /// What each use asks of the link.
        public var permissions: AttributePermissions
        /// Its value.
        public var value: [UInt8]
        /// The longest value that may be written.
        public var maximumLength: Int
        /// Where it is declared.
        public var mark: SourceMark
        /// Where each of its fields stands, by its key.
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

        /// What it may do in the background.
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
        /// Where each field stands, by its key.
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
