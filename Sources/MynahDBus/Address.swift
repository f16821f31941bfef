import Glibc

extension DBusConnection.Address {
    /// The address in D-Bus notation.
    ///
    /// For `system`, this is the value of `DBUS_SYSTEM_BUS_ADDRESS`, or the default address of the system
    /// bus.
    package var resolved: String {
        switch self {
        case .address(let address): address
        case .system:
            getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
                ?? "unix:path=/var/run/dbus/system_bus_socket"
        }
    }
}
