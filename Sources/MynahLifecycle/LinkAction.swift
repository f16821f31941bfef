public import MynahCore

/// An action after a change of a phone's connections; actions are carried out in order.
package enum LinkAction: Hashable, Sendable {
    /// The manager's peripheral is connecting.
    case connecting(ManagerKey, DeviceAddress)
    /// The manager's peripheral is connected.
    ///
    /// `isLocal` is `true` if the link existed already: another app of this phone uses it, or the device made
    /// it.
    case connected(ManagerKey, DeviceAddress, Peer.ID, isLocal: Bool)
    /// The manager's connection failed, and is no longer pending.
    case failedToConnect(ManagerKey, DeviceAddress, RadioError)
    /// The manager's peripheral is disconnected.
    case disconnected(ManagerKey, DeviceAddress, Disconnection)
    /// The manager's peripheral is disconnected, without a callback for the app.
    case forgotten(ManagerKey, DeviceAddress)

    /// End a link.
    case endLink(Peer.ID)
    /// Stop using a link as a central; the device made the link, which stays connected.
    case leaveLink(DeviceAddress, Peer.ID)
    /// Report that an app gave up a link that these apps still use.
    case linkKept(DeviceAddress, heldBy: [UInt64])
    /// Handle a link that has ended.
    case linkEnded(DeviceAddress, Peer.ID)

    /// Call `delayElapsed` after this time, with the number of the request.
    case waitForStart(request: UInt64, Duration)
    /// Update the scan, because `LinkLedger.wanted` may have changed.
    case wantedChanged
}

/// The end of a connection for a manager.
public struct Disconnection: Hashable, Sendable {
    /// The error that ended the link, or `nil` if the app or the phone ended it.
    public var error: RadioError?
    /// `true` if no link ended on the air: another app uses the link, the device made it, or there was no
    /// link yet.
    public var isLocal: Bool
    /// Whether the connection was pending.
    public var wasPending: Bool
    /// Whether the system connects again by itself.
    public var isReconnecting: Bool

    /// Makes the end of a connection, by default without an error.
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
