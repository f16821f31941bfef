/// Which bluetoothd is played, and what it does differently from others.
public struct BlueZVersion: Hashable, Sendable {
    /// The number after `5.`.
    public let minor: Int

    /// Version 5.`minor`.
    public init(_ minor: Int) { self.minor = minor }

    /// Debian bookworm's.
    public static let bookworm = BlueZVersion(66)
    /// Debian trixie's.
    public static let trixie = BlueZVersion(82)

    /// A live update that fails ends the daemon.
    var abortsOnFailedUpdate: Bool { minor < 74 }
    /// The header is counted with a write's value.
    var maximumWrite: Int { minor < 69 ? 510 : 512 }
    /// Likewise with a prepared part's, whose header is larger.
    var maximumLongWrite: Int { minor < 69 ? 508 : 512 }
    /// Each subscriber has a notification socket of its own.
    var hasSocketPerCentral: Bool { minor >= 69 }
    /// A value written to a notification socket goes to its central only.
    var socketReachesOneCentral: Bool { minor >= 76 }
    /// Confirmations are written back to a notification socket.
    var socketTellsConfirmations: Bool { minor >= 80 }
    /// The error ImproperlyConfigured is known.
    var knowsImproperlyConfigured: Bool { minor >= 76 }
    /// Intervals and capabilities need `-E`.
    var needsExperimentalForIntervals: Bool { minor < 77 }
    /// A characteristic with the handle 0 fails.
    var refusesHandleZero: Bool { minor == 74 || minor == 75 }
    /// More than the name can be told to be in the scan response.
    var hasScanResponseFields: Bool { minor >= 80 }
    /// More than 31 bytes can be advertised where the controller can.
    var hasExtendedData: Bool { minor >= 69 }
    /// An advert that is not discoverable says so in its Flags.
    var writesFlagsWhenNotDiscoverable: Bool { minor >= 69 }
}

/// How the daemon was started, and on what machine.
public struct StandInConfiguration: Sendable {
    /// An adapter.
    public struct Adapter: Sendable {
        /// `hci0`.
        public var name: String
        /// The public address.
        public var address: String
        /// The longest advertising data that the controller takes.
        public var maximumData: Int
        /// The services that the daemon publishes itself, in 128 bits.
        public var services: [String] = []
        /// The roles that the adapter can have.
        public var roles = ["central", "peripheral"]

        /// An adapter that takes legacy advertising unless said.
        public init(_ name: String = "hci0", address: String = "00:AA:01:00:00:42", maximumData: Int = 31) {
            self.name = name
            self.address = address
            self.maximumData = maximumData
        }
    }

    /// The daemon's version.
    public var version: BlueZVersion
    /// The adapters.
    public var adapters: [Adapter]
    /// `bluetoothd -E`.
    public var isExperimental = false
    /// Whether adapters are powered when they appear (`AutoEnable`).
    public var powersUp = true
    /// Whether rfkill blocks the adapters.
    public var isBlocked = false
    /// How long an attribute's answer may take; bluetoothd waits 5 s.
    public var attributeTimeout: Duration = .seconds(5)
    /// How many advertisements there may be.
    public var maximumAdvertisements = 5
    /// The first attribute handle that is free.
    public var firstHandle: UInt16 = 0x0012

    /// A bluetoothd of some version with one adapter unless said.
    public init(_ version: BlueZVersion = .bookworm, adapters: [Adapter] = [Adapter()]) {
        self.version = version
        self.adapters = adapters
    }
}
