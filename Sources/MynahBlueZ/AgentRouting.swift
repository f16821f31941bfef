import MynahDBus
import MynahSupport

/// The radios of this process, by bus and adapter.
///
/// bluetoothd calls only the agent that was last made the default one, for centrals of every adapter. If two
/// radios of one process use two adapters, that agent also gets the calls for the other radio.
enum AgentRouting {
    private struct Key: Hashable {
        var bus: DBusConnection.Address
        var adapter: String
    }

    // A radio removes its entry when it stops.
    private static let handlers = Lock<[Key: BusEventHandler]>([:])

    /// Sets the event handler of an adapter's radio, or removes it if `handler` is `nil`.
    static func set(_ handler: BusEventHandler?, on bus: DBusConnection.Address, adapter: String) {
        handlers.withLock { $0[Key(bus: bus, adapter: adapter)] = handler }
    }

    /// Returns the event handler of the radio on a device's adapter, or `nil` if no radio of this process
    /// uses it.
    static func handler(for device: String, on bus: DBusConnection.Address) -> BusEventHandler? {
        guard let end = device.lastIndex(of: "/") else { return nil }
        return handlers.withLock { $0[Key(bus: bus, adapter: String(device[..<end]))] }
    }
}
