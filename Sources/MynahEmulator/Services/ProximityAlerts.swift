import MynahCore

/// The reason why a device begins or ends an alert, as its events report it.
///
/// The level is 0 for no alert, 1 for a mild and 2 for a high one (Alert Level).
enum AlertCause: String, Hashable, Sendable {
    /// The link was lost.
    case linkLoss
    /// The link was established again after it was lost.
    case connection
    /// A central wrote the level.
    case write
    /// The link of the central that wrote the level has ended.
    case disconnection
}

/// The values of the Alert Level characteristic, which two services have.
enum AlertLevel {
    static let uuid: BluetoothUUID = "2A06"

    /// Returns the level in a written value, or throws an error if it is invalid.
    static func of(_ value: [UInt8]) throws(ATTError) -> UInt8 {
        guard value.count == 1 else { throw .invalidAttributeValueLength }
        guard value[0] <= 2 else { throw .valueNotAllowed }
        return value[0]
    }
}

/// Link Loss Service 1.0.1: a lost link raises an alert with the level that the central set, and a new link
/// ends it.
struct LinkLoss: ServiceBehavior {
    let handled = [AlertLevel.uuid]
    private var isRaised = false

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        isRaised = false
        return []
    }

    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        [.store([try AlertLevel.of(value)], of: AlertLevel.uuid)]
    }

    mutating func linkEnded(
        _ central: Peer.ID, isLost: Bool, _ service: some ServiceState
    ) -> [ServiceEffect] {
        guard isLost, let level = service.value(of: AlertLevel.uuid)?.first, level > 0 else { return [] }
        isRaised = true
        return [.alert(level, of: AlertLevel.uuid, by: central, because: .linkLoss)]
    }

    mutating func linkBegan(_ central: Peer.ID) -> [ServiceEffect] {
        guard isRaised else { return [] }
        isRaised = false
        return [.alert(0, of: AlertLevel.uuid, by: central, because: .connection)]
    }
}

/// Immediate Alert Service 1.0: an alert has the level that a central wrote, until the next write or the end
/// of its link.
struct ImmediateAlert: ServiceBehavior {
    let handled = [AlertLevel.uuid]
    /// The central that wrote the level of the alert.
    private var owner: Peer.ID?

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        owner = nil
        return []
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        let level = try AlertLevel.of(value)
        owner = level > 0 ? central : nil
        return [.alert(level, of: AlertLevel.uuid, by: central, because: .write)]
    }

    mutating func linkEnded(
        _ central: Peer.ID, isLost: Bool, _ service: some ServiceState
    ) -> [ServiceEffect] {
        guard owner == central else { return [] }
        owner = nil
        return [.alert(0, of: AlertLevel.uuid, by: central, because: .disconnection)]
    }
}
