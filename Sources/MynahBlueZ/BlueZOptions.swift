package import MynahDBus

/// The settings of a `BlueZRadio`.
public struct BlueZOptions: Sendable {
    /// The adapter, `hci0` or `AA:BB:CC:DD:EE:FF`, or `nil` for the first.
    public var adapter: String?
    /// The maximum number of notifications a second sent to bluetoothd, which queues without limit, or
    /// `nil` for no limit.
    ///
    /// The default is more than a phone takes: 2,000 a second are 15 in each connection event at 7.5 ms, the
    /// shortest interval.
    public var notificationRate: Int? = 2000
    /// Whether to request a notification socket for each subscriber, which identifies it; needs BlueZ
    /// 5.80.
    public var acquiresNotify = false
    /// The bus.
    package var bus = DBusConnection.Address.system
    /// bluetoothd's version, or `nil` to find it out.
    package var version: BlueZVersion?
    /// The longest time that a request may take.
    ///
    /// bluetoothd drops an answer after 5 s (ATTRIBUTE_TIMEOUT).
    package var answerLimit: Duration = .milliseconds(4500)

    /// The first adapter and the default settings.
    public init() {}
}
