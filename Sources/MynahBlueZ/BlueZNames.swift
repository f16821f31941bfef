import MynahDBus

/// The names of bluetoothd's D-Bus interface (doc/org.bluez.*.rst).
enum BlueZ {
    static let service = "org.bluez"
    static let root: ObjectPath = "/org/bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let gattManager = "org.bluez.GattManager1"
    static let advertisingManager = "org.bluez.LEAdvertisingManager1"
    static let agentManager = "org.bluez.AgentManager1"
    static let gattService: StaticString = "org.bluez.GattService1"
    static let gattCharacteristic: StaticString = "org.bluez.GattCharacteristic1"
    static let gattDescriptor: StaticString = "org.bluez.GattDescriptor1"
    static let advertisement: StaticString = "org.bluez.LEAdvertisement1"
    static let agent: StaticString = "org.bluez.Agent1"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let properties = "org.freedesktop.DBus.Properties"
}
