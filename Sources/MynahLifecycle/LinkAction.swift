public import MynahCore

/// An action after an event of the connections of a phone's apps; actions are carried out in order.
package enum LinkAction: Hashable, Sendable {
    /// The manager's peripheral is connecting.
    case connecting(ManagerKey, DeviceAddress)
    /// The manager's peripheral is connected; `isLocal` if an app of this phone held the link already.
    case connected(ManagerKey, DeviceAddress, Peer.ID, isLocal: Bool)
    /// The manager's connection failed, and is no longer waited for.
    case failedToConnect(ManagerKey, DeviceAddress, RadioError)
    /// The manager's peripheral is disconnected.
    case disconnected(ManagerKey, DeviceAddress, Disconnection)
    /// The manager's peripheral is disconnected, and no callback says so.
    case forgotten(ManagerKey, DeviceAddress)

    /// The radio is to end a link.
    case endLink(Peer.ID)
    /// An app released a link that these apps still use.
    case linkKept(DeviceAddress, heldBy: [UInt64])
    /// A link is gone from the air.
    case linkEnded(DeviceAddress, Peer.ID)

    /// After this time `delayElapsed` is to be called with the number of the request.
    case waitForStart(request: UInt64, Duration)
    /// The scan is to be composed anew: `LinkLedger.wanted` may have changed.
    case wantedChanged
}

/// How a peripheral came to be disconnected.
public struct Disconnection: Hashable, Sendable {
    /// Why the link was lost; `nil` if the app or the phone ended it.
    public var error: RadioError?
    /// Whether nothing happened on the air: another app still holds the link, or there was none yet.
    public var isLocal: Bool
    /// Whether the connection was pending.
    public var wasPending: Bool
    /// Whether the system connects again by itself.
    public var isReconnecting: Bool

    /// A link that the app or the phone ended, unless said.
    package init(
        error: RadioError? = nil, isLocal: Bool = false, wasPending: Bool = false,
        isReconnecting: Bool = false
    ) {
        self.error = error
        self.isLocal = isLocal
        self.wasPending = wasPending
        self.isReconnecting = isReconnecting
    }
}
