package import MynahDBus

/// The settings of a `BlueZRadio`.
public struct BlueZOptions: Sendable {
    /// The name or address of the adapter (`hci0` or `AA:BB:CC:DD:EE:FF`), or `nil` for the first one.
    public var adapter: String?
    /// The largest number of notifications a second that the radio sends to bluetoothd, or `nil` for no
    /// limit.
    ///
    /// bluetoothd itself queues any number.
    ///
    /// The default is more than a phone can receive: 2,000 a second are 15 in each connection event at the
    /// shortest connection interval, 7.5 ms.
    public var notificationRate: Int? = 2000
    /// Whether to request a notification socket for each subscriber, which identifies the subscribed central;
    /// requires BlueZ 5.80.
    public var acquiresNotify = false
    /// The D-Bus bus on which bluetoothd is called.
    package var bus = DBusConnection.Address.system
    /// bluetoothd's version, or `nil` to determine it.
    package var version: BlueZVersion?
    /// The time limit for the `RadioSink`'s answer to a read or a write.
    ///
    /// bluetoothd drops an answer after 5 s (ATTRIBUTE_TIMEOUT).
    package var answerLimit: Duration = .milliseconds(4500)

    /// Makes options for the first adapter, with default settings.
    public init() {}
}
