/// The options of connect(_:options:); all are off by default.
public struct ConnectOptions: Hashable, Sendable {
    /// Whether an alert is shown if the connection is made while the app is suspended
    /// (CBConnectPeripheralOptionNotifyOnConnectionKey).
    public var notifyOnConnection = false
    /// Whether an alert is shown if the connection ends while the app is suspended
    /// (CBConnectPeripheralOptionNotifyOnDisconnectionKey).
    public var notifyOnDisconnection = false
    /// Whether an alert is shown for each value that arrives while the app is suspended
    /// (CBConnectPeripheralOptionNotifyOnNotificationKey).
    public var notifyOnNotification = false
    /// The delay before the system tries to connect (CBConnectPeripheralOptionStartDelayKey).
    public var startDelay: Duration = .zero
    /// Whether the system connects again after the link was lost
    /// (CBConnectPeripheralOptionEnableAutoReconnect).
    public var autoReconnect = false

    /// Makes options that are all off.
    public init() {}
}
