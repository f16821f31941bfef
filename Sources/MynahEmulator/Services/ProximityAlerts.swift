import MynahCore

/// The reason that a device starts or ends an alert, as in events.
///
/// The level is 0 for no alert, 1 for a mild alert, and 2 for a high alert (Alert Level).
enum AlertCause: String, Hashable, Sendable {
    /// The link was lost.
    case linkLoss
    /// The lost link was established again.
    case connection
    /// A central wrote the level.
    case write
    /// The link of the central that wrote the level has ended.
    case disconnection
}

/// The values of the Alert Level characteristic, which both services have.
enum AlertLevel {
    static let uuid: BluetoothUUID = "2A06"

    /// Returns the level in a written value; throws an error if the value is invalid.
    static func of(_ value: [UInt8]) throws(ATTError) -> UInt8 {
        guard value.count == 1 else { throw .invalidAttributeValueLength }
        guard value[0] <= 2 else { throw .valueNotAllowed }
        return value[0]
    }
}

/// Link Loss Service 1.0.1: a lost link starts an alert at the level that the central set.
///
/// A new link of the central ends the alert.
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

/// Immediate Alert Service 1.0: a write of a level starts an alert.
///
/// The alert ends with the next write, or with the link of the central.
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
