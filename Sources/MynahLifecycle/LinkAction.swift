public import MynahCore

/// An action after an event of the connections of a phone's apps; actions are carried out in order.
package enum LinkAction: Hashable, Sendable {
    /// The manager's peripheral is connecting.
    case connecting(ManagerKey, DeviceAddress)
    /// The manager's peripheral is connected; `isLocal` if the link was there already: another app of this
    /// phone holds it, or the device made it.
    case connected(ManagerKey, DeviceAddress, Peer.ID, isLocal: Bool)
    /// The manager's connection failed, and is not pending any more.
    case failedToConnect(ManagerKey, DeviceAddress, RadioError)
    /// The manager's peripheral is disconnected.
    case disconnected(ManagerKey, DeviceAddress, Disconnection)
    /// The manager's peripheral is disconnected, without a callback.
    case forgotten(ManagerKey, DeviceAddress)

    /// Ends a link.
    case endLink(Peer.ID)
    /// Stops using a link as a central; the device made the link, which goes on.
    case leaveLink(DeviceAddress, Peer.ID)
    /// An app released a link that these apps still use.
    case linkKept(DeviceAddress, heldBy: [UInt64])
    /// A link has ended.
    case linkEnded(DeviceAddress, Peer.ID)

    /// Calls `delayElapsed` after this time with the number of the request.
    case waitForStart(request: UInt64, Duration)
    /// Composes the scan again, because `LinkLedger.wanted` may have changed.
    case wantedChanged
}

/// The end of a connection for a manager.
public struct Disconnection: Hashable, Sendable {
    /// The error that ended the link, or `nil` if the app or the phone ended it.
    public var error: RadioError?
    /// Whether the link on the air is unaffected: another app still holds it, the device made it, or there
    /// was none yet.
    public var isLocal: Bool
    /// Whether the connection was pending.
    public var wasPending: Bool
    /// Whether the system connects again by itself.
    public var isReconnecting: Bool

    /// The end of a link; by default, one that the app or the phone ended.
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
