/// The devices for which the user may enter a passkey on the terminal.
package struct PasskeyDevices: Sendable {
    private struct Device {
        var id: ObjectIdentifier
        var isAsked: @Sendable () -> Bool
        var entered: @Sendable (UInt32) -> Void
    }

    private var devices: [Device] = []

    package init() {}

    /// Adds a device; `isAsked` returns whether it needs a passkey, and `entered` receives the passkey.
    package mutating func add(
        _ id: ObjectIdentifier, isAsked: @escaping @Sendable () -> Bool,
        entered: @escaping @Sendable (UInt32) -> Void
    ) {
        devices.append(Device(id: id, isAsked: isAsked, entered: entered))
    }

    /// Removes a device if it is present.
    package mutating func remove(_ id: ObjectIdentifier) {
        devices.removeAll { $0.id == id }
    }

    /// Whether any device needs a passkey now.
    package var isNumberAsked: Bool { devices.contains { $0.isAsked() } }

    /// Passes a passkey to every device; a device that needs none ignores it.
    package func enter(_ number: UInt32) {
        for device in devices { device.entered(number) }
    }
}
