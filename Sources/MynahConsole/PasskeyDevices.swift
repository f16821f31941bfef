/// The devices that may ask for a passkey, which the user enters on the terminal.
package struct PasskeyDevices: Sendable {
    private struct Device {
        var id: ObjectIdentifier
        var isAsked: @Sendable () -> Bool
        var entered: @Sendable (UInt32) -> Void
    }

    private var devices: [Device] = []

    package init() {}

    /// Adds a device, which stays until it is removed.
    package mutating func add(
        _ id: ObjectIdentifier, isAsked: @escaping @Sendable () -> Bool,
        entered: @escaping @Sendable (UInt32) -> Void
    ) {
        devices.append(Device(id: id, isAsked: isAsked, entered: entered))
    }

    /// Removes a device, if it is in the list.
    package mutating func remove(_ id: ObjectIdentifier) {
        devices.removeAll { $0.id == id }
    }

    /// Whether a device is asking for a passkey.
    package var isNumberAsked: Bool { devices.contains { $0.isAsked() } }

    /// Passes a passkey to every device; only one that asks for it uses it.
    package func enter(_ number: UInt32) {
        for device in devices { device.entered(number) }
    }
}
