public import MynahCore

extension Profile {
    /// One central manager of an app.
    public struct Central: Sendable {
        /// Opts in to state preservation under this name.
        public var restoreIdentifier: String?
        /// Its scan, or `nil` if it never scans.
        public var scan: Scan?
        /// The ways back to a device: one stage after the other, and those of a stage at once.
        package var reconnect: [[ReconnectWay]] = [[.known], [.connected], [.scan]]
        /// The devices that it uses.
        ///
        /// A device that it finds is the first one that it matches.
        public var peripherals: [Peripheral]

        /// A manager.
        public init(restoreIdentifier: String? = nil, scan: Scan? = nil, peripherals: [Peripheral] = []) {
            self.restoreIdentifier = restoreIdentifier
            self.scan = scan
            self.peripherals = peripherals
        }

        /// The scan of an app.
        public struct Scan: Hashable, Sendable {
            /// When it stops.
            public enum End: String, Hashable, Sendable, CaseIterable {
                /// When every entry that connects has been connected to its device.
                case connected
                /// When every entry has its device.
                case found
                /// It never does.
                case never
            }

            /// The services of which a device advertises at least one; empty if every device is meant.
            public var services: [BluetoothUUID] = []
            /// Services that a device may look for instead.
            public var solicited: [BluetoothUUID] = []
            /// Whether every packet is reported, in the foreground.
            public var allowsDuplicates = false
            /// When it stops.
            public var end = End.connected

            /// A scan for every device, until each is connected.
            public init() {}
        }

        /// One device of an app.
        public struct Peripheral: Sendable {
            /// The services and characteristics to discover on a link.
            public enum Discovery: String, Hashable, Sendable, CaseIterable {
                /// Only those that the entry uses.
                case needed
                case all
                case none
            }

            /// The behaviour after every read, write and subscription.
            public enum WhenDone: String, Hashable, Sendable, CaseIterable {
                case stay
                /// It cancels the connection, unless it is subscribed to something.
                case disconnect
            }

            /// The behaviour after a requested connection has ended.
            public enum OnDisconnect: String, Hashable, Sendable, CaseIterable {
                /// It asks for a connection, which never times out.
                case connect
                /// It goes through the ways back to a device.
                case reconnect
                case nothing
            }

            /// The name of the device in events.
            public var name: String
            /// Which devices it is about.
            public var match = Match()
            /// How it connects; `nil` if it only reports the device.
            public var connection: Connection? = Connection()
            /// The services and characteristics to discover on a link.
            public var discovery = Discovery.needed
            /// The characteristics that are read.
            package var read: [AttributeName] = []
            /// The characteristics that are subscribed to.
            package var subscribe: [AttributeName] = []
            /// The writes on each connection.
            public var writes: [Write] = []
            /// The behaviour after every read, write and subscription.
            public var whenDone = WhenDone.stay
            /// The behaviour after a connection has ended.
            public var onDisconnect = OnDisconnect.connect

            /// A device of this name in events.
            public init(name: String) {
                self.name = name
            }

            /// The characteristics that it uses.
            package var names: [AttributeName] { read + subscribe + writes.map(\.target) }
        }

        /// Which devices an entry is about; all of it must match.
        public struct Match: Hashable, Sendable {
            /// The services that a device advertises, or whose bit it sets in the overflow area.
            public var services: [BluetoothUUID] = []
            /// Its whole local name; `nil` if any will do.
            public var localName: String?
            /// The weakest signal, in dBm; `nil` if any will do.
            public var rssi: Int?

            /// Any device.
            public init() {}
        }

        /// The options of a connection (after CBCentralManager's).
        public struct Connection: Hashable, Sendable {
            /// An alert if it is connected while the app is suspended.
            public var notifyOnConnection = false
            /// An alert if the link ends while the app is suspended.
            public var notifyOnDisconnection = false
            /// An alert if a value comes while the app is suspended.
            public var notifyOnNotification = false
            /// How long the system waits before it tries to connect.
            public var startDelay: Duration = .zero
            /// Whether the system connects again after a loss.
            public var autoReconnect = false

            /// All of them off.
            public init() {}
        }

        /// A value that is written.
        public struct Write: Hashable, Sendable {
            /// The characteristic.
            package var target: AttributeName
            /// The value.
            public var value: [UInt8]
            /// Whether the device answers.
            public var withResponse: Bool
            /// How often it is written on a connection; `nil` if once.
            public var every: Duration?

            /// A value for a characteristic.
            package init(
                target: AttributeName, value: [UInt8], withResponse: Bool = true, every: Duration? = nil
            ) {
                self.target = target
                self.value = value
                self.withResponse = withResponse
                self.every = every
            }
        }
    }

    /// Why BlueZ does not play it, or `nil` if it does, as far as its centrals are concerned.
    public var centralIssueWithBlueZ: ProfileIssue? {
        guard !centrals.isEmpty else { return nil }
        return issue(
            .error, at: marks["central"],
            """
            BlueZ plays no app that is a central; choose --radio virtual, or hci:user:0 for the adapter \
            hci0 itself
            """
        )
    }
}
