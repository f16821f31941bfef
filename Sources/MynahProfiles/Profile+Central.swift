public import MynahCore

extension Profile {
    /// One central manager of an app.
    public struct Central: Sendable {
        /// The identifier for state preservation, or `nil` to opt out.
        public var restoreIdentifier: String?
        /// The app's scan, or `nil` if it never scans.
        public var scan: Scan?
        /// The ways to connect to a device again, in stages.
        ///
        /// The stages are tried one after the other, and the ways of one stage at the same time.
        package var reconnect: [[ReconnectWay]] = [[.known], [.connected], [.scan]]
        /// Whether the phone shows an alert if the manager is created while Bluetooth is off.
        package var showsPowerAlert = true
        /// Whether the app's phone confirms indications.
        package var confirmsIndications = true
        /// The services for which the manager registers for connection events.
        ///
        /// The app receives the events of devices with one of these services, or of all devices if the list
        /// is empty. The value is `nil` if the manager does not register.
        package var connectionEvents: [BluetoothUUID]?
        /// The devices that the manager uses.
        ///
        /// A discovered device is assigned to the first entry that matches the device.
        public var peripherals: [Peripheral]

        /// Makes the settings of a central manager.
        public init(restoreIdentifier: String? = nil, scan: Scan? = nil, peripherals: [Peripheral] = []) {
            self.restoreIdentifier = restoreIdentifier
            self.scan = scan
            self.peripherals = peripherals
        }

        /// The scan of an app.
        public struct Scan: Hashable, Sendable {
            /// The condition that ends a scan.
            public enum End: String, Hashable, Sendable, CaseIterable {
                /// The scan ends when each of the app's devices to which it connects has been connected.
                case connected
                /// The scan ends when each of the app's devices has been found.
                case found
                /// The scan never ends.
                case never
            }

            /// The services of which a device must advertise at least one; empty to match every device.
            public var services: [BluetoothUUID] = []
            /// Solicited services; a device that advertises one of them matches too.
            public var solicited: [BluetoothUUID] = []
            /// Whether every advertising event is reported in the foreground.
            public var allowsDuplicates = false
            /// The condition that ends the scan.
            public var end = End.connected

            /// Makes a scan for every device, which ends when each of the app's devices has been connected.
            public init() {}
        }

        /// A device that an app uses.
        public struct Peripheral: Sendable {
            /// The services and characteristics to discover on a link.
            public enum Discovery: String, Hashable, Sendable, CaseIterable {
                /// Only the services and characteristics that the reads, subscriptions and writes of this
                /// entry use.
                case needed
                case all
                case none
            }

            /// The behaviour of the app after it has made all reads, writes and subscriptions.
            public enum WhenDone: String, Hashable, Sendable, CaseIterable {
                case stay
                /// The app cancels the connection, unless it is subscribed to something.
                case disconnect
            }

            /// The behaviour after a requested connection has ended.
            public enum OnDisconnect: String, Hashable, Sendable, CaseIterable {
                /// The app connects again, and the pending connection never times out.
                case connect
                /// The app starts to connect again, in the ways that `Central.reconnect` lists.
                case reconnect
                case nothing
            }

            /// The name of the device in the profile and in events.
            public var name: String
            /// The devices that match the entry.
            public var match = Match()
            /// The options of the connection, or `nil` if the app only reports the device.
            public var connection: ConnectOptions? = ConnectOptions()
            /// The services and characteristics to discover on a link.
            public var discovery = Discovery.needed
            /// The characteristics to read on each connection.
            package var read: [AttributeName] = []
            /// The characteristics to subscribe to on each connection.
            package var subscribe: [AttributeName] = []
            /// The writes on each connection.
            public var writes: [Write] = []
            /// The L2CAP channel to open on each connection, or `nil` to open none.
            package var channel: Channel?
            /// The behaviour of the app after it has made all reads, writes and subscriptions.
            public var whenDone = WhenDone.stay
            /// The behaviour after a connection has ended.
            public var onDisconnect = OnDisconnect.connect

            /// Makes an entry for a device with this name in events.
            public init(name: String) {
                self.name = name
            }

            /// The names of the characteristics that the app uses on this device.
            package var names: [AttributeName] {
                read + subscribe + writes.map(\.target) + (channel.map { [$0.psm] } ?? [])
            }
        }

        /// The conditions that a device must satisfy to match; all of them apply.
        public struct Match: Hashable, Sendable {
            /// The services that the device must advertise, in its lists or in its overflow area.
            public var services: [BluetoothUUID] = []
            /// The complete local name, or `nil` for any.
            public var localName: String?
            /// The weakest RSSI that matches, in dBm, or `nil` for any.
            public var rssi: Int?

            /// Makes conditions that every device satisfies.
            public init() {}
        }

        /// A write on each connection.
        public struct Write: Hashable, Sendable {
            /// The characteristic.
            package var target: AttributeName
            /// The value.
            public var value: [UInt8]
            /// `true` to write with a request, which the device answers; `false` to write with a command.
            public var withResponse: Bool
            /// The time between two writes of the value, or `nil` to write once.
            public var every: Duration?
            /// The delay of the write after all reads, subscriptions and writes without a delay.
            ///
            /// If it is `nil`, the write is made in the order of the list.
            package var after: Duration?

            /// Makes a write of a value to a characteristic.
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

    /// The reason that BlueZ cannot play the app's central managers, or `nil` if it can.
    public var centralIssueWithBlueZ: ProfileIssue? {
        guard !centrals.isEmpty else { return nil }
        return issue(
            .error, at: marks["central"],
            """
            BlueZ cannot play an app that is a central; choose --radio virtual, or hci:user:0 for the \
            adapter hci0 itself
            """
        )
    }
}

extension Profile {
    /// `true` if the device plays a peripheral, whether or not it also plays a central.
    package var isPeripheral: Bool { centrals.isEmpty || !services.isEmpty || advertising != nil }
}
