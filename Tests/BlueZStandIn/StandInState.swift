public import MynahDBus

/// An adapter, as the daemon has it.
struct AdapterState {
    let configuration: StandInConfiguration.Adapter
    var path: ObjectPath
    var alias: String
    var isPowered = false
    var isDiscoverable = false
    var isPairable = false
    var discoverableTimeout: UInt32 = 180
    var pairableTimeout: UInt32 = 0
    var hasManagers = false
    var nextHandle: UInt16
    var applications: [ApplicationState] = []
    var advertisements: [AdvertisementState] = []
    /// Those whose properties have not come yet; one that never answers holds its instance until it leaves
    /// the bus.
    var unanswered: [UnansweredAdvertisement] = []
}

/// A registered application.
struct ApplicationState {
    let owner: String
    let path: ObjectPath
    var services: [StandInService] = []
}

/// A registered advertisement.
struct AdvertisementState {
    let owner: String
    let path: ObjectPath
    var record: AdvertisementRecord
    var air: AdvertisementRecord.Air
    /// False while a central's connection, or a power cycle, has stopped it.
    var isOnAir = true
}

/// An advertisement whose application has been asked for its properties.
struct UnansweredAdvertisement: Equatable {
    let owner: String
    let path: ObjectPath
}

/// A pairing agent.
struct AgentState {
    let owner: String
    let path: ObjectPath
    let capability: String
}

/// A central, whether connected or not.
struct CentralState {
    let address: String
    /// Its name, or `nil` if it has not sent one.
    var name: String?
    var adapter: String
    var path: ObjectPath
    var isKnown = false
    var isConnected = false
    var isBonded = false
    var isTrusted = false
    var isEncrypted = false
    var isAuthenticated = false
    var mtu = 23
    /// The client characteristic configurations that are set, by the characteristic's value handle.
    var configurations: [UInt16: UInt16] = [:]
    var inbox: [StandInNotification] = []
}

/// A value that a central has received by notification or indication.
public struct StandInNotification: Hashable, Sendable {
    /// The characteristic's value handle.
    public let handle: UInt16
    /// The characteristic's UUID, 128 bits in lower case.
    public let uuid: String
    /// As it fitted into one PDU.
    public let value: [UInt8]
    /// Whether it was an indication.
    public let isIndication: Bool
}

/// An advertisement as a scanner sees it.
public struct StandInAdvertisement: Hashable, Sendable {
    /// The application's object.
    public let path: ObjectPath
    /// The advertising data.
    public let data: [UInt8]
    /// The scan response data.
    public let scanResponse: [UInt8]
    /// Whether a central may connect.
    public let isConnectable: Bool
    /// The PHY of extended advertising, `1M`, `2M` or `Coded`, or `nil` for legacy advertising.
    public let secondaryChannel: String?
    /// The bounds of the interval in milliseconds, or `nil` for the daemon's default of 1280 ms.
    public let interval: ClosedRange<UInt32>?
}
