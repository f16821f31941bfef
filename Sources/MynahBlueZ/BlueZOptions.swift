package import MynahDBus

/// The settings of a `BlueZRadio`.
public struct BlueZOptions: Sendable {
    /// The name or address of the adapter (`hci0` or `AA:BB:CC:DD:EE:FF`), or `nil` for the first one.
    public var adapter: String?
    /// The most notifications a second that are sent to bluetoothd, or `nil` for no limit; bluetoothd queues
    /// any number.
    ///
    /// The default is more than a phone can receive: 2,000 a second are 15 in each connection event at 7.5
    /// ms, the shortest interval.
    public var notificationRate: Int? = 2000
    /// Whether to request a notification socket for each subscriber, which shows the central that subscribes;
    /// needs BlueZ 5.80.
    public var acquiresNotify = false
    /// The bus.
    package var bus = DBusConnection.Address.system
    /// bluetoothd's version, or `nil` to ask for it.
    package var version: BlueZVersion?
    /// The longest time until a request is answered.
    ///
    /// bluetoothd drops an answer after 5 s (ATTRIBUTE_TIMEOUT).
    package var answerLimit: Duration = .milliseconds(4500)

    /// Makes options for the first adapter, with default settings.
    public init() {}
}
