import Glibc

extension DBusConnection.Address {
    /// The address in D-Bus notation, in which `system` is replaced by the address of the system bus.
    package var resolved: String {
        switch self {
        case .address(let address): address
        case .system:
            getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
                ?? "unix:path=/var/run/dbus/system_bus_socket"
        }
    }
}
