/// The options of connect(_:options:); all are off by default.
public struct ConnectOptions: Hashable, Sendable {
    /// An alert if the connection is made while the app is suspended
    /// (CBConnectPeripheralOptionNotifyOnConnectionKey).
    public var notifyOnConnection = false
    /// An alert if the connection ends while the app is suspended
    /// (CBConnectPeripheralOptionNotifyOnDisconnectionKey).
    public var notifyOnDisconnection = false
    /// An alert for each value that comes while the app is suspended
    /// (CBConnectPeripheralOptionNotifyOnNotificationKey).
    public var notifyOnNotification = false
    /// The system's delay before it tries to connect (CBConnectPeripheralOptionStartDelayKey).
    public var startDelay: Duration = .zero
    /// Whether the system connects again after a loss (CBConnectPeripheralOptionEnableAutoReconnect).
    public var autoReconnect = false

    /// Options that are all off.
    public init() {}
}
