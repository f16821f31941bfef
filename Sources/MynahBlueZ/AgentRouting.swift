import MynahCore
import MynahDBus
import MynahSupport

/// Which radio of this process plays on which adapter.
///
/// bluetoothd asks the last agent that became the default one, whatever adapter the central is on; with two accessories in
/// one process that is the other one's half of the time.
enum AgentRouting {
    private struct Place: Hashable {
        var bus: DBusConnection.Address
        var adapter: String
    }

    // A radio takes itself out when it stops.
    private static let radios = Lock<[Place: BlueZRadio]>([:])

    static func set(_ radio: BlueZRadio?, on bus: DBusConnection.Address, adapter: String) {
        radios.withLock { $0[Place(bus: bus, adapter: adapter)] = radio }
    }

    /// The radio whose adapter a device hangs on.
    static func radio(of device: String, on bus: DBusConnection.Address) -> BlueZRadio? {
        guard let end = device.lastIndex(of: "/") else { return nil }
        return radios.withLock { $0[Place(bus: bus, adapter: String(device[..<end]))] }
    }
}
