/// Services that iOS keeps for itself.
package enum AppleServices {
    /// No app discovers them, by name or among all: GAP, GATT, HID and the Apple Notification Center Service
    /// (Accessory Design Guidelines, Bluetooth).
    package static let hidden: Set<BluetoothUUID> = [
        BluetoothUUID(0x1800 as UInt16), BluetoothUUID(0x1801 as UInt16), BluetoothUUID(0x1812 as UInt16),
        notificationCenter,
    ]

    /// The Apple Notification Center Service.
    package static let notificationCenter: BluetoothUUID = "7905F431-B5CE-4E99-A40F-4B1E122D00D0"
}
